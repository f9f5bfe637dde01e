"""The data caches of one CPU, from sysfs; hwloc's topology keeps only those of the first core."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autofinity.linux.kernel_file import read_number, read_size_bytes, read_text
from autofinity.model.cpu_lists import parse_cpu_list


@dataclass(frozen=True, slots=True)
class HostCache:
    """One level of cache. `ways` 0: not reported."""

    level: int
    size_bytes: int
    ways: int
    cpus: frozenset[int]
    """OS indices of the CPUs that share the cache."""
    parts: int = 1
    """LLC domains that divide the cache, by the nodes that it spans."""
    by_home: bool = False
    """Whether each part has the lines of its node's memory."""

    @property
    def part_bytes(self) -> int:
        """Size of a domain's part."""
        return self.size_bytes // self.parts


def host_caches(cpu: int, root: Path = Path("/sys")) -> tuple[HostCache, ...]:
    """Data and unified caches above a CPU, innermost first; empty where the kernel reports none."""
    folder = root / "devices" / "system" / "cpu" / f"cpu{cpu}" / "cache"
    found = []
    for index in sorted(folder.glob("index[0-9]*")):
        if read_text(index / "type").strip() in ("Data", "Unified"):
            found.append(
                HostCache(
                    read_number(index / "level"),
                    read_size_bytes(index / "size"),
                    read_number(index / "ways_of_associativity"),
                    parse_cpu_list(read_text(index / "shared_cpu_list")) or frozenset({cpu}),
                )
            )
    return tuple(sorted((c for c in found if c.size_bytes), key=lambda cache: cache.level))
