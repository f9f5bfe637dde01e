"""Amount of memory that can be taken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_UNKNOWN = 1 << 30
_NODES = Path("/sys/devices/system/node")
_LEFT_FREE = 64
"""One such part of a node's memory stays free: several times as much as that below which the kernel
swaps (0.1 to 0.3 %)."""


def free_bytes(proc: Path = Path("/proc"), cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Memory that can be taken without swapping: of the machine, and of our cgroup (v2)."""
    found = [_UNKNOWN]
    for line in _text(proc / "meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            found = [int(line.split()[1]) * 1024]
    limit, used = _text(cgroup / "memory.max").strip(), _text(cgroup / "memory.current").strip()
    if limit.isdecimal() and used.isdecimal():
        found.append(max(0, int(limit) - int(used) + _droppable(cgroup)))
    return min(found)


def free_bytes_of_node(node: int, nodes: Path = _NODES) -> int | None:
    """Memory of a node (the kernel's number) that can be taken without swapping; None where
    unknown.
    """
    return _free_of(_node_memory(node, nodes))


def has_room(node: int, nodes: Path = _NODES) -> bool:
    """Whether some more memory of a node (the kernel's number) can be taken, and enough stays free;
    True where unknown.
    """
    memory = _node_memory(node, nodes)
    free = _free_of(memory)
    return free is None or free > memory.get("MemTotal:", 0) // _LEFT_FREE


def _free_of(memory: Mapping[str, int]) -> int | None:
    free = memory.get("MemFree:")
    return None if free is None else free + memory.get("Inactive(file):", 0)


def _node_memory(node: int, nodes: Path) -> Mapping[str, int]:
    """Bytes of each line of a node's meminfo."""
    found = {}
    for line in _text(nodes / f"node{node}" / "meminfo").splitlines():
        words = line.split()  # Node 0 MemFree: 123 kB
        if len(words) > 3 and words[3].isdecimal():
            found[words[2]] = int(words[3]) * 1024
    return found


def _droppable(cgroup: Path) -> int:
    """Bytes of files that the kernel drops from a cgroup's memory when others need room."""
    for line in _text(cgroup / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name == "inactive_file" and value.isdecimal():
            return int(value)
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
