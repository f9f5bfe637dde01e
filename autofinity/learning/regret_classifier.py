"""Rules with the least loss, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from autofinity.learning.bin_rules import BinRule
from autofinity.learning.class_rules import Cuts
from autofinity.learning.discretise import equal_frequency
from autofinity.learning.hint_labels import code_of
from autofinity.learning.regret_tree import Losses, grow, rules_of
from autofinity.learning.rule_list_classifier import Bins, Rows, RuleListClassifier
from autofinity.learning.value_rules import Test, ValueRule

type Floats = npt.NDArray[np.float64]


class RegretClassifier(RuleListClassifier):
    """Rules of a small tree with the least loss (`learning.regret_tree`).

    The parameters are:

    * `most_rules`: largest number of rules without the default; at least 1.
    * `bins`: number of bins that each column is cut into, of equal share of the weight; or their
      edges, in the order of the columns or by their names; None: edges between all neighbouring
      values.
    * `preferred`: labels that a rule gives unless another one loses less by more than noise
      (`regret_tree.WORTH`). A hint may be given by its name or its letters, whatever `y` has.

    Values may be NaN: missing, and every condition on it fails. Without `losses` every label other
    than `y` loses 1. After `fit`:

    * `classes_`: the labels, ascending.
    * `rules_`: the rules in order, the default last, each with its `conditions`, `label`, and the
      weights `covered` and `wrong`.

    >>> X, y = [[0.1], [0.2], [0.8], [0.9]] * 3, ["SLP", "SLP", "slp", "slp"] * 3
    >>> model = af.RegretClassifier().fit(X, y)
    >>> print(model.describe())
    if x0 > 0.5 then packed (slp) (6 of 6)
    otherwise spread (SLP) (6 of 6)
    >>> model.predict([[0.3], [0.7]]).tolist(), model.score(X, y)
    (['SLP', 'slp'], 1.0)
    >>> model.predict_proba([[0.3]]).tolist(), model.rules_table.shape
    ([[1.0, 0.0]], (2, 4))
    """

    def __init__(
        self, *, most_rules: int = 8, bins: Bins = None, preferred: Sequence[Any] = ()
    ) -> None:
        self.most_rules = most_rules
        self.bins = bins
        self.preferred = preferred

    def _learn(self, rows: Rows) -> list[ValueRule]:
        if self.most_rules < 1:
            raise ValueError(f"most_rules is {self.most_rules}, expected at least 1")
        classes = self.classes_.tolist()
        codes = [code_of(label, classes) for label in self.preferred]
        unknown = [label for label, code in zip(self.preferred, codes, strict=True) if code is None]
        if unknown:
            raise ValueError(f"preferred: {unknown}, expected some of {classes}")
        loss = 1.0 - np.eye(rows.classes)[rows.labels] if rows.losses is None else rows.losses
        data = Losses(
            np.where(np.isnan(rows.values), -1, rows.values).astype(np.int64),
            loss * rows.weights[:, None],
            tuple(len(cuts or ()) + 1 for cuts in self.cut_points_),
            tuple(code for code in codes if code is not None),
        )
        leaves = grow(data, range(len(data.bin_counts)), self.most_rules + 1)
        return [_tests(rule, data.bin_counts) for rule in rules_of(leaves)]

    def _cuts(self, values: Floats, weights: Floats) -> Cuts:
        if self.bins is not None:
            return super()._cuts(values, weights)
        known = [column[~np.isnan(column)] for column in values.T]
        return [equal_frequency(np.unique(column), len(column)) for column in known]


def _tests(rule: BinRule, counts: Sequence[int]) -> ValueRule:
    """The rule as tests of numbers of bins; a range over all bins is no test."""
    tests: list[Test] = []
    for feature, (first, last) in sorted(rule.ranges.items()):
        if first > 0:
            tests.append(Test(feature, ">", first - 1.0))
        if last < counts[feature] - 1:
            tests.append(Test(feature, "<=", float(last)))
    return ValueRule(tuple(tests), (), rule.label)
