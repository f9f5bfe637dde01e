"""The growing step of RIPPER that tries every condition, for comparison with the native core."""

import math

import numpy as np


def conditions(values: np.ndarray, nominal: list[bool]) -> list[tuple[int, str, float]]:
    """Every condition that separates values: (column, relation, number)."""
    found = []
    for column, names in enumerate(nominal):
        distinct = np.unique(values[:, column][~np.isnan(values[:, column])])
        if names:
            found += [(column, "=", float(value)) for value in distinct]
        else:
            halves = (distinct[1:] + distinct[:-1]) / 2
            found += [(column, how, float(half)) for half in halves for how in ("<=", ">")]
    return found


def holds(values: np.ndarray, condition: tuple[int, str, float]) -> np.ndarray:
    """Rows for which the condition is true; it is never true for a missing value."""
    column, how, number = condition
    seen = values[:, column]
    return seen <= number if how == "<=" else seen > number if how == ">" else seen == number


def gain(
    values: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    least_weight: float,
    condition: tuple[int, str, float],
) -> float:
    """Gain in bits by Quinlan's FOIL; 0 where too little weight stays covered."""
    stays = holds(values, condition)
    right, wrong = weights[labels == 1].sum(), weights[labels == 0].sum()
    p, n = weights[stays & (labels == 1)].sum(), weights[stays & (labels == 0)].sum()
    if p <= 0 or p + n < least_weight:
        return 0.0
    return float(p * (math.log2(p / (p + n)) - math.log2(right / (right + wrong))))
