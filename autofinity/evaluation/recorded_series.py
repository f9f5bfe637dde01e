"""A recorded run over time: counters of each of its sample periods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autofinity.model.affinity import Affinity
from autofinity.model.observation import Workload
from autofinity.store.observation_table import ObservationTable

MOST_POINTS = 48
"""Points of a series; more sample periods are means of neighbours."""


@dataclass(frozen=True, slots=True)
class RecordedSeries:
    """The run with the lowest seed of a workload in an affinity."""

    periods: int
    """Sample periods on record."""
    at: tuple[float, ...]
    """Share of the work that was done at the middle of each point; where that is not on record,
    share of the run's periods."""
    by_work: bool
    """Whether the points are at shares of the work."""
    values: Mapping[str, tuple[float, ...]]
    """By counter: mean over the threads at each point, per thread and second."""


def recorded_series(
    table: ObservationTable, workload: Workload, affinity: Affinity, counters: Sequence[str]
) -> RecordedSeries | None:
    """The series of the counters that the run has; None where it has none or there is no run."""
    work = workload
    rows = table.rows_of(work.program, work.input, work.threads, "affinity", affinity)
    if not len(rows):
        return None
    rows = rows[table.seed[rows] == table.seed[rows].min()]
    parts = np.array_split(rows, min(MOST_POINTS, len(rows)))
    means = {
        name: _means(table.counters[name], parts) for name in counters if name in table.counters
    }
    values = {name: each for name, each in means.items() if not np.all(np.isnan(each))}
    if not values:
        return None
    progress = _means(table.progress, parts)
    by_work = not np.any(np.isnan(progress))
    ends = np.cumsum([len(part) for part in parts])
    middles = (ends - np.array([len(part) for part in parts]) / 2) / len(rows)
    return RecordedSeries(
        len(rows), progress if by_work else tuple(middles.tolist()), by_work, values
    )


def _means(
    column: npt.NDArray[np.float64], parts: Sequence[npt.NDArray[np.int64]]
) -> tuple[float, ...]:
    return tuple(float(column[part].mean()) for part in parts)
