"""JRip, WEKA's RIPPER, as a scikit-learn estimator."""

from __future__ import annotations

import numpy as np

from autofinity.learning.jrip import jrip_rules
from autofinity.learning.rule_list_classifier import (
    Bins,
    Rows,
    RuleListClassifier,
    seed_of,
    stakes,
)
from autofinity.learning.value_rules import ValueRule


class JRipClassifier(RuleListClassifier):
    """Ordered rules by WEKA's JRip with its default options. Java starts at the first `fit`.

    The parameters are:

    * `bins`: number of bins that each column is cut into, of equal share of the weight; or their
      edges, in the order of the columns or by their names; None: values as they are.
    * `random_state`: random seed for the folds to grow and to prune on.

    All columns hold numbers. Values may be NaN: missing, and every condition on it fails. With
    `losses`, a row weighs by what is at stake in it: the share that the worst label loses. `fit`
    raises `ValueError` where Java or WEKA cannot be used. After `fit`:

    * `classes_`: the labels, ascending.
    * `rules_`: the rules in order, the default last, each with its `conditions`, `label`, and the
      weights `covered` and `wrong`.

    >>> X, y = [[0.1], [0.2], [0.8], [0.9]] * 3, ["SLP", "SLP", "slp", "slp"] * 3
    >>> af.JRipClassifier().fit(X, y).predict([[0.1], [0.9]]).tolist()
    ['SLP', 'slp']
    """

    def __init__(
        self,
        *,
        bins: Bins = None,
        random_state: int | np.random.RandomState | None = 1,
    ) -> None:
        self.bins = bins
        self.random_state = random_state

    def _learn(self, rows: Rows) -> list[ValueRule]:
        numbers = [None] * rows.values.shape[1]
        seed = seed_of(self.random_state)
        return jrip_rules(rows.values, numbers, rows.labels, stakes(rows), seed)
