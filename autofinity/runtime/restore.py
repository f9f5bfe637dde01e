"""Restores masks: the CPUs that threads might run on before a run bound them.

The database is checked against the processes themselves: only a monitor of that very run is ended,
and only threads of the database's owner get masks.
"""

from __future__ import annotations

import os
import select
import signal
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from autofinity.linux.bind import bind_thread, cpuset_of
from autofinity.linux.identity import ProcessIdentity, owners_of
from autofinity.model.errors import CapabilityError
from autofinity.model.topology import OsIndex
from autofinity.runtime.claims import monitor_of
from autofinity.runtime.monitor_process import is_monitor
from autofinity.runtime.threads_now import ThreadNow, cpus_of, threads_now
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord

_STOP_MS = 5_000
_PASSES = 8  # a thread that begins while its creator is released still has the narrow mask


@dataclass(frozen=True, slots=True)
class Restored:
    """Result for the threads of a run."""

    done: int
    """Number of threads that have their mask again."""
    pinned: int
    """Number of threads that somebody else has pinned since: left alone."""
    refused: Mapping[str, int]
    """Reason → number of threads whose mask was not restored."""


def restore(database: BehaviourDB, run: RunRecord) -> Restored:
    """End the watching of a live run, restore its threads' masks and release its claim.

    Threads that have ended are ignored. Raises `CapabilityError` when the monitor cannot be
    stopped, or is another program by now; `StoreError`.
    """
    stop(monitor_of(run), run.pid)
    rows = database.masks.of_run(run.id)
    before = {(row.tid, row.start_ticks): cpus_of(row.before) for row in rows}
    became: dict[tuple[int, int], str | None] = {}
    pinned = 0
    for _ in range(_PASSES):
        threads = threads_now(run, rows)
        pinned = sum(thread.author == "others" for thread in threads)
        ours = [
            thread
            for thread in threads
            if thread.author == "autofinity" and (thread.tid, thread.started) not in became
        ]
        if not ours:
            break
        for thread in ours:
            key = thread.tid, thread.started
            became[key] = _put_back(thread, before.get(key) or cpus_of(run.allowed))
    refused = Counter(reason for reason in became.values() if reason not in (None, "ended"))
    if not refused:
        database.update_run(run.id, phase="restored", cpus="")
        database.masks.forget(run.id)
    done = sum(reason is None for reason in became.values())
    return Restored(done, pinned, {str(reason): count for reason, count in refused.items()})


def _put_back(thread: ThreadNow, mask: frozenset[OsIndex]) -> str | None:
    """Restore the mask of a thread; None on success, else the reason for the failure."""
    # Only its owner uses a database (`behaviour_file`), and root may place anybody's threads.
    if os.geteuid() not in (0, *owners_of(thread.pid)):
        return "another user's process"
    if not mask:
        return "the mask that is on record is damaged"
    # Without any of its CPUs in the cgroup the kernel would refuse the mask, and keep ours.
    cpuset = cpuset_of(thread.pid)
    if cpuset is not None and not mask & cpuset:
        mask |= cpuset
    return bind_thread(thread.tid, mask)


def stop(process: ProcessIdentity, watched: int) -> None:
    """End the monitor of process `watched` with SIGTERM, if `process` still is that monitor, and
    wait until it has ended.

    Raises `CapabilityError` when `process` is no monitor, may not be ended, or does not end.
    """
    if not process.alive or process.pid == os.getpid():
        return
    none = CapabilityError(
        f"process {process.pid}, recorded as the monitor of process {watched}, is no monitor; "
        "expected "
        "`autofinity run` or `attach`. Nothing was changed"
    )
    try:
        pidfd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    except OSError as error:  # a thread, not a process
        raise none from error
    ended = select.poll()
    ended.register(pidfd, select.POLLIN)
    try:
        known = process.alive and is_monitor(process.pid, watched)
        if ended.poll(0):  # the pid may be another process's by now
            return
        if not known:
            raise none
        signal.pidfd_send_signal(pidfd, signal.SIGTERM)
        if not ended.poll(_STOP_MS):
            raise CapabilityError(
                f"the monitor (pid {process.pid}) does not end; expected it to be gone within "
                f"{_STOP_MS // 1000} s of SIGTERM; masks stay as they are"
            )
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise CapabilityError(
            f"the monitor (pid {process.pid}) is another user's; run this as that user or root"
        ) from error
    finally:
        os.close(pidfd)
