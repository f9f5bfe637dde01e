"""Time of perf's clock from the counter that hardware stamps its records with.

    ns = zero + count × mult / 2^shift      the kernel's own numbers, in the page of each ring

The counter may be narrower than 64 bits (`mask`): then it is first extended to be near the value
(`cycles`) that the kernel last read. On Arm the counter is the generic timer. Source:
linux/perf_event.h, `perf_event_mmap_page` (cap_user_time_zero, cap_user_time_short).
"""

from __future__ import annotations

import struct
from collections.abc import Buffer
from dataclasses import dataclass
from typing import Final

from autofinity._core.detect import fence

_LOCK, _CAPABILITIES, _SHIFT_MULT, _ZERO, _CYCLES_MASK = 8, 40, 50, 64, 80
_HAS_ZERO, _HAS_MASK = 1 << 4, 1 << 5
_WORD: Final = (1 << 64) - 1
_TRIES: Final = 100  # the kernel writes for some nanoseconds


@dataclass(frozen=True, slots=True)
class PerfClock:
    """Conversion of the counter to perf's time."""

    shift: int
    mult: int
    zero_ns: int
    cycles: int = 0
    mask: int = _WORD

    def ns(self, count: int) -> int:
        """Time of a count."""
        count = self.cycles + (count - self.cycles & self.mask) & _WORD
        return self.zero_ns + (count * self.mult >> self.shift) & _WORD


def clock_of(page: Buffer) -> PerfClock | None:
    """Clock from a ring's first page; None: the kernel does not publish it."""
    for _ in range(_TRIES):
        (before,) = struct.unpack_from("I", page, _LOCK)
        fence()
        (can,) = struct.unpack_from("Q", page, _CAPABILITIES)
        shift, mult = struct.unpack_from("=HI", page, _SHIFT_MULT)
        (zero_ns,) = struct.unpack_from("Q", page, _ZERO)
        cycles, mask = struct.unpack_from("2Q", page, _CYCLES_MASK)
        fence()
        (after,) = struct.unpack_from("I", page, _LOCK)
        if before == after and before % 2 == 0:
            break
    else:
        return None
    if not can & _HAS_ZERO:
        return None
    return PerfClock(shift, mult, zero_ns, *((cycles, mask) if can & _HAS_MASK else ()))
