"""Thread masks: read them, set them, and find the CPUs that may be used now.

Python's own calls choose the size of the kernel's mask, so CPU ids above 1023 need no special case.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass

from autofinity.linux.kernel_file import read_text
from autofinity.linux.online import running
from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology


def mask_of(tid: int) -> frozenset[OsIndex] | None:
    """CPUs that a thread may run on; None when the thread has ended or is hidden."""
    try:
        return frozenset(OsIndex(cpu) for cpu in os.sched_getaffinity(tid))
    except OSError:
        return None


def bind_thread(tid: int, cpus: frozenset[OsIndex]) -> str | None:
    """Let a thread run on `cpus` only. None on success, else the reason.

    A thread that has ended is no failure: its reason is "ended".
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
    """CPUs that the process's cgroup allows now (v1 and v2); None where there is no cpuset.

    A cgroup without a cpuset of its own, and one that a container does not see, has that of the
    nearest cgroup above.
    """
    for line in read_text(f"/proc/{pid}/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            mounts = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
            name = "cpuset.cpus.effective"
        elif "cpuset" in controllers.split(","):
            mounts = ("/sys/fs/cgroup/cpuset", f"/sys/fs/cgroup/{controllers}")
            name = "cpuset.effective_cpus"
        else:
            continue
        for mount in mounts:
            for folder in _upwards(path):
                text = read_text(f"{mount}{folder}/{name}")
                if text.strip():
                    try:
                        return parse_cpu_list(text)
                    except UsageError:
                        continue
    return None


def _upwards(path: str) -> Iterator[str]:
    """A cgroup and those above it, up to the mount, which is empty; none where the cgroup is
    elsewhere.
    """
    parts = [part for part in path.split("/") if part]
    if ".." not in parts:  # outside the cgroup namespace
        for count in range(len(parts), -1, -1):
            yield "".join(f"/{part}" for part in parts[:count])


def in_a_smaller_cpuset_than_its_parent(pid: int) -> bool:
    """Whether the cgroup of a process allows fewer CPUs than that of the process that started it.

    False where either is not known.
    """
    status = read_text(f"/proc/{pid}/status").splitlines()
    parent = next((line.split()[1] for line in status if line.startswith("PPid:")), "0")
    own, parents = cpuset_of(pid), cpuset_of(int(parent)) if parent != "0" else None
    return own is not None and parents is not None and own < parents


def as_cut(mask: frozenset[OsIndex], cpuset: frozenset[OsIndex] | None) -> frozenset[OsIndex]:
    """The mask that the kernel gives a thread while its cgroup allows these CPUs only.

    It is the allowed part of the mask, or all allowed CPUs. The kernel keeps the mask for when more
    CPUs are allowed.
    """
    return mask if cpuset is None else mask & cpuset or cpuset


@dataclass(frozen=True, slots=True)
class StartMask:
    """CPUs that a program was allowed to use when it began."""

    cpus: frozenset[OsIndex]
    by_cpuset: bool = False
    """Whether only its cgroup limited the program: then it may use the CPUs that the cgroup allows
    later."""

    @staticmethod
    def of(pid: int, cpus: frozenset[OsIndex]) -> StartMask:
        """Mask of a program that has just begun."""
        cpuset = cpuset_of(pid)
        return StartMask(cpus, cpuset is not None and cpuset <= cpus)


def allowed_now(pid: int, at_start: StartMask) -> frozenset[OsIndex]:
    """CPUs that a program may be placed on now: its mask at the start as the kernel cuts it
    (`as_cut`), without CPUs that are offline.
    """
    cpuset = cpuset_of(pid)
    if cpuset is None:
        return running(at_start.cpus)
    return running(cpuset if at_start.by_cpuset else as_cut(at_start.cpus, cpuset))


def placeable_now(pid: int, at_start: StartMask, topology: Topology) -> frozenset[OsIndex]:
    """CPUs of the topology among these, without isolated ones unless all are."""
    return topology.balanced(allowed_now(pid, at_start).intersection(topology.by_os_index))
