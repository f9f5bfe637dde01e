"""How far repeated runs of a case differ: its regret in runs with each seed alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autofinity.evaluation.cases import Case
from autofinity.model.affinity import Affinity
from autofinity.store.observation_table import ObservationTable


@dataclass(frozen=True, slots=True)
class SeedSpread:
    """Range of a case's regret over seeds. A seed changes page colours and the scheduler."""

    low: float
    high: float
    seeds: int


def regret_spread(table: ObservationTable, case: Case) -> SeedSpread | None:
    """Regret of the chosen affinity against the best hint's, seed by seed; None for fewer than two
    seeds. Below 0: with that seed the chosen affinity was the faster one.
    """
    own = _times(table, case, case.affinities["autofinity"])
    best = _times(table, case, case.affinities["best_hint"])
    regrets = [own[seed] / best[seed] - 1 for seed in own if seed in best]
    if len(regrets) < 2:
        return None
    return SeedSpread(min(regrets), max(regrets), len(regrets))


def _times(table: ObservationTable, case: Case, affinity: Affinity) -> dict[int, float]:
    """Seconds by seed."""
    work = case.workload
    rows = table.rows_of(work.program, work.input, work.threads, "affinity", affinity)
    first = rows[(table.sample[rows] == 0) & ~np.isnan(table.roi_s[rows])]
    return {int(table.seed[row]): float(table.roi_s[row]) for row in first}
