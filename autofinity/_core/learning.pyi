"""Rules from rows (C++; see autofinity/native/learning).

Arrays are C-contiguous; NaN is a missing value; labels count from 0. Arrays that do not
agree are a `ValueError`.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

type _Test = tuple[int, str, float]

def ripper(
    values: npt.NDArray[np.float64],
    nominal: Sequence[bool],
    labels: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float64],
    *,
    classes: int,
    passes: int,
    least_weight: float,
    seed: int,
) -> list[tuple[list[_Test], list[float], int]]:
    """Rules in order, the default last: (tests, weight of each class where it fires, label)."""

def best_condition(
    values: npt.NDArray[np.float64],
    nominal: Sequence[bool],
    labels: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float64],
    least_weight: float,
) -> tuple[int, str, float, float] | None:
    """The condition that gains most for label 1 against 0: (column, relation, number, bits)."""

def rule_bits(conditions: float, possible: float) -> float: ...
def exception_bits(
    covered_right: float, covered_wrong: float, left_right: float, left_wrong: float
) -> float: ...
