"""The guard: did the placement pay? A pure sequential test between before and after.

Rates of progress (work per second) before and after a placement are compared after every new rate.
Each rate is compared with the mean of the earlier rates at the same phase of the program: another
phase has another rate, whatever the placement. Where a look covered several phases, all rates are
compared with the mean over all phases. Means are of work over time, so that a slow moment counts
for as long as it lasted. The boundary is Pocock's for ten looks at 5 % (2.555 standard errors), so
a test after each look does not raise the share of wrong verdicts. A placement whose rate is the
same, to within a hundredth, after the last look is undone: "affinity does not matter here" is an
answer. Where rates are too noisy for a verdict, the result is unclear, and the policy's answer
stands. One exception: a placement that was slower by a standard error, which happens once in six
where there is no difference, is not kept.

A rate that is no measure of progress (NaN: counters cannot distinguish a busy wait from work) is
never a reason to undo a placement: it is ignored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from autofinity.runtime.phases import Phase

type Verdict = Literal["undecided", "better", "worse", "no better", "same", "unclear"]

_BOUNDARY = 2.555  # Pocock 1977, two-sided 5 %, ten looks
_LOOKS = 10
FEWEST = 4
"""Rates on each side before the first look."""
_FLOOR = 0.002  # relative standard deviation that is assumed at least: clocks and /proc are coarse
_SAME = 0.01  # relative difference that is none
_ANY = Phase({})


@dataclass(frozen=True, slots=True)
class Seen:
    """A rate, its phase and its duration."""

    rate: float
    phase: Phase
    time: float


@dataclass(frozen=True, slots=True)
class Guard:
    """Rates seen so far. Start with `Guard()`."""

    before: tuple[Seen, ...] = ()
    after: tuple[Seen, ...] = ()
    verdict: Verdict = "undecided"

    def saw_before(self, rate: float, phase: Phase = _ANY, time: float = 1.0) -> Guard:
        """The guard with one more rate from before the placement, of a look of length `time`."""
        if not _usable(rate):
            return self
        return replace(self, before=(*self.before, Seen(rate, phase, time)))

    def saw_after(self, rate: float, phase: Phase = _ANY, time: float = 1.0) -> Guard:
        """The guard with one more rate from after the placement, and the verdict that follows.

        A verdict is final. A rate at a phase that was not seen before the placement is ignored.
        """
        if not _usable(rate) or self.verdict != "undecided":
            return self
        if not self._same(phase) and not phase.within([seen.phase for seen in self.before]):
            return self
        grown = replace(self, after=(*self.after, Seen(rate, phase, time)))
        return replace(grown, verdict=grown._judge())

    @property
    def undo(self) -> bool:
        """Whether the placement is to be taken back."""
        return self.verdict in ("worse", "no better", "same")

    def _same(self, phase: Phase) -> list[Seen]:
        """Rates before the placement at this phase."""
        return [seen for seen in self.before if seen.phase.like(phase)]

    def _judge(self) -> Verdict:
        if len(self.before) < FEWEST or len(self.after) < FEWEST:
            return "undecided"
        mixed = not all(self._same(seen.phase) for seen in self.after)

        def against_usual(seen: Seen) -> Seen:
            usual = _mean(self.before if mixed else self._same(seen.phase))
            return replace(seen, rate=seen.rate / usual)

        before, after = (list(map(against_usual, each)) for each in (self.before, self.after))
        difference = _mean(after) - 1
        error = math.sqrt(_variance(before) / len(before) + _variance(after) / len(after))
        if difference > _BOUNDARY * error:
            return "better"
        if difference < -_BOUNDARY * error:
            return "worse"
        if len(self.after) < FEWEST + _LOOKS - 1:
            return "undecided"
        if abs(difference) + _BOUNDARY * error <= _SAME:
            return "same"
        return "unclear" if difference > -error else "no better"


def _usable(rate: float) -> bool:
    return math.isfinite(rate) and rate > 0


def _mean(seen: Sequence[Seen]) -> float:
    """Mean rate: work over time."""
    return math.fsum(each.rate * each.time for each in seen) / math.fsum(each.time for each in seen)


def _variance(seen: Sequence[Seen]) -> float:
    middle = math.fsum(each.rate for each in seen) / len(seen)
    spread = math.fsum((each.rate - middle) ** 2 for each in seen) / (len(seen) - 1)
    return max(spread, _FLOOR**2)
