"""Budget for looks at a program, and for deciding on them: a hundredth of a core, and at the
beginning a little more.

    began: as much CPU time as the watcher took to start ─┐
    every second: a hundredth of one ─────────────────────┴─► left ──► a rest until it is not owed

The first looks decide, and a slow machine (emulated, crowded) bears their cost only a few dozen
times. With the hundredth as the limit from the first look on, looks would come every half minute on
a machine where Python takes half a minute to start (measured under QEMU: 0.4 s a look).
"""

from __future__ import annotations

import time
from typing import Self

_SHARE = 100  # nanoseconds that pass for each that looking may take


class LookBudget:
    """Budget of CPU time, in nanoseconds, on a clock that the caller reads."""

    def __init__(self, first_ns: int, now_ns: int) -> None:
        """`first_ns` may be spent at once; no more than that is ever saved."""
        self._most_ns = self._left_ns = first_ns
        self._at_ns = now_ns

    @classmethod
    def of_this_process(cls) -> Self:
        """Budget of a process that begins to watch: as much again as its start has taken."""
        return cls(time.process_time_ns(), time.monotonic_ns())

    def spend(self, cost_ns: int) -> None:
        """Charge a look, or a decision, that has cost `cost_ns`."""
        self._left_ns -= cost_ns

    def rest_ns(self, now_ns: int) -> int:
        """Time to wait before the next look; 0 while the budget is not used up."""
        earned = (now_ns - self._at_ns) // _SHARE
        self._at_ns += earned * _SHARE
        self._left_ns = min(self._most_ns, self._left_ns + earned)
        return max(0, -self._left_ns) * _SHARE
