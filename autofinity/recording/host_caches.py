"""The data caches of one CPU, from sysfs: what hwloc's topology keeps of the first core only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autofinity.linux.sysfs_topology import parse_cpu_list


@dataclass(frozen=True, slots=True)
class HostCache:
    """One level. `ways` 0: not said."""

    level: int
    size_bytes: int
    ways: int
    cpus: frozenset[int]
    """OS indices of the CPUs that share it."""


def host_caches(cpu: int, root: Path = Path("/sys")) -> tuple[HostCache, ...]:
    """Data and unified caches above a CPU, innermost first; empty where the kernel tells none."""
    folder = root / "devices" / "system" / "cpu" / f"cpu{cpu}" / "cache"
    found = []
    for index in sorted(folder.glob("index[0-9]*")):
        if _text(index / "type") in ("Data", "Unified"):
            found.append(
                HostCache(
                    _number(index / "level"),
                    _bytes(_text(index / "size")),
                    _number(index / "ways_of_associativity"),
                    parse_cpu_list(_text(index / "shared_cpu_list")) or frozenset({cpu}),
                )
            )
    return tuple(sorted((c for c in found if c.size_bytes), key=lambda cache: cache.level))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path) -> int:
    text = _text(path)
    return int(text) if text.isdigit() else 0


def _bytes(text: str) -> int:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    digits = text.rstrip("KMG")
    return int(digits) * units.get(text[len(digits) :], 1) if digits.isdigit() else 0
