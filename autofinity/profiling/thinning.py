"""Fewer rows for files that are shipped: most runs keep only the mean over their sample periods.

Policies start from samples taken in the best match of a hint. For all other runs, learning and
evaluation from whole runs use the mean performance, the time and the energy, which do not change.
Labels of sample periods (the paper's method) need all periods.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from autofinity.model.affinity import Affinity
from autofinity.profiling.placements import SWITCH_AFTER
from autofinity.store.observation_table import Floats, ObservationTable, number_combinations


def thinned(
    table: ObservationTable, best_matches: Mapping[int, Collection[Affinity]]
) -> ObservationTable:
    """One row for most runs; a mean row is sample 0.

    Runs in a best match keep all rows. Switched runs keep the first periods, in which a second look
    is taken.

    `best_matches` are those of the thread counts to thin; runs of other counts stay as they are. A
    mean leaves out periods in which a counter is missing.
    """
    if not len(table):
        return table
    run = number_combinations(
        table.workload(), table.placement.codes, table.affinity.codes, table.seed
    )
    kept = ~np.isin(table.threads, list(best_matches))
    placed = table.placement.text() == "affinity"
    for threads, matches in best_matches.items():
        matching = np.isin(table.affinity.text(), [str(affinity) for affinity in matches])
        kept |= (table.threads == threads) & placed & matching
    switched = table.placement.text() == "switched"
    kept |= switched & (table.sample < 2 * SWITCH_AFTER)
    _, first, run = np.unique(run, return_index=True, return_inverse=True)
    mean = first[~kept[first]]

    def averaged(values: Floats) -> Floats:
        known = ~np.isnan(values)
        total = np.bincount(run, weights=np.where(known, values, 0.0))
        count = np.bincount(run, weights=known)
        with np.errstate(invalid="ignore"):
            means = total / count
        whole = values.copy()
        whole[mean] = means[run[mean]]
        return whole

    rows = np.sort(np.concatenate([np.flatnonzero(kept), mean]))
    everything = replace(
        table,
        progress=averaged(table.progress),
        performance=averaged(table.performance),
        counters={name: averaged(values) for name, values in table.counters.items()},
    )
    return everything.take(rows)
