"""How long and in how much memory to measure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autofinity.linux.kernel_file import read_number, read_text

LINE_BYTES = 64
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Bench:
    """Rounds of each measurement, pairs of cores of each distance, and the largest buffer."""

    rounds: int
    pairs: int
    most_bytes: int

    @staticmethod
    def of(quick: bool) -> Bench:
        """Quarter of the memory that is free for us, and not more than is quick to fill."""
        most = (128 if quick else 1024) * _MIB
        return Bench(8 if quick else 30, 1 if quick else 3, min(most, free_bytes() // 4))

    def beyond(self, cache_bytes: int) -> int:
        """A buffer so large that a cache holds little of it, if there is the memory."""
        return max(8 * _MIB, min(self.most_bytes, 4 * cache_bytes))


def free_bytes(proc: Path = Path("/proc"), cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Memory that can be taken without swapping: of the machine, and of our cgroup (v2)."""
    found = [1024 * _MIB]
    for line in read_text(proc / "meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            found = [int(line.split()[1]) * 1024]
    limit, used = (read_number(cgroup / f"memory.{name}", -1) for name in ("max", "current"))
    if limit >= 0 and used >= 0:
        found.append(max(0, limit - used))
    return min(found)
