"""The guard: did the placement pay? A pure sequential test between before and after.

Rates of progress (work per second) before and after a placement are compared on the logarithmic
scale after every new rate, each with those that were seen at the same phase of the program:
another phase has another rate, whatever the placement did. A look that saw several phases is
compared with all of them. The boundary is Pocock's for ten looks
at 5 % (2.555 standard errors), so looking each time does not raise the share of wrong verdicts.
What is the same, to within a hundredth, after the last look is undone: "affinity does not matter
here" is an answer. Where rates scatter too much to tell, it is unclear, and the placement stands
if it was faster on the whole; one that was not is not kept.

A flagged sample (busy waiting without a heartbeat, or no measure of progress at all) is never a
reason to undo anything: it is not taken in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from autofinity.runtime.phases import Phase

type Verdict = Literal["undecided", "better", "worse", "no better", "same", "unclear"]

_BOUNDARY = 2.555  # Pocock 1977, two-sided 5 %, ten looks
_LOOKS = 10
_FEWEST = 4  # rates on each side before the first look
_FLOOR = 0.002  # relative standard deviation that is assumed at least: clocks and /proc are coarse
_SAME = 0.01  # relative difference that is none
_ANY = Phase({})


@dataclass(frozen=True, slots=True)
class Guard:
    """Logarithms of the rates seen so far. Start with `Guard()`."""

    before: tuple[tuple[Phase, float], ...] = ()
    after: tuple[float, ...] = ()
    """Each against the mean of those from before at the same phase."""
    mixed: bool = False
    """Whether some of them were of several phases."""
    verdict: Verdict = "undecided"

    def saw_before(self, rate: float, phase: Phase = _ANY, *, flagged: bool = False) -> Guard:
        """With one more rate from before the placement."""
        if flagged or not _usable(rate):
            return self
        return replace(self, before=(*self.before, (phase, math.log(rate))))

    def saw_after(self, rate: float, phase: Phase = _ANY, *, flagged: bool = False) -> Guard:
        """With one more rate from after it, and the verdict that follows. A verdict stands. A phase
        that was not seen before tells nothing.
        """
        if flagged or not _usable(rate) or self.verdict != "undecided":
            return self
        usual, mixed = self._usual(phase), self.mixed
        if math.isnan(usual) and phase.within([seen for seen, _ in self.before]):
            usual, mixed = _mean([rate for _, rate in self.before]), True
        if math.isnan(usual):
            return self
        grown = replace(self, after=(*self.after, math.log(rate) - usual), mixed=mixed)
        return replace(grown, verdict=grown._judge())

    @property
    def undo(self) -> bool:
        """Whether the placement is to be taken back."""
        return self.verdict in ("worse", "no better", "same")

    def _usual(self, phase: Phase) -> float:
        """Mean of the rates from before at this phase; NaN where there is none."""
        same = [rate for seen, rate in self.before if seen.like(phase)]
        return _mean(same) if same else math.nan

    def _judge(self) -> Verdict:
        if len(self.before) < _FEWEST or len(self.after) < _FEWEST:
            return "undecided"
        difference = _mean(self.after)
        before = [rate if self.mixed else rate - self._usual(phase) for phase, rate in self.before]
        error = math.sqrt(_variance(before) / len(before) + _variance(self.after) / len(self.after))
        if difference > _BOUNDARY * error:
            return "better"
        if difference < -_BOUNDARY * error:
            return "worse"
        if len(self.after) < _FEWEST + _LOOKS - 1:
            return "undecided"
        if abs(difference) + _BOUNDARY * error <= _SAME:
            return "same"
        return "unclear" if difference > 0 else "no better"


def _usable(rate: float) -> bool:
    return math.isfinite(rate) and rate > 0


def _mean(values: tuple[float, ...] | list[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: tuple[float, ...] | list[float]) -> float:
    middle = _mean(values)
    spread = math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)
    return max(spread, _FLOOR**2)
