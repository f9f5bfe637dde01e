"""Rates of looks that cover several phases, as they would be at one mixture of phases. Pure.

A look that covers two phases, each with its own time for an instruction, takes a time for an
instruction that is linear in every count per instruction. So one slope for two groups of looks
takes out the part of the mixture; with more phases it takes out some of it. Rates are of
instructions, and the counts by which the mixture is known are the program's own: a change that
makes threads wait less would be taken for a mixture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Point(NamedTuple):
    """A look."""

    rate: float
    """Above 0."""
    events: float
    """Per instruction; another one in each phase."""
    time: float


class AtMixture(NamedTuple):
    """Rates of two groups of looks at the mean mixture of the first group."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    error: float
    """Relative standard error of `after` against `before` that the slope adds, common to all."""


def at_mixture(before: Sequence[Point], after: Sequence[Point]) -> AtMixture | None:
    """The rates along one slope for both groups, of at least two looks each. None where events
    do not differ, or the slope leaves a look no time.
    """
    usual, later = _middle(before), _middle(after)
    apart = [  # work, and how far events and time for an instruction are from their means
        (one.rate * one.time, one.events - mean.events, 1 / one.rate - 1 / mean.rate)
        for group, mean in ((before, usual), (after, later))
        for one in group
    ]
    squares = math.fsum([work * events**2 for work, events, _ in apart])
    if squares <= 0:
        return None
    slope = math.fsum([work * events * time for work, events, time in apart]) / squares
    times = [
        [1 / one.rate - slope * (one.events - usual.events) for one in group]
        for group in (before, after)
    ]
    if min(map(min, times)) <= 0:
        return None
    left = math.fsum([work * (time - slope * events) ** 2 for work, events, time in apart])
    # Two means and the slope are fitted.
    variance = left / max(1, len(apart) - 3) / squares
    shift = later.events - usual.events
    return AtMixture(
        tuple(1 / each for each in times[0]),
        tuple(1 / each for each in times[1]),
        math.sqrt(variance) * abs(shift) * usual.rate,
    )


def _middle(group: Sequence[Point]) -> Point:
    """Mean by work: the rate of all together, and the events of all together."""
    each = [one.rate * one.time for one in group]
    work = math.fsum(each)
    events = math.fsum([part * one.events for part, one in zip(each, group, strict=True)]) / work
    time = math.fsum([one.time for one in group])
    return Point(work / time, events, time)
