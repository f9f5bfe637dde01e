"""Duration and memory of measurements."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.free_memory import free_bytes

LINE_BYTES = 64
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Bench:
    """Number of rounds of each measurement, number of pairs of cores of each distance, and largest
    buffer.
    """

    rounds: int
    pairs: int
    most_bytes: int

    @staticmethod
    def of(quick: bool) -> Bench:
        """Settings of a quick or a thorough measurement; buffers take a quarter of the free memory
        at most.
        """
        most = (128 if quick else 1024) * _MIB
        return Bench(8 if quick else 30, 1 if quick else 3, min(most, free_bytes() // 4))

    def beyond(self, cache_bytes: int) -> int:
        """Size of a buffer of which a cache holds little, if there is enough memory."""
        return max(8 * _MIB, min(self.most_bytes, 4 * cache_bytes))
