"""Rules with the least loss, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    validate_data,
)

from autofinity.learning.bin_rules import BinRule
from autofinity.learning.discretise import bin_of, equal_frequency
from autofinity.learning.regret_tree import Leaf, Losses, grow, labels_of, rules_of

type Ints = npt.NDArray[np.int64]


class RegretClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Rules of a small tree with the least loss (`learning.regret_tree`).

    The parameters are:

    * `most_rules`: largest number of rules without the default; at least 1.
    * `cut_points`: for each column the edges that conditions may have, ascending. None: between all
      neighbouring values.
    * `preferred`: labels (indices into `classes_`) that a rule gives unless another one loses less
      by more than noise (`regret_tree.WORTH`).

    Values may be NaN: missing, and every condition on it fails. After `fit`:

    * `classes_`: the labels, ascending.
    * `rules_`: `BinRule`s in order, the default last; their labels are indices into `classes_`,
      their ranges of bins between `cut_points_`.
    """

    classes_: npt.NDArray[Any]
    cut_points_: list[tuple[float, ...]]
    rules_: list[BinRule]

    def __init__(
        self,
        *,
        most_rules: int = 8,
        cut_points: Sequence[Sequence[float]] | None = None,
        preferred: Sequence[int] = (),
    ) -> None:
        self.most_rules = most_rules
        self.cut_points = cut_points
        self.preferred = preferred

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        losses: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from `X` (n × features) and labels `y` (n), weighted (n; default 1 each).

        `losses` (n × labels) is the loss of each label in each row; `y` are then indices of its
        columns, all of which are classes. Without `losses` every label other than `y` loses 1.
        Raises `ValueError` for input that scikit-learn refuses, and where shapes or parameters are
        wrong.
        """
        values, labels = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(labels)
        weights = _check_sample_weight(
            sample_weight, values, dtype=np.float64, ensure_non_negative=True
        )
        if self.most_rules < 1:
            raise ValueError(f"most_rules is {self.most_rules}, expected at least 1")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        loss = 1.0 - np.eye(len(self.classes_))[codes]
        if losses is not None:
            loss = check_array(losses, dtype=np.float64)
            self.classes_ = np.arange(loss.shape[1])
            if len(loss) != len(values) or not np.isin(labels, self.classes_).all():
                raise ValueError(
                    f"losses are {loss.shape[0]} × {loss.shape[1]}, expected {len(values)} rows "
                    f"and a column for each label, which are {np.unique(labels)}"
                )
        seen = weights > 0
        self.cut_points_ = self._cut_points(values[seen])
        counts = tuple(len(cuts) + 1 for cuts in self.cut_points_)
        unknown = [label for label in self.preferred if not 0 <= label < len(self.classes_)]
        if unknown:
            raise ValueError(
                f"preferred: {unknown}, expected indices of {len(self.classes_)} labels"
            )
        weighted = loss[seen] * weights[seen, None]
        data = Losses(self._bins(values[seen]), weighted, counts, tuple(self.preferred))
        self._leaves: list[Leaf] = grow(data, range(len(counts)), self.most_rules + 1)
        self.rules_ = rules_of(self._leaves)
        return self

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The label of the first rule that fires, by row. Raises `NotFittedError`, `ValueError`."""
        check_is_fitted(self)
        values = validate_data(
            self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan"
        )
        labels: npt.NDArray[Any] = self.classes_[labels_of(self._leaves, self._bins(values))]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _cut_points(self, values: npt.NDArray[np.float64]) -> list[tuple[float, ...]]:
        if self.cut_points is None:
            known = [column[~np.isnan(column)] for column in values.T]
            return [equal_frequency(np.unique(column), len(column)) for column in known]
        if len(self.cut_points) != self.n_features_in_:
            raise ValueError(
                f"cut points of {len(self.cut_points)} columns, expected {self.n_features_in_}"
            )
        return [tuple(map(float, cuts)) for cuts in self.cut_points]

    def _bins(self, values: npt.NDArray[np.float64]) -> Ints:
        bins = zip(values.T, self.cut_points_, strict=True)
        return np.column_stack([bin_of(column, cuts) for column, cuts in bins])
