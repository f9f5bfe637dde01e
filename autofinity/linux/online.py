"""Which CPUs are online, by the kernel's affinity masks, whatever /sys shows.

A container's /sys may be made up (lxcfs counts its CPUs from 0 in `online`) or absent, while masks
and every other number are the host's. So a CPU of a mask counts unless its own file says that the
CPU is offline.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from autofinity.linux.kernel_file import read_text
from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.errors import TopologyError, UsageError
from autofinity.model.topology import OsIndex

SYSFS = "/sys"
_CPU = "devices/system/cpu"
_ISOLATED = (f"{_CPU}/isolated", "fs/cgroup/cpuset.cpus.isolated")
"""CPUs isolated at boot, and those of isolated partitions of cpusets (from Linux 6.7 on)."""


def sysfs_root(environment: Mapping[str, str] = os.environ) -> str:
    """Root of the tree that describes this machine: AUTOFINITY_SYSFS, else the system's."""
    return environment.get("AUTOFINITY_SYSFS") or SYSFS


def listed_online(root: str | os.PathLike[str] = SYSFS) -> frozenset[OsIndex]:
    """CPUs that `online` lists; empty where the file cannot be read.

    Raises `TopologyError` for text that is no list of CPUs.
    """
    path = f"{os.fspath(root)}/{_CPU}/online"
    text = read_text(path)
    try:
        return parse_cpu_list(text)
    except UsageError:
        raise TopologyError(f"{path} is not a CPU list: {text.strip()!r}") from None


def running(mask: frozenset[OsIndex], root: str | os.PathLike[str] = SYSFS) -> frozenset[OsIndex]:
    """CPUs of a mask without offline ones. In another tree than the kernel's own, only CPUs of that
    tree.
    """
    unlisted = mask - listed_online(root)
    return mask - {cpu for cpu in unlisted if not _runs(cpu, os.fspath(root))}


def isolated(root: str | os.PathLike[str] = SYSFS) -> frozenset[OsIndex]:
    """CPUs between which the kernel balances no threads; empty where no file lists them."""
    found: set[OsIndex] = set()
    for name in _ISOLATED:
        with suppress(UsageError):
            found |= parse_cpu_list(read_text(f"{os.fspath(root)}/{name}"))
    return frozenset(found)


def _runs(cpu: OsIndex, root: str) -> bool:
    own = read_text(f"{root}/{_CPU}/cpu{cpu}/online").strip()
    if own or root == SYSFS:
        return own != "0"
    return Path(root, _CPU, f"cpu{cpu}", "topology").is_dir()


def whole_machine(root: str | os.PathLike[str] = SYSFS) -> frozenset[OsIndex]:
    """All online CPUs, as far as this process can see."""
    return listed_online(root) | running(frozenset(map(OsIndex, os.sched_getaffinity(0))), root)
