"""The guard: did the placement pay? A pure sequential test between before and after.

Rates of progress (work per second) before and after a placement are compared on the logarithmic
scale after every new rate. The boundary is Pocock's for ten looks at 5 % (2.555 standard errors),
so looking each time does not raise the share of wrong verdicts. What has not proved better after
the last look is undone: "affinity does not matter here" is an answer.

A flagged sample (busy waiting without a heartbeat, or no measure of progress at all) is never a
reason to undo anything: it is not taken in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

type Verdict = Literal["undecided", "better", "worse", "same"]

_BOUNDARY = 2.555  # Pocock 1977, two-sided 5 %, ten looks
_LOOKS = 10
_FEWEST = 4  # rates on each side before the first look
_FLOOR = 0.002  # relative standard deviation that is assumed at least: clocks and /proc are coarse


@dataclass(frozen=True, slots=True)
class Guard:
    """Logarithms of the rates seen so far. Start with `Guard()`."""

    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    verdict: Verdict = "undecided"

    def saw_before(self, rate: float, *, flagged: bool = False) -> Guard:
        """With one more rate from before the placement."""
        if flagged or not _usable(rate):
            return self
        return replace(self, before=(*self.before, math.log(rate)))

    def saw_after(self, rate: float, *, flagged: bool = False) -> Guard:
        """With one more rate from after it, and the verdict that follows. A verdict stands."""
        if flagged or not _usable(rate) or self.verdict != "undecided":
            return self
        grown = replace(self, after=(*self.after, math.log(rate)))
        return replace(grown, verdict=grown._judge())

    @property
    def undo(self) -> bool:
        """Whether the placement is to be taken back."""
        return self.verdict in ("worse", "same")

    def _judge(self) -> Verdict:
        if len(self.before) < _FEWEST or len(self.after) < _FEWEST:
            return "undecided"
        difference = _mean(self.after) - _mean(self.before)
        error = math.sqrt(
            _variance(self.before) / len(self.before) + _variance(self.after) / len(self.after)
        )
        if difference > _BOUNDARY * error:
            return "better"
        if difference < -_BOUNDARY * error:
            return "worse"
        return "same" if len(self.after) >= _FEWEST + _LOOKS - 1 else "undecided"


def _usable(rate: float) -> bool:
    return math.isfinite(rate) and rate > 0


def _mean(values: tuple[float, ...]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: tuple[float, ...]) -> float:
    middle = _mean(values)
    spread = math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)
    return max(spread, _FLOOR**2)
