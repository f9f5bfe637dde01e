"""Grow and prune one rule over bins (RIPPER's inner loop)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]
type Mask = npt.NDArray[np.bool_]


class Literal(NamedTuple):
    """`bin of counter <= at` or `>= at`."""

    counter: int
    at_most: bool
    at: int


type Literals = tuple[Literal, ...]
"""A rule, in the order in which its conditions were added."""


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Rows of bins, each for or against the class that is being learned."""

    rows: Ints
    positive: Mask
    weight: Floats
    bins: tuple[int, ...]
    """How many bins each counter has."""

    def take(self, rows: Mask | Ints) -> Data:
        """Some of the rows."""
        return Data(self.rows[rows], self.positive[rows], self.weight[rows], self.bins)

    def split(self, draw: np.random.Generator) -> tuple[Data, Data]:
        """Two thirds to grow on, one third to prune on, the same of either kind."""
        order = draw.permutation(len(self.positive))
        order = order[np.argsort(self.positive[order], kind="stable")]
        third = np.arange(len(order)) % 3 == 2
        return self.take(order[~third]), self.take(order[third])

    def weights_covered(self, mask: Mask) -> tuple[float, float]:
        """Weight for and against within a mask."""
        weight = self.weight[mask]
        positive = self.positive[mask]
        return float(weight[positive].sum()), float(weight[~positive].sum())


def holds(data: Data, literal: Literal) -> Mask:
    """Rows that fulfil one condition."""
    column = data.rows[:, literal.counter]
    mask: Mask = column <= literal.at if literal.at_most else column >= literal.at
    return mask


def covered(data: Data, literals: Literals) -> Mask:
    """Rows that fulfil all conditions."""
    mask = np.ones(len(data.positive), dtype=bool)
    for literal in literals:
        mask &= holds(data, literal)
    return mask


def grow(data: Data, start: Literals) -> Literals:
    """Add the condition with the largest information gain until no row against is covered.

    The gain of Quinlan's FOIL: rows for that stay, times the bits by which each becomes surer.
    """
    literals = list(start)
    mask = covered(data, start)
    while True:
        right, wrong = data.weights_covered(mask)
        if wrong <= 0 or right <= 0:
            return tuple(literals)
        best = _best(data.take(mask), right, wrong)
        if best is None:
            return tuple(literals)
        literals.append(best)
        mask &= holds(data, best)


def _best(data: Data, right: float, wrong: float) -> Literal | None:
    """The condition that gains most; None when none gains."""
    best, most = None, 1e-9
    before = np.log2(right / (right + wrong))
    for counter, count in enumerate(data.bins):
        column = data.rows[:, counter]
        signed = [
            np.cumsum(np.bincount(column[side], data.weight[side], minlength=count))[:-1]
            for side in (data.positive, ~data.positive)
        ]
        for at_most in (True, False):
            p, n = signed if at_most else (right - signed[0], wrong - signed[1])
            p, n = np.maximum(p, 0.0), np.maximum(n, 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = np.where(p > 0, p * (np.log2(p / (p + n)) - before), 0.0)
            if len(gain) and gain.max() > most:
                at = int(np.argmax(gain))
                most = float(gain[at])
                best = Literal(counter, at_most, at if at_most else at + 1)
    return best


def prune(literals: Literals, data: Data, *, fewest_errors: bool = False) -> Literals:
    """Drop the last conditions, as many as raises the rule's worth on `data` most.

    The worth is (p - n) / (p + n), or p - n for `fewest_errors` (of the whole rule set, whose other
    rules leave `data` alone). Of equal worth the shorter; at least one condition stays.
    """
    mask = np.ones(len(data.positive), dtype=bool)
    best, most = 0, -np.inf
    for length, literal in enumerate(literals, start=1):
        mask &= holds(data, literal)
        right, wrong = data.weights_covered(mask)
        worth = right - wrong
        if not fewest_errors:
            worth = worth / (right + wrong) if right + wrong > 0 else -1.0
        if worth > most:
            best, most = length, worth
    return literals[:best]


def ranges_of(literals: Literals, bins: tuple[int, ...]) -> dict[int, tuple[int, int]]:
    """Conditions merged: counter → first and last bin."""
    ranges: dict[int, tuple[int, int]] = {}
    for counter, at_most, at in literals:
        first, last = ranges.get(counter, (0, bins[counter] - 1))
        ranges[counter] = (first, min(last, at)) if at_most else (max(first, at), last)
    return ranges
