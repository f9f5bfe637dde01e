"""Correspondence between sample periods of two runs (figure 6, line 3).

By progress: the period whose middle is nearest in useful work done (known in the simulator). By
index: the same number of periods after the start, which is elapsed time (the only measure on a real
machine). Only runs of the same workload and seed correspond.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from autofinity.store.observation_table import ObservationTable, number_combinations

type Ints = npt.NDArray[np.int64]


class Periods:
    """Index over a table: `find(rows, affinity)` gives the rows of another affinity at the same
    time.
    """

    def __init__(self, table: ObservationTable) -> None:
        """Match by progress when every row has a progress and all rows come from the simulator."""
        known = bool(np.isfinite(table.progress).all())
        backends = {table.backend.names[code] for code in np.unique(table.backend.codes)}
        self.by_progress = known and backends == {"sim"}
        # A family holds the runs of one workload and seed: they differ in affinity only.
        self._family = number_combinations(table.workload(), table.seed)
        affinities = len(table.affinity.names)
        run = self._family * affinities + table.affinity.codes
        # The table is sorted by run, so each run is a range of rows.
        self._starts = np.flatnonzero(np.append(True, run[1:] != run[:-1]))
        lengths = np.diff(np.append(self._starts, len(run)))
        self._lengths = lengths
        families = int(self._family.max(initial=-1)) + 1
        self._run_of = np.full((families, affinities), -1, dtype=np.int64)
        first = self._starts
        self._run_of[self._family[first], table.affinity.codes[first]] = np.arange(len(first))
        self._number = np.repeat(np.arange(len(first)), lengths)
        self._sample = table.sample
        self._progress = table.progress
        # Ranks, since numbers of samples may be any, also below zero.
        places = table.progress if self.by_progress else table.sample
        distinct, rank = np.unique(places, return_inverse=True)
        self._spread, self._rank = len(distinct), rank.astype(np.int64)
        keys = self._number * self._spread + self._rank
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        # The first of rows with equal keys (no progress between them) stands for all.
        repeated = np.append(False, self._keys[1:] == self._keys[:-1])
        self._order = order[np.maximum.accumulate(np.where(repeated, 0, np.arange(len(order))))]
        within = np.arange(len(run)) - np.repeat(first, lengths)
        self._contiguous = bool((table.sample == within).all())

    def find(self, rows: Ints, affinity: int) -> Ints:
        """Row of `affinity` (a code) in the same period as each of `rows`; −1 where there is
        none.
        """
        run = self._run_of[self._family[rows], affinity]
        if not self.by_progress and self._contiguous:
            inside = (run >= 0) & (self._sample[rows] < self._lengths[run])
            return np.where(inside, self._starts[run] + self._sample[rows], -1)
        wanted = run * self._spread + self._rank[rows]
        at = np.searchsorted(self._keys, wanted)
        if not self.by_progress:
            at_most = np.minimum(at, len(self._keys) - 1)
            return np.where((run >= 0) & (self._keys[at_most] == wanted), self._order[at_most], -1)
        return np.where(run >= 0, self._nearest(rows, run, at), -1)

    def _nearest(self, rows: Ints, run: Ints, at: Ints) -> Ints:
        """The nearer of the rows on either side of `at` in the run; the earlier one if equal."""
        first, last = self._starts[run], self._starts[run] + self._lengths[run] - 1
        after = self._order[np.clip(at, first, last)]
        before = self._order[np.clip(at - 1, first, last)]
        progress = self._progress[rows]
        ahead = np.abs(self._progress[after] - progress)
        nearer = (np.abs(progress - self._progress[before]) <= ahead) & (ahead > 0)
        return np.where(nearer, before, after)
