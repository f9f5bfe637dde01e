"""One label for everything, as a scikit-learn estimator: what rules have to beat."""

from __future__ import annotations

from typing import Any

import numpy as np

from autofinity.learning.hint_labels import code_of
from autofinity.learning.rule_list_classifier import Bins, Rows, RuleListClassifier
from autofinity.learning.value_rules import ValueRule


class BaselineClassifier(RuleListClassifier):
    """The same label for every row, such as `slp` (packed) or `SLP` (spread).

    The parameter is:

    * `label`: the label, of a hint its name or its letters, whatever `y` has; None: the label that
      loses least in the rows that `fit` is given, without `losses` the most frequent one. The first
      of equal ones.

    After `fit`:

    * `classes_`: the labels, ascending.
    * `rules_`: a single rule, which always fires.

    >>> X, y = [[0.1], [0.2], [0.8], [0.9]] * 3, ["SLP", "SLP", "slp", "slp"] * 3
    >>> af.BaselineClassifier(label="slp").fit(X, y).predict([[0.1], [0.9]]).tolist()
    ['slp', 'slp']
    """

    bins: Bins = None

    def __init__(self, *, label: Any = None) -> None:
        self.label = label

    def _learn(self, rows: Rows) -> list[ValueRule]:
        if self.label is not None:
            code = code_of(self.label, self.classes_.tolist())
            if code is None:
                raise ValueError(f"label {self.label!r}, expected one of {self.classes_.tolist()}")
            return [ValueRule((), (), code)]
        wrong = 1.0 - np.eye(rows.classes)[rows.labels]
        lost = rows.weights @ (wrong if rows.losses is None else rows.losses)
        return [ValueRule((), (), int(np.argmin(lost)))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
