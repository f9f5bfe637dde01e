"""The action table as a pandas DataFrame: its columns, also as arrays.

| column | dtype | meaning |
|---|---|---|
| `bin:COUNTER` | category of intervals | bin of a chosen counter, between its cut points |
| `affinity` | category of text | affinity in which the behaviour was sampled |
| `consequence:HINT` | float64 | condensed performance; NaN without a destination |
| `best` | category of `HINTS` | the label |
| `weight` | float64 | observations behind the row |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from autofinity.model.affinity import HINTS, Affinity

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]

BIN = "bin:"
CONSEQUENCES = tuple(f"consequence:{hint}" for hint in HINTS)


def action_frame(
    cut_points: Mapping[str, tuple[float, ...]],
    bins: Ints,
    affinities: Sequence[Affinity],
    affinity: Ints,
    consequences: Floats,
    best: Ints,
    weight: Floats,
) -> pd.DataFrame:
    """A table of n rows.

    `bins` is n × counters, in the order of `cut_points`; `consequences` is n × 8, in the order of
    `HINTS`. `affinity` are indices into `affinities`, `best` into `HINTS`.

    Raises `ValueError` for indices out of range.
    """
    binned = {
        BIN + name: pd.Categorical.from_codes(bins[:, i], intervals(cuts), ordered=True)
        for i, (name, cuts) in enumerate(cut_points.items())
    }
    return pd.DataFrame(
        {
            **binned,
            "affinity": pd.Categorical.from_codes(affinity, [str(each) for each in affinities]),
            **dict(zip(CONSEQUENCES, consequences.T, strict=True)),
            "best": pd.Categorical.from_codes(best, [str(hint) for hint in HINTS]),
            "weight": weight,
        }
    )


def intervals(cuts: Sequence[float]) -> pd.IntervalIndex:
    """Bins as (lower, upper] intervals of the counter."""
    return pd.IntervalIndex.from_breaks([-np.inf, *cuts, np.inf])


def cut_points_of(table: pd.DataFrame) -> dict[str, tuple[float, ...]]:
    """Inner bin edges of each counter of the table, in order."""
    return {
        name.removeprefix(BIN): tuple(table[name].cat.categories.right[:-1].tolist())
        for name in table.columns
        if name.startswith(BIN)
    }


def bins_of(table: pd.DataFrame) -> Ints:
    """Bin numbers from 0: rows × counters."""
    codes = [table[name].cat.codes for name in table.columns if name.startswith(BIN)]
    return np.array(codes, np.int64).reshape(len(codes), len(table)).T


def consequences_of(table: pd.DataFrame) -> Floats:
    """Consequences: rows × 8, in the order of `HINTS`."""
    return np.ascontiguousarray(table[list(CONSEQUENCES)].to_numpy(np.float64))


def best_of(table: pd.DataFrame) -> Ints:
    """Index into `HINTS` of each row's label."""
    return np.array(table["best"].cat.codes, np.int64)
