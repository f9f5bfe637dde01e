"""How well a sharing matrix agrees with another one."""

from __future__ import annotations

import numpy as np

from autofinity.model.errors import UsageError
from autofinity.model.sharing import SharingMatrix


def correlation(a: SharingMatrix, b: SharingMatrix) -> float:
    """Pearson's r of the cells beside the diagonal; NaN where one matrix has all of them equal.

    Raises `UsageError` for matrices of different size.
    """
    if a.threads != b.threads:
        raise UsageError(f"got matrices of {a.threads} and {b.threads} threads; expected the same")
    beside = ~np.eye(a.threads, dtype=bool)
    first, second = (np.array(each.cells, dtype=float)[beside] for each in (a, b))
    if not len(first) or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])
