"""Thread masks: read, set, and what may be used now.

Python's own calls size the kernel's mask themselves, so CPU ids above 1023 are no case apart.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

from autofinity.linux.cpu_lists import parse_cpu_list
from autofinity.linux.kernel_file import read_text
from autofinity.linux.online import running
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex


def mask_of(tid: int) -> frozenset[OsIndex] | None:
    """CPUs a thread may run on; None when it is gone or hidden."""
    try:
        return frozenset(OsIndex(cpu) for cpu in os.sched_getaffinity(tid))
    except OSError:
        return None


def bind_thread(tid: int, cpus: frozenset[OsIndex]) -> str | None:
    """Let a thread run on `cpus` only. None when it was done, else the reason.

    A thread that ended meanwhile is no failure of anybody: its reason is "ended".
    """
    try:
        os.sched_setaffinity(tid, cpus)
    except OSError as error:
        if error.errno == errno.ESRCH:
            return "ended"
        name = errno.errorcode.get(error.errno or 0, "?")
        meaning = {
            errno.EPERM: "another user's or a privileged thread",
            errno.EINVAL: "none of the CPUs is allowed to it, or it is a kernel worker",
        }.get(error.errno or 0, error.strerror or "")
        return f"{name}: {meaning}"
    return None


def cpuset_of(pid: int) -> frozenset[OsIndex] | None:
    """CPUs the process's cgroup allows now (v1 and v2); None where there is no cpuset."""
    for line in read_text(f"/proc/{pid}/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            candidates = (f"/sys/fs/cgroup{path}", f"/sys/fs/cgroup/unified{path}")
            name = "cpuset.cpus.effective"
        elif "cpuset" in controllers.split(","):
            candidates = (f"/sys/fs/cgroup/cpuset{path}", f"/sys/fs/cgroup/{controllers}{path}")
            name = "cpuset.effective_cpus"
        else:
            continue
        for folder in candidates:
            text = read_text(f"{folder}/{name}")
            if text.strip():
                try:
                    return parse_cpu_list(text)
                except UsageError:
                    continue
    return None


def as_cut(mask: frozenset[OsIndex], cpuset: frozenset[OsIndex] | None) -> frozenset[OsIndex]:
    """What the kernel makes of a thread's mask while its cgroup allows these CPUs only: what is
    left of it, or all of them. It remembers the mask for when they are more again.
    """
    return mask if cpuset is None else mask & cpuset or cpuset


@dataclass(frozen=True, slots=True)
class StartMask:
    """CPUs that were allowed to a program when it began."""

    cpus: frozenset[OsIndex]
    by_cpuset: bool = False
    """Whether nothing but its cgroup said so: then it may use what that allows later."""

    @staticmethod
    def of(pid: int, cpus: frozenset[OsIndex]) -> StartMask:
        """When it has just begun."""
        cpuset = cpuset_of(pid)
        return StartMask(cpus, cpuset is not None and cpuset <= cpus)


def allowed_now(pid: int, at_start: StartMask) -> frozenset[OsIndex]:
    """CPUs a program may be placed on now: its mask at the start ∩ cpuset, without those that are
    off.
    """
    cpuset = cpuset_of(pid)
    if cpuset is None:
        return running(at_start.cpus)
    return running(cpuset if at_start.by_cpuset else at_start.cpus & cpuset)
