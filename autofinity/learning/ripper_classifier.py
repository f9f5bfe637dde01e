"""RIPPER as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autofinity.learning.rule_list_classifier import (
    Bins,
    Rows,
    RuleListClassifier,
    seed_of,
    stakes,
)
from autofinity.learning.value_rules import LEAST_WEIGHT, PASSES, ValueRule, learn_rules


class RipperClassifier(RuleListClassifier):
    """Ordered rules by RIPPERk (Cohen 1995), classes from the rarest to the most frequent.

    The parameters are:

    * `passes`: number of times that every rule is reconsidered (Cohen's k), at least 0.
    * `least_weight`: least weight that a condition of a growing rule leaves covered, at least 0.
    * `nominal_features`: indices of the columns whose numbers (of bins, if there are bins) are
      names; a condition on one is "equal to", on the others "at most" or "above". None: there are
      no such columns.
    * `bins`: number of bins that each column is cut into, of equal share of the weight; or their
      edges, in the order of the columns or by their names; None: values as they are.
    * `random_state`: random seed for the rows to grow and to prune on.

    Values may be NaN: missing, and every condition on it fails. Sample weights count rows: 2 is the
    row twice. With `losses`, a row weighs by what is at stake in it: the share that the worst label
    loses. After `fit`:

    * `classes_`: the labels, ascending.
    * `rules_`: the rules in order, the default last, each with its `conditions`, `label`, and the
      weights `covered` and `wrong`.

    >>> X, y = [[0.1], [0.2], [0.8], [0.9]] * 3, ["SLP", "SLP", "slp", "slp"] * 3
    >>> print(af.RipperClassifier().fit(X, y).describe())
    if x0 > 0.5 then packed (slp) (6 of 6)
    otherwise spread (SLP) (6 of 6)
    """

    def __init__(
        self,
        *,
        passes: int = PASSES,
        least_weight: float = LEAST_WEIGHT,
        nominal_features: Sequence[int] | None = None,
        bins: Bins = None,
        random_state: int | np.random.RandomState | None = 1,
    ) -> None:
        self.passes = passes
        self.least_weight = least_weight
        self.nominal_features = nominal_features
        self.bins = bins
        self.random_state = random_state

    def _learn(self, rows: Rows) -> list[ValueRule]:
        return learn_rules(
            rows.values,
            self._nominal(),
            rows.labels,
            stakes(rows),
            rows.classes,
            passes=self.passes,
            least_weight=self.least_weight,
            seed=seed_of(self.random_state),
        )

    def _nominal(self) -> list[bool]:
        nominal = [False] * self.n_features_in_
        for feature in self.nominal_features or ():
            if not 0 <= feature < self.n_features_in_:
                raise ValueError(
                    f"nominal feature {feature}, expected 0 to {self.n_features_in_ - 1}"
                )
            nominal[feature] = True
        return nominal
