"""Series of recorded runs: the rows of the store, none left out and none made up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.recorded_series import MOST_POINTS, recorded_series
from autofinity.model.affinity import SPREAD, Affinity
from autofinity.model.observation import Workload
from autofinity.store.observation_table import ObservationTable
from autofinity.workflow.backends import machine_topology
from autofinity.workflow.observations import observations_of

MACHINE = "xeon-e5-2650"
COUNTERS = ("instructions", "llc_misses")


@pytest.fixture(scope="module")
def table() -> ObservationTable:
    return observations_of(MACHINE)


def spread(threads: int) -> Affinity:
    return BestMatches(machine_topology(MACHINE))(threads, SPREAD)


def rows_of(table: ObservationTable, work: Workload) -> np.ndarray:
    rows = table.rows_of(*work, "affinity", spread(work.threads))
    return rows[table.seed[rows] == table.seed[rows].min()]


def test_a_short_run_has_a_point_for_each_sample_period_of_its_lowest_seed(
    table: ObservationTable,
) -> None:
    work = Workload("stencil", "small", 8)  # which has three seeds
    rows = rows_of(table, work)
    assert 1 < len(rows) <= MOST_POINTS
    assert len(set(table.seed[table.rows_of(*work, "affinity", spread(8))])) > 1
    series = recorded_series(table, work, spread(8), (*COUNTERS, "no_such_counter"))
    assert series is not None
    assert series.periods == len(rows)
    assert series.by_work
    assert series.at == tuple(table.progress[rows])
    assert series.values == {name: tuple(table.counters[name][rows]) for name in COUNTERS}


def test_points_of_a_long_run_are_means_of_neighbours(table: ObservationTable) -> None:
    lengths = {
        Workload(name, "memory", 8): len(rows_of(table, Workload(name, "memory", 8)))
        for name in ("cg", "power", "scan", "lbm", "kmedian")
        if len(table.rows_of(name, "memory", 8, "affinity", spread(8)))
    }
    work = max(lengths, key=lambda work: lengths[work])
    repeated = table.take(np.repeat(rows_of(table, work), 3 * MOST_POINTS))
    series = recorded_series(repeated, work, spread(8), COUNTERS)
    assert series is not None
    assert len(series.at) == MOST_POINTS
    whole = repeated.counters["instructions"].mean()
    assert np.mean(series.values["instructions"]) == pytest.approx(whole)


def test_without_progress_points_are_at_shares_of_the_periods(table: ObservationTable) -> None:
    work = Workload("stencil", "small", 8)
    rows = rows_of(table, work)
    unknown = replace(table, progress=np.full(len(table), np.nan))
    series = recorded_series(unknown, work, spread(8), COUNTERS)
    assert series is not None
    assert not series.by_work
    assert series.at == pytest.approx([(at + 0.5) / len(rows) for at in range(len(rows))])


def test_what_was_not_recorded_has_no_series(table: ObservationTable) -> None:
    assert recorded_series(table, Workload("stencil", "small", 7), spread(7), COUNTERS) is None
    work = Workload("stencil", "small", 8)
    assert recorded_series(table, work, spread(8), ("no_such_counter",)) is None
