"""Rates of progress before and after a change, compared phase by phase. Pure.

Each rate is compared with the mean of the earlier rates at the same phase of the program: another
phase has another rate, whatever was changed. Where looks covered several phases, all rates are
compared with the mean over all phases, or as they would be at the earlier mixture of phases
(`mixture`). Means are of work over time, so that a slow moment counts for as long as it lasted. The
boundary is Pocock's for ten looks at 5 % (2.555 standard errors, more with few rates), so a test
after each look raises the share of wrong verdicts little: it is at most 9 %
where looks vary independently (tests/unit/runtime/test_before_after.py). A program whose speed
drifts from look to look, in ways that no count shows, gets more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from autofinity.runtime.mixture import Point, at_mixture
from autofinity.runtime.phases import Phase

_BOUNDARY = 2.555  # Pocock 1977, two-sided 5 %, ten looks
_TESTS = 10
FEWEST = 4
"""Rates on each side before the first test."""
LOOKS = FEWEST + _TESTS - 1
"""Rates after the change with the last test."""
_FLOOR = 0.002  # relative standard deviation that is assumed at least: clocks and /proc are coarse
ANY = Phase({})
"""Where nothing identifies phases."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A rate, its phase and its duration."""

    rate: float
    phase: Phase
    time: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The rate after the change against the rate before, as a share of the latter."""

    relative: float
    error: float
    """Standard error."""
    freedom: int
    """Degrees of freedom of the error."""

    @property
    def least(self) -> float:
        """The lower boundary."""
        return self.relative - _boundary(self.freedom) * self.error

    @property
    def most(self) -> float:
        """The upper boundary."""
        return self.relative + _boundary(self.freedom) * self.error


class _Groups(NamedTuple):
    """Rates before and after that can be compared."""

    before: Sequence[Seen]
    after: Sequence[Seen]
    error: float = 0.0
    """Relative standard error that all of `after` have in common, beside that of a mean."""
    fitted: int = 2
    """Means, and a slope, that were taken from the rates."""


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """Rates seen so far. Start with `BeforeAfter()`. Rates that measure nothing (NaN, infinite, not
    positive) are ignored.
    """

    before: tuple[Seen, ...] = ()
    after: tuple[Seen, ...] = ()
    of_instructions: bool = False
    """Whether rates are of instructions, and the change leaves the phases as they are: then a
    mixture of phases can be taken out of them. Threads that move may wait less, and that changes
    counts an instruction."""

    def saw_before(self, rate: float, phase: Phase = ANY, time: float = 1.0) -> BeforeAfter:
        """With one more rate from before the change, of a look of length `time`."""
        if not _usable(rate):
            return self
        return replace(self, before=(*self.before, Seen(rate, phase, time)))

    def saw_after(self, rate: float, phase: Phase = ANY, time: float = 1.0) -> BeforeAfter:
        """With one more rate from after the change, unless its phase was not seen before."""
        if not _usable(rate):
            return self
        if not self._alike(phase) and not phase.within([seen.phase for seen in self.before]):
            return self
        return replace(self, after=(*self.after, Seen(rate, phase, time)))

    @property
    def error_before(self) -> float:
        """Relative standard error of the mean rate before the change, whatever the phases; there
        are two rates at least.
        """
        usual, looks = _mean(self.before), len(self.before)
        return math.sqrt(_variance(self.before) / looks) / usual

    @property
    def difference(self) -> Difference | None:
        """None with fewer than `FEWEST` rates on either side."""
        if len(self.before) < FEWEST or len(self.after) < FEWEST:
            return None
        alike = [self._alike(seen.phase) for seen in self.after]
        groups = [self._by_phase(alike) if all(alike) else _Groups(self.before, self.after)]
        if self.of_instructions:
            groups += self._by_mixture()
        return min(map(_compared, groups), key=lambda found: found.most - found.least)

    def _by_phase(self, after_alike: Sequence[Sequence[int]]) -> _Groups:
        """Each rate against the usual one at its phase. A phase that was seen once before has that
        one rate's error. `after_alike`: numbers of the rates before that each rate after is like.
        """
        alike = [*(self._alike(seen.phase) for seen in self.before), *after_alike]
        usual = [_mean([self.before[number] for number in numbers]) for numbers in alike]
        at_phase = [
            seen.rate / mean for seen, mean in zip((*self.before, *self.after), usual, strict=True)
        ]
        many = len(self.before)
        before, after = _with(self.before, at_phase[:many]), _with(self.after, at_phase[many:])
        kinds: list[int] = []
        for number in range(many):
            if not any(number in alike[kind] for kind in kinds):
                kinds.append(number)
        weights = [0.0] * many
        for numbers in alike[many:]:
            for number in numbers:
                weights[number] += 1 / len(numbers) / len(self.after)
        each, left = _variance(before), len(before) - len(kinds)
        if left < 1:
            return _Groups(before, after, math.inf)
        of_usual = each * (len(before) - 1) / left * math.fsum(weight**2 for weight in weights)
        beside = math.sqrt(max(0.0, of_usual - each / len(before)))
        return _Groups(before, after, beside, fitted=1 + len(kinds))

    def _by_mixture(self) -> list[_Groups]:
        """The rates as they would be at one mixture, by each count."""
        found = []
        names = (set(seen.phase.per_kilo) for seen in (*self.before, *self.after))
        for name in sorted(set.intersection(*names)):
            before, after = (
                [Point(seen.rate, seen.phase.per_kilo[name], seen.time) for seen in each]
                for each in (self.before, self.after)
            )
            at = at_mixture(before, after)
            if at is not None:
                rates = _with(self.before, at.before), _with(self.after, at.after)
                found.append(_Groups(*rates, at.error, fitted=3))
        return found

    def _alike(self, phase: Phase) -> list[int]:
        """Numbers of the rates before the change at this phase."""
        return [number for number, seen in enumerate(self.before) if seen.phase.like(phase)]


OF_INSTRUCTIONS = BeforeAfter(of_instructions=True)
"""No rates so far."""


def _compared(groups: _Groups) -> Difference:
    usual = _mean(groups.before)
    before, after = (
        _with(each, [seen.rate / usual for seen in each]) for each in (groups.before, groups.after)
    )
    squares = _variance(before) / len(before) + _variance(after) / len(after) + groups.error**2
    freedom = max(1, len(before) + len(after) - groups.fitted)
    return Difference(_mean(after) - 1, math.sqrt(squares), freedom)


def _boundary(freedom: int) -> float:
    """Quantile of Student's distribution where that of a normal one is `_BOUNDARY`: the first terms
    of its expansion (Abramowitz and Stegun 26.7.5), within 2 % from six degrees of freedom on.
    """
    z = _BOUNDARY
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2


def _with(seen: Sequence[Seen], rates: Sequence[float]) -> list[Seen]:
    return [Seen(rate, each.phase, each.time) for each, rate in zip(seen, rates, strict=True)]


def _usable(rate: float) -> bool:
    return math.isfinite(rate) and rate > 0


def _mean(seen: Sequence[Seen]) -> float:
    """Mean rate: work over time."""
    work = math.fsum([each.rate * each.time for each in seen])
    return work / math.fsum([each.time for each in seen])


def _variance(seen: Sequence[Seen]) -> float:
    middle = math.fsum([each.rate for each in seen]) / len(seen)
    spread = math.fsum([(each.rate - middle) ** 2 for each in seen]) / (len(seen) - 1)
    return max(spread, _FLOOR**2)
