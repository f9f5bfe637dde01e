"""Amount of memory that can be taken."""

from __future__ import annotations

from pathlib import Path

_UNKNOWN = 1 << 30


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


def free_bytes_of_node(node: int, nodes: Path = Path("/sys/devices/system/node")) -> int | None:
    """Memory of a node (the kernel's number) that can be taken without swapping; None where
    unknown.
    """
    found = {}
    for line in _text(nodes / f"node{node}" / "meminfo").splitlines():
        words = line.split()  # Node 0 MemFree: 123 kB
        if len(words) > 3 and words[3].isdecimal():
            found[words[2]] = int(words[3]) * 1024
    free = found.get("MemFree:")
    return None if free is None else free + found.get("Inactive(file):", 0)


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
