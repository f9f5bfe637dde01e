"""The guard: did the placement pay? A pure sequential test between before and after.

The rates of progress before and after a placement are compared (`before_after`) after every new
rate, within Pocock's boundary. A placement whose rate is the same, to within a hundredth, after the
last look is undone: "affinity does not matter here" is an answer. Where rates are too noisy for a
verdict, the result is unclear, and the policy's answer stands. One exception: a placement that was
slower by a standard error, which happens once in six where there is no difference, is not kept.

A rate that is no measure of progress (NaN: counters cannot distinguish a busy wait from work) is
never a reason to undo a placement: it is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from autofinity.runtime.before_after import ANY, LOOKS, BeforeAfter
from autofinity.runtime.phases import Phase

type Verdict = Literal["undecided", "better", "worse", "no better", "same", "unclear"]

_SAME = 0.01  # relative difference that is none


@dataclass(frozen=True, slots=True)
class Guard:
    """Rates seen so far. Start with `Guard()`."""

    rates: BeforeAfter = field(default_factory=BeforeAfter)
    verdict: Verdict = "undecided"

    def saw_before(self, rate: float, phase: Phase = ANY, time: float = 1.0) -> Guard:
        """The guard with one more rate from before the placement, of a look of length `time`."""
        return replace(self, rates=self.rates.saw_before(rate, phase, time))

    def saw_after(self, rate: float, phase: Phase = ANY, time: float = 1.0) -> Guard:
        """The guard with one more rate from after the placement, and the verdict that follows.

        A verdict is final. A rate at a phase that was not seen before the placement is ignored.
        """
        if self.verdict != "undecided":
            return self
        grown = replace(self, rates=self.rates.saw_after(rate, phase, time))
        return replace(grown, verdict=grown._judge())

    @property
    def undo(self) -> bool:
        """Whether the placement is to be taken back."""
        return self.verdict in ("worse", "no better", "same")

    def _judge(self) -> Verdict:
        found = self.rates.difference
        if found is None:
            return "undecided"
        if found.least > 0:
            return "better"
        if found.most < 0:
            return "worse"
        if len(self.rates.after) < LOOKS:
            return "undecided"
        if max(-found.least, found.most) <= _SAME:
            return "same"
        return "unclear" if found.relative > -found.error else "no better"
