"""Weights of rows, as estimators take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_sample_weight

from autofinity.learning.float_input import within_float64

type Floats = npt.NDArray[np.float64]

LARGEST_SUM = 1e300
"""Leaves room for what learners compute of weights."""


def checked_weights(sample_weight: Any, values: Floats, losses: Floats | None = None) -> Floats:
    """One weight for each row of `values` (n × features): a number for all, n numbers, or None for
    1 each.

    Raises `ValueError` as scikit-learn's estimators do: for another number of weights, for NaN and
    infinite ones, and where all are zero. Beyond that, for whole numbers beyond float64; for
    negative weights, of which no row can be a share; and where the sum of the weights, or of
    weighted `losses` (n × classes), is above `LARGEST_SUM`: near the end of float64 scikit-learn's
    trees give wrong shares, and a warning.
    """
    with within_float64("sample weights"):
        weights: Floats = _check_sample_weight(
            sample_weight, values, dtype=np.float64, ensure_non_negative=True
        )
    if not (weights > 0).any():
        raise ValueError("the sample weights are all zero, expected a non-zero one")
    with np.errstate(over="ignore", invalid="ignore"):
        total = weights.sum()
        lost = 0.0 if losses is None else (weights[:, None] * np.abs(losses)).sum()
    for what, number in (("sample weights", total), ("losses times the sample weights", lost)):
        if not number <= LARGEST_SUM:
            raise ValueError(
                f"the sum of the {what} is {number:.3g}, expected at most {LARGEST_SUM:g}; divide "
                "them by the largest one"
            )
    return weights
