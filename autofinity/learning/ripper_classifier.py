"""RIPPER as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from autofinity.learning.value_rules import (
    LEAST_WEIGHT,
    PASSES,
    ValueRule,
    first_to_fire,
    learn_rules,
)
from autofinity.model.errors import LearningError

type Floats = npt.NDArray[np.float64]


class RipperClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Ordered rules by RIPPERk (Cohen 1995), classes from the rarest to the most frequent.

    The parameters are:

    * `passes`: number of times that every rule is reconsidered (Cohen's k), at least 0.
    * `least_weight`: least weight that a condition of a growing rule leaves covered, at least 0.
    * `nominal_features`: indices of the columns whose numbers are names; a condition on one is
      "equal to", on the others "at most" or "above". None: there are no such columns.
    * `random_state`: random seed for the rows to grow and to prune on.

    Values may be NaN: missing, and every condition on it fails. Sample weights count rows: 2 is the
    row twice. After `fit`:

    * `classes_`: the labels, ascending.
    * `rules_`: `ValueRule`s in order, the default last; their labels are indices into `classes_`.
    """

    classes_: npt.NDArray[Any]
    rules_: list[ValueRule]
    n_features_in_: int

    def __init__(
        self,
        *,
        passes: int = PASSES,
        least_weight: float = LEAST_WEIGHT,
        nominal_features: Sequence[int] | None = None,
        random_state: int | np.random.RandomState | None = 1,
    ) -> None:
        self.passes = passes
        self.least_weight = least_weight
        self.nominal_features = nominal_features
        self.random_state = random_state

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Learn from `X` (n × features), labels `y` (n) and weights (n; default 1 each).

        Raises `ValueError` for input that scikit-learn refuses, for parameters out of range, and
        for weights that are negative or all zero.
        """
        values, labels = validate_data(
            self, X, y, dtype=np.float64, order="C", ensure_all_finite="allow-nan"
        )
        check_classification_targets(labels)
        weights = _check_sample_weight(
            sample_weight, values, dtype=np.float64, ensure_non_negative=True
        )
        if not weights.any():
            raise ValueError("the sample weights are all zero, expected a non-zero one")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        try:
            self.rules_ = learn_rules(
                values,
                self._nominal(),
                codes,
                weights,
                len(self.classes_),
                passes=self.passes,
                least_weight=self.least_weight,
                seed=int(check_random_state(self.random_state).randint(2**31)),
            )
        except LearningError as error:
            raise ValueError(str(error)) from error  # what callers of scikit-learn expect
        return self

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The label of the first rule that fires, by row. Raises `NotFittedError`, `ValueError`."""
        fired = self._fired(X)
        labels: npt.NDArray[Any] = self.classes_[[rule.label for rule in self.rules_]][fired]
        return labels

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """Shares of the classes in the training weight where a row's rule fires first: n × classes.

        A rule that was never the first to fire gives its label with probability 1.
        """
        fired = self._fired(X)
        shares = np.array([rule.weights for rule in self.rules_])
        unseen = shares.sum(axis=1) == 0
        shares[unseen, np.array([rule.label for rule in self.rules_])[unseen]] = 1.0
        shares /= shares.sum(axis=1, keepdims=True)
        probabilities: Floats = shares[fired]
        return probabilities

    def describe(self, feature_names: Sequence[str] | None = None) -> str:
        """The rules for a person, one on each line. Raises `NotFittedError`."""
        check_is_fitted(self)
        names = feature_names or [f"x{i}" for i in range(self.n_features_in_)]
        lines = []
        for rule in self.rules_:
            when = " and ".join(
                f"{names[test.feature]} {test.relation} {test.value:g}" for test in rule.tests
            )
            right, all_of_it = rule.weights[rule.label], sum(rule.weights)
            said = f"{self.classes_[rule.label]} ({right:g} of {all_of_it:g})"
            lines.append(f"if {when} then {said}" if when else f"otherwise {said}")
        return "\n".join(lines)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _nominal(self) -> list[bool]:
        nominal = [False] * self.n_features_in_
        for feature in self.nominal_features or ():
            if not 0 <= feature < self.n_features_in_:
                raise ValueError(
                    f"nominal feature {feature}, expected 0 to {self.n_features_in_ - 1}"
                )
            nominal[feature] = True
        return nominal

    def _fired(self, X: npt.ArrayLike) -> npt.NDArray[np.int64]:
        check_is_fitted(self)
        values = validate_data(
            self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan"
        )
        return first_to_fire(self.rules_, values)
