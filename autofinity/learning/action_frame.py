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
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from autofinity.foreign_frame import check_names, numbers, shown, texts
from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.errors import LearningError

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


def checked(table: pd.DataFrame) -> pd.DataFrame:
    """The action table that a user made or changed, in the form of `action_frame`: hints may be
    text, rows and columns may be in any order, other columns are left out.

    Raises `LearningError`, which names the column, for a table of another form.
    """
    check_names(table, LearningError, "the action table")
    bins = [name for name in table.columns if name.startswith(BIN)]
    expected = f"{BIN}FEATURE, affinity, {', '.join(CONSEQUENCES)}, best and weight"
    for name in ("affinity", *CONSEQUENCES, "best", "weight"):
        if name not in table.columns:
            raise LearningError(
                f"the action table lacks the column {shown(name)}, expected {expected}; begin with "
                "a table of `action_table`"
            )
    if not len(table):
        raise LearningError("the action table has no rows, expected at least one")
    for name in bins:
        _check_bins(table[name], name)
    columns = {
        name: numbers(table[name], name, LearningError) for name in (*CONSEQUENCES, "weight")
    }
    for name in CONSEQUENCES:
        if np.isinf(columns[name]).any():
            raise LearningError(f"the column {shown(name)} is infinite, expected finite or NaN")
    worth = np.column_stack([columns[name] for name in CONSEQUENCES])
    if np.isnan(worth).all(axis=1).any():
        raise LearningError("a row of the action table has no consequence, expected one at least")
    if np.nanmin(worth) < 0 < np.nanmax(worth):
        raise LearningError(
            f"the consequences are {np.nanmin(worth):g} to {np.nanmax(worth):g}, expected values "
            "of one metric: all of them 0 or more, or all 0 or less"
        )
    if not ((columns["weight"] > 0) & np.isfinite(columns["weight"])).all():
        raise LearningError("the column 'weight' has a value that is not finite and above 0")
    best = [_letters(text) for text in texts(table["best"], "best", LearningError).astype(str)]
    affinity = texts(table["affinity"], "affinity", LearningError)
    try:
        for name in affinity.cat.categories:
            Affinity.parse(name)
    except ValueError as error:
        raise LearningError(f"the column 'affinity': {error}") from None
    named = pd.Categorical(best, [str(hint) for hint in HINTS])
    kept = table[[*bins, "affinity", *CONSEQUENCES, "best", "weight"]]
    return kept.assign(affinity=affinity, best=named, **columns)


def _letters(text: str) -> str:
    """Letters of the hint that a person wrote. Raises `LearningError`."""
    try:
        return str(Hint.parse(text))
    except ValueError:
        raise LearningError(
            f"the column 'best' has {shown(text)}, expected names or letters of hints: "
            + ", ".join(hint.shown for hint in HINTS)
        ) from None


def _check_bins(column: pd.Series[Any], name: str) -> None:
    """Raise `LearningError` unless the column has ordered bins without gaps, one in each row."""
    found = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else None
    if not isinstance(found, pd.IntervalIndex) or found.closed != "right" or column.hasnans:
        raise LearningError(
            f"the column {shown(name)} has {column.dtype}, expected a bin in every row: a category "
            "of intervals (lower, upper], as `action_table` makes it"
        )
    edges = np.append(found.left, found.right[-1:])
    joined = bool((found.left[1:] == found.right[:-1]).all() and (np.diff(edges) > 0).all())
    if not joined or list(edges[[0, -1]]) != [-np.inf, np.inf]:
        raise LearningError(
            f"the bins of the column {shown(name)} do not follow one another from -inf to inf; "
            "take them as `action_table` makes them"
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
