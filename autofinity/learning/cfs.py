"""Correlation-based feature selection of our own: the merit of a set, and a greedy ranking.

Source: M. Hall, "Correlation-based Feature Selection for Machine Learning" (1999), for a numeric
class: merit = Σ r(c, f) / √(Σ Σ r(f, g)), r the absolute Pearson correlation. WEKA 3.9.7 weighs
each counter by its standard deviation in both sums, which lets the counter with the largest
numbers decide; `weights` of `deviations` give that, weights of one Hall's formula.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

type Floats = npt.NDArray[np.float64]


def correlations(values: Floats, target: Floats) -> tuple[Floats, Floats]:
    """|r| of each column with the target, and of each column with each: (columns,), (c, c).

    NaN is replaced by the column's mean; a constant column correlates with nothing. Values are in
    single precision, as in WEKA. The precision decides the order of counters that add nothing to a
    counter that is the target in other units.
    """
    columns = np.column_stack([values, target])
    means = np.nanmean(columns, axis=0)
    centred = np.where(np.isnan(columns), 0.0, columns - means)
    length = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    length[length == 0] = np.inf
    unit = centred / length
    matrix = np.abs(unit.T @ unit).astype(np.float32).astype(np.float64)
    np.fill_diagonal(matrix, 1.0)
    return matrix[:-1, -1], matrix[:-1, :-1]


def deviations(values: Floats) -> Floats:
    """Standard deviation of each column, with missing values at the mean."""
    centred = np.where(np.isnan(values), 0.0, values - np.nanmean(values, axis=0))
    found: Floats = np.sqrt(np.mean(centred**2, axis=0))
    return found


def greedy_ranking(
    with_target: Floats, between: Floats, weights: Floats
) -> list[tuple[int, float]]:
    """Columns in the order in which a greedy search adds them, with the merit of the set so far.

    Both sums go by the number of the column, as WEKA's do, whatever the order of the search: where
    two counters have the same values, the last bit of a sum decides which of them is ranked first.
    """
    count = len(with_target)
    rows, columns = np.tril_indices(count)
    diagonal_first = np.lexsort((columns, rows != columns, rows))
    rows, columns = rows[diagonal_first], columns[diagonal_first]
    gain = weights * with_target
    cost = weights[rows] * weights[columns] * between[rows, columns]
    cost[rows != columns] *= 2
    members = np.zeros(count, bool)
    ranking = []
    for _ in range(count):
        left = np.flatnonzero(~members)
        tried = np.repeat(members[None], len(left), axis=0)
        tried[np.arange(len(left)), left] = True
        totals = _sums(tried * gain)
        spreads = _sums(tried[:, rows] * tried[:, columns] * cost)
        merits = np.where(spreads > 0, totals / np.sqrt(np.where(spreads > 0, spreads, 1.0)), 0.0)
        at = int(np.argmax(merits))
        members[left[at]] = True
        ranking.append((int(left[at]), float(merits[at])))
    return ranking


def _sums(terms: Floats) -> Floats:
    """Sum of each row, term after term."""
    sums: Floats = np.cumsum(terms, axis=1)[:, -1]
    return sums
