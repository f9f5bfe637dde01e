"""Bins as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from autofinity.learning.discretise import bin_of, equal_frequency, equal_share, equal_width
from autofinity.learning.float_input import within_float64
from autofinity.learning.sample_weights import checked_weights
from autofinity.learning.settings import METHODS, BinNumber, Method

type Floats = npt.NDArray[np.float64]


class Discretiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Columns of numbers cut into bins, each by itself (`learning.discretise` has the methods).

    The parameters are:

    * `method`: "equal-width", "equal-frequency" or "equal-share". Only the last one uses sample
      weights; rows of weight 0 are ignored by all.
    * `bins`: number of bins; for equal width the largest number.
    * `number`: how the number for equal width is chosen: "automatic", "weka-corrected", "weka" or
      "fixed".

    Values may be NaN: missing, in no bin. After `fit`:

    * `cut_points_`: inner edges of the bins of each column, ascending; bins are (lower, upper].
    """

    cut_points_: list[tuple[float, ...]]

    def __init__(
        self,
        *,
        method: Method = "equal-share",
        bins: int = 20,
        number: BinNumber = "automatic",
    ) -> None:
        self.method = method
        self.bins = bins
        self.number = number

    def fit(
        self, X: npt.ArrayLike, y: object = None, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Cut the columns of `X` (n × features).

        Raises `ValueError` for input that scikit-learn refuses, for parameters out of range, and
        for weights that are negative, all zero, NaN or infinite, or of a sum above 1e300.
        """
        with within_float64("values of X"):
            values = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        weights = checked_weights(sample_weight, values)
        if self.method not in METHODS or self.bins < 1:
            raise ValueError(
                f"{self.bins} bins of {self.method!r}, expected 1 or more of {', '.join(METHODS)}"
            )
        seen = weights > 0
        self.cut_points_ = [self._cuts(column, weights[seen]) for column in values[seen].T]
        return self

    def transform(self, X: npt.ArrayLike) -> Floats:
        """Number of each value's bin, from 0; NaN stays. Raises `NotFittedError`, `ValueError`."""
        check_is_fitted(self)
        with within_float64("values of X"):
            values = validate_data(
                self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan"
            )
        bins = [bin_of(*each) for each in zip(values.T, self.cut_points_, strict=True)]
        return np.where(np.isnan(values), np.nan, np.column_stack(bins))

    def _cuts(self, column: Floats, weights: Floats) -> tuple[float, ...]:
        known = ~np.isnan(column)
        if self.method == "equal-share":
            return equal_share(column[known], weights[known], self.bins)
        if self.method == "equal-frequency":
            return equal_frequency(column[known], self.bins)
        return equal_width(column[known], self.bins, self.number)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def cuts_of(
    columns: Mapping[str, Floats], weights: Floats, discretiser: Discretiser
) -> dict[str, tuple[float, ...]]:
    """Cut points of each column, by name; infinite values are ignored. Empty without rows."""
    if not columns or not len(weights):
        return dict.fromkeys(columns, ())
    values = np.column_stack(list(columns.values()))
    values[np.isinf(values)] = np.nan
    fitted = clone(discretiser).fit(values, sample_weight=weights)
    return dict(zip(columns, fitted.cut_points_, strict=True))
