"""The seven functions that condense many performances to one (paper, sections 2.2 and 3.3).

All work on many groups at once. Members are given as ranks into a sorted list of values, so that a
median over hundreds of millions of members is one sort of integers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from autofinity.learning.settings import CONDENSE, Condense
from autofinity.model.errors import LearningError, UsageError

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]


def condense_groups(function: Condense, by_rank: Floats, ranks: Ints, starts: Ints) -> Floats:
    """One value for each group of `ranks[starts[g] : starts[g + 1]]`, none of them empty.

    `by_rank` holds the values in ascending order. Raises `LearningError` for a geometric or
    harmonic mean of values of both signs, `UsageError` for an unknown function.
    """
    if function not in CONDENSE:
        raise UsageError(f"condense function {function!r}: expected one of {', '.join(CONDENSE)}")
    sizes = np.diff(np.append(starts, len(ranks)))
    if len(sizes) == 0:
        return np.empty(0)
    if function == "median":
        return _median(by_rank, ranks, starts, sizes)
    if function in ("max", "min"):
        pick = np.maximum if function == "max" else np.minimum
        picked: Ints = pick.reduceat(ranks, starts)
        return by_rank[picked]
    if function in ("sum", "mean"):
        totals: Floats = np.add.reduceat(by_rank[ranks], starts)
        if function == "mean":
            totals /= sizes
        return totals
    sign, magnitude = _one_sign(function, by_rank)
    with np.errstate(divide="ignore"):  # a zero makes both means zero
        if function == "gmean":
            means: Floats = np.exp(np.add.reduceat(np.log(magnitude)[ranks], starts) / sizes)
        else:
            means = sizes / np.add.reduceat((1.0 / magnitude)[ranks], starts)
    return sign * means


def condense(function: Condense, values: Floats, starts: Ints) -> Floats:
    """Condense plain values instead of ranks."""
    by_rank, ranks = np.unique(values, return_inverse=True)
    return condense_groups(function, by_rank, ranks.astype(np.int64), starts)


def _median(by_rank: Floats, ranks: Ints, starts: Ints, sizes: Ints) -> Floats:
    """The middle member, or the mean of the two middle members."""
    group = np.repeat(np.arange(len(starts), dtype=np.int64), sizes)
    keys = group * len(by_rank) + ranks
    keys.sort()
    ordered = keys - group * len(by_rank)  # sizes are unchanged, so `group` still fits
    lower: Floats = by_rank[ordered[starts + (sizes - 1) // 2]]
    upper: Floats = by_rank[ordered[starts + sizes // 2]]
    return lower + (upper - lower) / 2


def _one_sign(function: str, values: Floats) -> tuple[float, Floats]:
    """Sign and magnitudes of the values.

    Metrics such as −energy are all negative: the mean is then that of the magnitudes.
    """
    if len(values) == 0 or values[0] >= 0:
        return 1.0, np.abs(values)
    if values[-1] <= 0:
        return -1.0, np.abs(values)
    raise LearningError(
        f"{function} needs performances of one sign, got {values[0]:g} to {values[-1]:g}; "
        "choose --condense median or mean"
    )
