"""A program that already runs: its identity, whether it may be placed, and who watched it
before.
"""

from __future__ import annotations

import errno
import os

from autofinity.linux.bind import mask_of
from autofinity.linux.capabilities import probe
from autofinity.linux.proc import tasks_of
from autofinity.linux.program_key import running_program
from autofinity.model.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.model.errors import CapabilityError, UsageError
from autofinity.model.topology import OsIndex
from autofinity.runtime.claims import live_runs, monitor_of
from autofinity.runtime.request import Request
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord


def request_for(pid: int, database: BehaviourDB) -> Request:
    """The request to a monitor, with the usual settings, after every check that can be made
    beforehand.

    Raises `UsageError` for a process that does not exist, is this process, or is watched already;
    `CapabilityError` for a process that may not be placed.
    """
    if pid == os.getpid():
        raise UsageError("a process cannot attach to itself; expected the pid of another program")
    check_permission(pid)
    program = running_program(pid)
    allowed, bound = masks_at_start(pid), ""
    earlier = _earlier(database, pid)
    if earlier is not None:
        # The new watch continues the earlier one: masks that it gave are ours, and the masks from
        # before it are restored in the end.
        allowed = parse_cpu_list(earlier.allowed)
        bound = ";".join(sorted({row.given for row in database.masks.of_run(earlier.id)}))
    return Request(
        pid,
        program.path,
        program.key,
        format_cpu_list(allowed),
        tier=probe().tier,
        db=database.path,
        bound=bound,
        earlier_run=earlier.id if earlier is not None else 0,
    )


def check_permission(pid: int) -> None:
    """Raise an error when the threads of `pid` cannot be bound.

    `UsageError`: there is no such process. `CapabilityError`: it is another user's.
    """
    try:
        # The kernel asks for permission first and then refuses the empty mask: nothing changes.
        os.sched_setaffinity(pid, [])
    # No process has a number that the kernel's type does not hold.
    except (ProcessLookupError, OverflowError) as error:
        raise UsageError(
            f"there is no process {pid}; expected the pid of a running program"
        ) from error
    except OSError as error:
        if error.errno == errno.EPERM:
            raise CapabilityError(
                f"the threads of process {pid} may not be bound: it is another user's or has more "
                "rights; run this as the same user or as root (CAP_SYS_NICE)"
            ) from error
        if error.errno != errno.EINVAL:
            raise CapabilityError(
                f"the threads of process {pid} cannot be bound: {error.strerror}; expected "
                "sched_setaffinity to be allowed (seccomp profile of the container)"
            ) from error


def masks_at_start(pid: int) -> frozenset[OsIndex]:
    """CPUs that any thread of the process may run on; somebody has pinned a thread with fewer."""
    return frozenset().union(*(mask_of(task.tid) or () for task in tasks_of(pid)))


def _earlier(database: BehaviourDB, pid: int) -> RunRecord | None:
    """The earlier run that watched this very process and has no live monitor.

    Raises `UsageError` when the process is watched now.
    """
    for run in live_runs(database):
        if run.pid == pid:
            if monitor_of(run).alive:
                raise UsageError(
                    f"process {pid} is watched already (run {run.id}); `autofinity explain "
                    f"{run.id}` shows the run, `autofinity restore {pid}` ends it"
                )
            return run
    return None
