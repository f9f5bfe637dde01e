"""Programs held out of training, by scikit-learn's splitter: none is on both sides of a fold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import LeaveOneGroupOut

type Ints = npt.NDArray[np.int64]


def held_out(program: npt.NDArray[np.integer], folds: int | None = None) -> list[tuple[Ints, Ints]]:
    """Rows to learn from and rows held out, fold by fold; `program` numbers the program of each
    row.

    The programs are assigned to the `folds` in turn (None: each has its own), so that the fold of a
    program does not depend on the number of rows of the others. A single program leaves nothing to
    learn from.
    """
    _, number = np.unique(program, return_inverse=True)
    fold = number % (folds or len(number) or 1)
    if not fold.any():
        return [(np.empty(0, np.int64), np.arange(len(fold)))]
    return list(LeaveOneGroupOut().split(fold, groups=fold))
