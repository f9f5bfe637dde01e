"""How long and in how much memory to measure."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.free_memory import free_bytes

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
