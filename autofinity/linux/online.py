"""Which CPUs run: the kernel's affinity masks say so, whatever /sys shows.

A container's /sys may be made up (lxcfs counts its CPUs from 0 in `online`) or absent, while masks
and every other number are the host's. So a CPU of a mask counts unless its own file says that it
is off.
"""

from __future__ import annotations

import os
from pathlib import Path

from autofinity.linux.cpu_lists import parse_cpu_list
from autofinity.linux.kernel_file import read_text
from autofinity.model.errors import TopologyError, UsageError
from autofinity.model.topology import OsIndex

SYSFS = "/sys"
_CPU = "devices/system/cpu"


def listed_online(root: str | os.PathLike[str] = SYSFS) -> frozenset[OsIndex]:
    """CPUs that `online` lists; none where it cannot be read.

    Raises `TopologyError` for what is no list of CPUs.
    """
    path = f"{os.fspath(root)}/{_CPU}/online"
    text = read_text(path)
    try:
        return parse_cpu_list(text)
    except UsageError:
        raise TopologyError(f"{path} is not a CPU list: {text.strip()!r}") from None


def running(mask: frozenset[OsIndex], root: str | os.PathLike[str] = SYSFS) -> frozenset[OsIndex]:
    """CPUs of a mask without those that are off. In another tree than the kernel's own, only what
    the tree has.
    """
    unlisted = mask - listed_online(root)
    return mask - {cpu for cpu in unlisted if not _runs(cpu, os.fspath(root))}


def _runs(cpu: OsIndex, root: str) -> bool:
    own = read_text(f"{root}/{_CPU}/cpu{cpu}/online").strip()
    if own or root == SYSFS:
        return own != "0"
    return Path(root, _CPU, f"cpu{cpu}", "topology").is_dir()


def whole_machine(root: str | os.PathLike[str] = SYSFS) -> frozenset[OsIndex]:
    """All CPUs that run, as far as this process can tell."""
    return listed_online(root) | running(frozenset(map(OsIndex, os.sched_getaffinity(0))), root)
