"""A change of seats, on trial: whether progress got faster or slower by it.

Where progress is unknown, as on a running program, instructions stand for it. Threads that wait
may spin, so a change that costs time can show more of them; but one that shows fewer is taken back,
and what it is taken back to is what the decider chose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from autofinity.model.topology import OsIndex
from autofinity.ports import Interval
from autofinity.runtime.before_after import FEWEST
from autofinity.runtime.guard import Guard

RATES = 10
"""Looks before a change that it is judged against."""


@dataclass(frozen=True, slots=True)
class SeatTrial:
    """Rates of progress, and the change that is being judged."""

    rates: tuple[float, ...] = ()
    """Progress or instructions per nanosecond in the last looks, oldest first."""
    progress: float = float("nan")
    guard: Guard | None = None
    """Guard of the last change, until the change is judged."""
    before: tuple[OsIndex, ...] = ()
    """Seats before it."""
    final: bool = False
    """A change did not prove better: there is no other."""

    def seeing(self, interval: Interval) -> SeatTrial:
        """With one more rate."""
        gained = interval.progress - self.progress
        if math.isnan(interval.progress):
            gained = sum(each.counted("instructions") for each in interval.samples)
        rate = gained / max(1, interval.end_ns - interval.start_ns)
        rates = (*self.rates, rate)[-RATES:] if rate > 0 else self.rates
        return replace(self, rates=rates, progress=interval.progress)

    def elsewhere(self) -> SeatTrial:
        """Threads were put elsewhere: what was on trial is not any more, and earlier rates are of
        other seats.
        """
        return replace(self, guard=None, rates=())

    @property
    def may_begin(self) -> bool:
        """Whether a change can be judged, or nothing will ever be counted to judge it by."""
        return not self.final and (not self.rates or len(self.rates) >= FEWEST)

    def begun(self, before: tuple[OsIndex, ...]) -> SeatTrial:
        """Threads are about to leave the seats `before`. Where not even instructions are counted,
        there is nothing to judge by: the change stands.
        """
        if not self.rates:
            return self
        guard = Guard()
        for rate in self.rates:
            guard = guard.saw_before(rate)
        return replace(self, guard=guard, before=before)

    def judged(self, now: tuple[OsIndex, ...]) -> tuple[SeatTrial, tuple[OsIndex, ...]]:
        """After one more look: the trial, and where threads are to be. A change that has not proved
        better when the test ends is taken back, and is the last.
        """
        assert self.guard is not None
        guard = self.guard.saw_after(self.rates[-1])
        if guard.undo or guard.verdict == "unclear":
            return replace(self, guard=None, final=True), self.before
        return replace(self, guard=guard if guard.verdict == "undecided" else None), now
