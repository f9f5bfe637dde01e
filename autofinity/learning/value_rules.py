"""RIPPER's rules over values, as data, found by `autofinity._core.learning`.

Source of the algorithm: W. Cohen, "Fast Effective Rule Induction" (ICML 1995);
native/learning/ripper.hpp describes the steps. Differences from JRip: a numeric condition cuts
half-way between values, repeated rows are merged into one with a larger weight, and the random
choices are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from autofinity._core import learning as native
from autofinity.model.errors import LearningError

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]
type Relation = Literal["<=", ">", "="]

PASSES = 2
"""Number of times that every rule is reconsidered: Cohen's k."""
LEAST_WEIGHT = 2.0
"""Least weight that a condition leaves covered while a rule is grown: two rows, as in JRip."""


@dataclass(frozen=True, slots=True)
class Test:
    """One condition: feature `feature` is at most, above, or equal to `value`."""

    feature: int
    relation: Relation
    value: float

    def holds(self, values: Floats) -> npt.NDArray[np.bool_]:
        """Mask of the rows (n × features) on which the test holds; false where the value is
        missing.
        """
        column = values[:, self.feature]
        with np.errstate(invalid="ignore"):
            if self.relation == "<=":
                return column <= self.value
            return column > self.value if self.relation == ">" else column == self.value


@dataclass(frozen=True, slots=True)
class ValueRule:
    """A rule: all tests hold → `label`. A rule without tests is the default."""

    tests: tuple[Test, ...]
    weights: tuple[float, ...]
    """Weight of each class among the training rows where this rule is the first to fire."""
    label: int
    """The class with the largest weight there; the class the rule was grown for, where that weight
    is equal."""


def learn_rules(
    values: Floats,
    nominal: Sequence[bool],
    labels: Ints,
    weights: Floats,
    classes: int,
    *,
    passes: int = PASSES,
    least_weight: float = LEAST_WEIGHT,
    seed: int = 1,
) -> list[ValueRule]:
    """Rules in order, the default last.

    `values` is n × features, NaN is missing; `nominal` marks each feature whose values are names;
    `labels` (n) are from 0 to `classes` - 1; `weights` (n) count rows: 2 is the row twice, 0 not at
    all. The order of the rows does not matter; neither does repetition instead of a larger weight.
    Raises `LearningError` for an infinite value, for a weight that is negative or not finite, and
    for negative `passes` or `least_weight`.
    """
    if bool(np.isinf(values).any()):
        raise LearningError("an infinite value, expected finite ones or NaN; leave the row out")
    if not bool(np.isfinite(weights).all() and (weights >= 0).all()):
        raise LearningError("a weight that is negative or not finite, expected 0 or more")
    if passes < 0 or not least_weight >= 0:
        raise LearningError(
            f"{passes} passes and a least weight of {least_weight}, expected both 0 or more"
        )
    found = native.ripper(
        np.ascontiguousarray(values, dtype=np.float64),
        list(nominal),
        np.ascontiguousarray(labels, dtype=np.int32),
        np.ascontiguousarray(weights, dtype=np.float64),
        classes=classes,
        passes=passes,
        least_weight=least_weight,
        seed=seed,
    )
    return [
        ValueRule(
            tuple(Test(feature, cast("Relation", how), at) for feature, how, at in tests),
            tuple(by_class),
            label if by_class[label] >= max(by_class) else by_class.index(max(by_class)),
        )
        for tests, by_class, label in found
    ]


def first_to_fire(rules: Sequence[ValueRule], values: Floats) -> Ints:
    """Index, for each row of `values` (n × features), of the first rule whose tests all hold."""
    first = np.full(len(values), -1, dtype=np.int64)
    for index, rule in enumerate(rules):
        left = np.flatnonzero(first < 0)
        fires = np.ones(len(left), dtype=bool)
        for test in rule.tests:
            fires &= test.holds(values[left])
        first[left[fires]] = index
    return first
