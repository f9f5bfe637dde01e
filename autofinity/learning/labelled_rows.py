"""Rows to learn hints from, as estimators take them: values, labels, losses, weights, programs.

Two sources: observations (a row per sample, with its program), and an action table (a row per
behaviour, which several programs may have).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from autofinity.learning.action_frame import best_of, bins_of, cut_points_of
from autofinity.learning.hint_losses import workload_weights
from autofinity.learning.regret_policy import losses_of
from autofinity.model.errors import LearningError
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """n rows."""

    values: pd.DataFrame
    """n × features; NaN where a value is unknown."""
    best: Ints
    """Index into `HINTS` of the hint with the least loss (n)."""
    losses: Floats
    """Loss of each hint (n × 8): log of its time over the best hint's; no NaN."""
    weights: Floats
    programs: npt.NDArray[np.str_] | None
    """Program of each row; None: a row may be of several."""
    cut_points: Mapping[str, tuple[float, ...]]
    """Edges between bins of each feature."""


def rows_of_behaviours(
    behaviours: ObservationTable,
    workload: Ints,
    losses: Floats,
    cut_points: Mapping[str, tuple[float, ...]],
) -> LabelledRows:
    """A row per behaviour with a known loss; the rows of a workload weigh 1 together.

    `workload` is each behaviour's row in `losses` (`hint_losses.hint_losses`). A hint that was
    never tried counts as the worst one. Raises `LearningError` where no row is left.
    """
    known = ~np.isnan(losses[workload]).all(axis=1)
    if not known.any():
        raise LearningError("no behaviour has a hint with a known loss; profile more affinities")
    loss = losses[workload[known]]
    loss = np.where(np.isnan(loss), np.nanmax(loss, axis=1, keepdims=True), loss)
    columns = {name: behaviours.counters[name][known] for name in cut_points}
    values = pd.DataFrame({name: np.where(np.isinf(c), np.nan, c) for name, c in columns.items()})
    names = np.array(behaviours.program.names)[behaviours.program.codes[known]]
    weights = workload_weights(workload[known])
    return LabelledRows(values, np.argmin(loss, axis=1), loss, weights, names, dict(cut_points))


def rows_of_table(table: pd.DataFrame) -> LabelledRows:
    """The rows of an action table; a value is one inside its bin: the upper edge, which belongs to
    it, and in the last bin the next number above the edge.
    """
    cut_points = cut_points_of(table)
    values = {
        name: np.array([*cuts, np.nextafter(cuts[-1], np.inf)] if cuts else [0.0])[bins]
        for (name, cuts), bins in zip(cut_points.items(), bins_of(table).T, strict=True)
    }
    weights = table["weight"].to_numpy(np.float64)
    return LabelledRows(
        pd.DataFrame(values), best_of(table), losses_of(table), weights, None, cut_points
    )
