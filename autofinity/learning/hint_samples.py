"""Samples of a run in the affinity where it is sampled: means over windows of sample periods.

A decision is made from the affinity in which a sample is taken (spread at first), so rules are
learned only from samples in that affinity. The first periods of a run have cold caches and are no
evidence of its later behaviour.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from autofinity.learning.leeway_hints import HintsOf
from autofinity.model.affinity import Affinity, Hint
from autofinity.store.observation_table import ObservationTable, number_combinations

type Ints = npt.NDArray[np.int64]

WARMUP_PERIODS = 1
"""Number of cold periods at the start of a run that are left out. With none left out the default
policy is as good (docs/policy-study.md)."""


def samples_in(
    hint: Hint, table: ObservationTable, hints_of: HintsOf, periods: int
) -> tuple[ObservationTable, Ints]:
    """One row for each window of `periods` periods (0: the whole run), over the runs in affinities
    of `hint`.

    Counters are means over the window; all other columns are those of its first period. The first
    `WARMUP_PERIODS` of a run are left out unless it has no others. A window at the end that is
    shorter than half of `periods` is left out unless it is the only one. The function also returns
    the number of that first row in `table`.
    """
    members = np.array(
        [hint in hints_of(Affinity.parse(name)) for name in table.affinity.names], bool
    )
    rows = np.flatnonzero(members[table.affinity.codes])
    if not len(rows):
        return table.take(rows), rows
    run = number_combinations(table.workload(), table.affinity.codes, table.seed)[rows]
    pieces: list[Ints] = []
    for mine in np.split(rows, np.flatnonzero(np.diff(run)) + 1):
        pieces.extend(windows(mine, table.sample[mine], WARMUP_PERIODS, periods))
    together = np.concatenate(pieces)
    lengths = np.array([len(piece) for piece in pieces])
    starts = np.cumsum(lengths) - lengths
    means = {
        name: np.add.reduceat(values[together], starts) / lengths
        for name, values in table.counters.items()
    }
    return replace(table.take(together[starts]), counters=means), together[starts]


def windows(rows: Ints, sample: Ints, warmup: int, periods: int) -> list[Ints]:
    """The rows of one run, cut into windows; `sample` is the number of each row's period."""
    warm = rows[sample >= warmup]
    kept = warm if len(warm) else rows[-1:]
    if periods == 0 or len(kept) <= periods:
        return [kept]
    pieces = np.split(kept, np.arange(periods, len(kept), periods))
    if len(pieces[-1]) < (periods + 1) // 2:
        pieces.pop()
    return pieces
