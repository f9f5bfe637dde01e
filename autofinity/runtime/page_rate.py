"""The rate at which the kernel moves pages, and the bytes that move without much ado."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from autofinity.model.memory import MOVED_BYTES_PER_S, ONE_BY_ONE_BYTES_PER_S
from autofinity.runtime.looking import LASTS_NS, SHARE

_MANY_AT_ONCE = (6, 3)
"""The first Linux that moves many pages at once."""


@dataclass(frozen=True, slots=True)
class PageRate:
    """The assumed rate, all costs included."""

    bytes_per_s: int = MOVED_BYTES_PER_S

    @staticmethod
    def of_kernel(release: str) -> PageRate:
        """The rate of the kernel of this release, as `os.uname` gives it."""
        number = re.match(r"(\d+)\.(\d+)", release)
        old = number is not None and tuple(map(int, number.groups())) < _MANY_AT_ONCE
        return PageRate(ONE_BY_ONE_BYTES_PER_S if old else MOVED_BYTES_PER_S)

    @property
    def few_bytes(self) -> int:
        """Bytes moved in the time that all looks may cost: 184 MB, on older kernels 74 MB. So many
        come along to a second look, and move without a trial of a part.
        """
        return round(SHARE * LASTS_NS / 1e9 * self.bytes_per_s)

    def time_ns(self, size_bytes: int) -> float:
        """Time to move so many bytes."""
        return size_bytes / self.bytes_per_s * 1e9


TODAYS = PageRate()
"""The rate of a kernel of today."""


def rate_here() -> PageRate:
    """The rate of this machine's kernel."""
    return PageRate.of_kernel(os.uname().release)
