"""Duration and memory of measurements."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.free_memory import free_bytes

LINE_BYTES = 64
_LEAST_BYTES = 8 << 20
_UNKNOWN_BYTES = 256 << 20
"""Size that caches of unknown size are taken for: few are larger."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Number of rounds of each measurement, number of pairs of cores of each distance, and memory
    that buffers may take.
    """

    rounds: int
    pairs: int
    most_bytes: int

    @staticmethod
    def of(quick: bool) -> Bench:
        """Settings of a quick or a thorough measurement; buffers take a quarter of the free memory
        at most.
        """
        return Bench(8 if quick else 30, 1 if quick else 3, free_bytes() // 4)

    def beyond(self, cache_bytes: int) -> int:
        """Size of a buffer of which caches of this size (0: unknown) hold little, if there is
        enough memory.
        """
        return max(_LEAST_BYTES, min(self.most_bytes, 4 * (cache_bytes or _UNKNOWN_BYTES)))
