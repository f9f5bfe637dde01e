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
