"""Times (or energies) of the region of interest by workload and affinity, which policies are judged
by.

A thin index over observations; nothing is learned here.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from autofinity.model.affinity import Affinity
from autofinity.model.errors import LearningError
from autofinity.model.observation import Workload
from autofinity.store.observation_table import ObservationTable

BASELINES = ("os", "compact", "random")
"""Placements that no affinity describes."""


@dataclass(frozen=True, slots=True)
class Times:
    """Geometric means over seeds, in seconds (in joules where energy is requested)."""

    roi_s: Mapping[Workload, Mapping[Affinity, float]]
    """Times of runs that an affinity placed from the start."""
    switched: Mapping[Workload, Mapping[Affinity, float]] = field(default_factory=dict)
    """Times of runs that were switched to the affinity after they were sampled."""
    probed: Mapping[Workload, Mapping[Affinity, float]] = field(default_factory=dict)
    """Times of runs that were switched to the affinity after a second look elsewhere."""
    baselines: Mapping[Workload, Mapping[str, float]] = field(default_factory=dict)
    """Times of those of `os`, `compact` and `random` that were profiled."""

    def of(self, workload: Workload, affinity: Affinity) -> float:
        """Time of one affinity. Raises `LearningError` when it was not profiled."""
        found = self.roi_s[workload].get(affinity)
        if found is None:
            raise LearningError(
                f"{workload.program} with {workload.threads} threads has no time in affinity "
                f"{affinity}: it ended within a sample period there, or was not profiled "
                "(autofinity profile --affinities hints covers all hints)"
            )
        return found

    def placed(self, workload: Workload) -> int:
        """Number of threads that cores were chosen for.

        It differs from the workload's count where the program starts more threads than requested.
        """
        return max(affinity.threads for affinity in self.roi_s[workload])

    def oracle(self, workload: Workload) -> tuple[Affinity, float]:
        """The best profiled affinity, and its time (`oracle-affinity`)."""
        return min(self.roi_s[workload].items(), key=lambda item: (item[1], item[0]))


def times_of(table: ObservationTable, column: Literal["roi_s", "energy_j"] = "roi_s") -> Times:
    """Index the times; each run counts once, whatever its number of samples.

    With `energy_j` all values are joules; runs without energy are left out.
    """
    runs: dict[str, dict[Workload, dict[Affinity, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    affinities = [Affinity.parse(name) for name in table.affinity.names]
    values = getattr(table, column)
    for row in np.flatnonzero((table.sample == 0) & ~np.isnan(values)):
        workload = Workload(
            table.program.names[table.program.codes[row]],
            table.input.names[table.input.codes[row]],
            int(table.threads[row]),
        )
        placement = table.placement.names[table.placement.codes[row]]
        affinity = affinities[table.affinity.codes[row]]
        runs[placement][workload][affinity].append(float(values[row]))

    def by_affinity(placement: str) -> dict[Workload, dict[Affinity, float]]:
        return {
            workload: {affinity: geometric_mean(some) for affinity, some in found.items()}
            for workload, found in runs[placement].items()
        }

    baselines: dict[Workload, dict[str, float]] = defaultdict(dict)
    for name in BASELINES:
        for workload, found in runs[name].items():
            # Random cores, or those of the operating system, may be of any class.
            baselines[workload][name] = geometric_mean(v for some in found.values() for v in some)
    return Times(by_affinity("affinity"), by_affinity("switched"), by_affinity("probed"), baselines)


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean; NaN without values."""
    logs = [math.log(value) for value in values]
    return math.exp(math.fsum(logs) / len(logs)) if logs else float("nan")
