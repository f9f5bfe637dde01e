"""Turns rules over bins, as a learner finds them, into rules over counter values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autofinity.learning.feature_columns import measured
from autofinity.learning.value_rules import Test
from autofinity.model.affinity import HINTS, Hint
from autofinity.model.errors import LearningError
from autofinity.model.policy import Condition, Rule, RulePolicy

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BinRule:
    """A rule: all ranges hold → label. A rule without ranges always fires."""

    ranges: Mapping[int, tuple[int, int]]
    """Counter number → first and last bin (both included)."""
    label: int

    def fires(self, rows: Ints) -> npt.NDArray[np.bool_]:
        """Mask of the rows (n × counters of bin indices) that the rule fires on."""
        fires = np.ones(len(rows), dtype=bool)
        for counter, (first, last) in self.ranges.items():
            fires &= (rows[:, counter] >= first) & (rows[:, counter] <= last)
        return fires


def arrays_of(
    rows: npt.ArrayLike, labels: npt.ArrayLike, weights: npt.ArrayLike
) -> tuple[Ints, Ints, Floats]:
    """An action table in the form that learners take.

    The arrays are bin indices `rows` (n × counters, in the order of the cut points), `labels` into
    `HINTS` (n) and `weights` (n). Raises `LearningError` for an empty table.
    """
    label = np.asarray(labels, dtype=np.int64)
    if len(label) == 0:
        raise LearningError("an empty action table was given, expected at least one row")
    table = np.asarray(rows, dtype=np.int64).reshape(len(label), -1)
    return table, label, np.asarray(weights, dtype=np.float64)


def ranges_of(tests: Sequence[Test], counts: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Tests of numbers of bins, merged: counter number → first and last bin that pass.

    `counts` has the number of bins of each counter.
    """
    ranges: dict[int, tuple[int, int]] = {}
    for test in tests:
        first, last = ranges.get(test.feature, (0, counts[test.feature] - 1))
        if test.relation == "=":
            first, last = max(first, int(test.value)), min(last, int(test.value))
        elif test.relation == "<=":
            last = min(last, math.floor(test.value))
        else:
            first = max(first, math.floor(test.value) + 1)
        ranges[test.feature] = (first, last)
    return ranges


def policy_of(
    rules: Sequence[BinRule],
    cut_points: Mapping[str, tuple[float, ...]],
    rows: Ints,
    labels: Ints,
    weights: Floats,
    losses: Floats | None = None,
) -> RulePolicy:
    """The same rules over values of the counters that have `cut_points`.

    Each rule has the training weight that it covers and gets wrong: the weight of rows with another
    label, or the loss of its own label there (`losses`, rows × 8).

    The first rule that always fires becomes the default, and ends the list. A range over all bins
    is no condition; a rule with an empty range never fires and is left out.
    """
    edges = tuple(cut_points.items())
    left = np.ones(len(rows), dtype=bool)
    kept: list[Rule] = []
    default = rules[-1].label
    for rule in rules:
        if any(first > last for first, last in rule.ranges.values()):
            continue
        conditions = tuple(
            _condition(*edges[index], first, last)
            for index, (first, last) in sorted(rule.ranges.items())
            if first > 0 or last < len(edges[index][1])
        )
        if not conditions:
            default = rule.label
            break
        covered = left & rule.fires(rows)
        left &= ~covered
        if losses is None:
            wrong = weights[covered & (labels != rule.label)].sum()
        else:
            wrong = losses[covered, rule.label].sum()
        kept.append(
            Rule(
                conditions,
                HINTS[rule.label],
                float(weights[covered].sum()),
                float(wrong),
            )
        )
    return policy_over(cut_points, tuple(kept), HINTS[default])


def policy_over(
    cut_points: Mapping[str, tuple[float, ...]], rules: tuple[Rule, ...], default: Hint
) -> RulePolicy:
    """A policy over counters and ratios, with the counters that the ratios need."""
    counters, ratios = measured(tuple(cut_points))
    return RulePolicy(counters, dict(cut_points), rules, default, ratios=ratios)


def _condition(counter: str, cuts: tuple[float, ...], first: int, last: int) -> Condition:
    lower = cuts[first - 1] if first > 0 else float("-inf")
    upper = cuts[last] if last < len(cuts) else float("inf")
    return Condition(counter, lower, upper)
