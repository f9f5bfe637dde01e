"""The metric to be maximised, and the programs that are sensitive to affinity.

A *workload* is one program with one input and one thread count; performances are compared within a
workload only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from autofinity.learning.settings import METRICS, Labels, Metric
from autofinity.model.errors import LearningError
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]

INSENSITIVE_BELOW = 0.01
"""Least standard deviation of the ROI time over its mean, across affinities (paper, section
3.4)."""


def performance_of(table: ObservationTable, metric: Metric, labels: Labels) -> Floats:
    """The metric for each observation, larger is better; `labels` are those that it judges.

    * `ipc`: the `performance` column, instructions per elapsed cycle and thread.
    * `speed`: 1 / ROI time of the whole run, 1/s; spinning does not distort it.
    * `throughput`: useful work per second. A run does the same work wherever it is placed, so
      for runs it is `speed`; for periods the counter `useful_work`, which the program reports.
    * `-energy`: minus the `energy_j` column, joules of the whole machine over the whole ROI.
    * `-energy-delay`: minus `energy_j` × ROI time, joule seconds.

    Raises `LearningError`, which names the missing column.
    """
    if metric == "ipc":
        return table.performance
    if metric == "speed" or (metric == "throughput" and labels == "runs"):
        return np.reciprocal(table.roi_s)
    if metric == "throughput":
        return _useful_work(table)
    if metric == "-energy":
        return -_energy(table, metric)
    if metric == "-energy-delay":
        return -_energy(table, metric) * table.roi_s
    raise LearningError(f"metric {metric!r}: expected one of {', '.join(METRICS)}")


def _energy(table: ObservationTable, metric: str) -> Floats:
    if not np.any(np.isfinite(table.energy_j)):
        raise LearningError(
            f"the metric {metric} needs energy_j, which no row of these observations has; profile "
            "with a machine that has prices of energy (a simulated one whose preset has an "
            "[energy] "
            "table), or choose --metric ipc"
        )
    return table.energy_j


def _useful_work(table: ObservationTable) -> Floats:
    if "useful_work" not in table.counters:
        raise LearningError(
            "the metric throughput needs the column 'useful_work', which these observations lack; "
            "profile with a machine that measures it (a simulated one), or choose --metric ipc or "
            "--labels runs"
        )
    return table.counters["useful_work"]


def normalised(performance: Floats, workload: npt.NDArray[np.int64]) -> Floats:
    """Each performance divided by the smallest of its workload (paper, section 3.4).

    The smallest is that of the magnitudes without zeros, so that larger stays better for negative
    metrics and a stalled period causes no division by zero.
    """
    magnitude = np.abs(performance)
    magnitude[~(np.isfinite(magnitude) & (magnitude > 0))] = np.inf
    smallest = np.full(int(workload.max(initial=-1)) + 1, np.inf)
    np.minimum.at(smallest, workload, magnitude)
    smallest[np.isinf(smallest)] = 1.0
    scale: Floats = smallest[workload]
    return performance / scale


def insensitive_workloads(table: ObservationTable) -> dict[int, str]:
    """Workloads whose ROI time varies by less than 1 % across affinities: number → name.

    The time in an affinity is the mean over its seeds. A workload that was measured in a single
    affinity has no comparison and counts as insensitive.
    """
    workload = table.workload()
    names = {}
    first_of_run = np.ones(len(table), dtype=bool)
    same = (table.affinity.codes[1:] == table.affinity.codes[:-1]) & (
        table.seed[1:] == table.seed[:-1]
    )
    first_of_run[1:] = ~(same & (workload[1:] == workload[:-1]))
    runs = np.flatnonzero(first_of_run)
    for number in np.unique(workload[runs]):
        mine = runs[workload[runs] == number]
        _, place = np.unique(table.affinity.codes[mine], return_inverse=True)
        times = np.bincount(place, weights=table.roi_s[mine]) / np.bincount(place)
        if not np.std(times) >= INSENSITIVE_BELOW * np.mean(times):
            row = mine[0]
            program = table.program.names[table.program.codes[row]]
            data = table.input.names[table.input.codes[row]]
            names[int(number)] = f"{program} ({data}, {table.threads[row]} threads)"
    return names
