"""The action table for whole runs: what each hint costs the programs that behave so.

Figure 6 compares sample periods; here a hint is judged by the whole run in its affinities, which is
what the choice is worth when a program is started again or has long to go. Hints with the same best
match cost the same, programs weigh the same however long they run, and costs that no measurement
could tell from none are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from autofinity.learning.action_frame import action_frame
from autofinity.learning.discretise import bin_of
from autofinity.learning.leeway_hints import HintsOf
from autofinity.model.affinity import HINTS, Affinity
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]

TIE = 0.01
"""A hint that loses no more than this share of the time against the best loses nothing: what the
evaluation calls equal. With no ties at all the default policy wins 10 of 10 and reaches 0.997 of
the best hint, as it does with this one."""


def log_losses(table: ObservationTable, performance: Floats, hints_of: HintsOf) -> Floats:
    """Workloads × 8: log of (performance of the best hint over that of each), 0 is the best.

    Workloads are numbered as `table.workload()` has them. A hint's performance is the geometric
    mean over its affinities (those that `hints_of` gives it) of the mean over the run; NaN where
    none was profiled. Losses up to `TIE` are 0. Logarithms, since what is judged is a
    geometric mean of time ratios.
    """
    worth = log_worth(table, performance)
    logs = np.full((len(worth), len(HINTS)), np.nan)
    members = [hints_of(Affinity.parse(name)) for name in table.affinity.names]
    for index, hint in enumerate(HINTS):
        own = worth[:, [hint in hints for hints in members]]
        some = (~np.isnan(own)).any(axis=1)
        logs[some, index] = np.nanmean(own[some], axis=1)
    best = np.where(np.isnan(logs), -np.inf, logs).max(axis=1, initial=-np.inf, keepdims=True)
    losses: Floats = np.where(np.isfinite(best), best - logs, np.nan)
    losses[losses <= np.log1p(TIE)] = 0.0
    return losses


def log_worth(table: ObservationTable, performance: Floats) -> Floats:
    """Workloads × affinities (as the table names them): log of the mean performance of the run,
    larger is better; NaN where none was profiled.
    """
    workload = table.workload()
    shape = (int(workload.max(initial=-1)) + 1, len(table.affinity.names))
    cell = workload * shape[1] + table.affinity.codes
    usable = np.isfinite(performance) & (performance != 0)
    seen = np.bincount(cell[usable], minlength=shape[0] * shape[1]).reshape(shape)
    total = np.bincount(
        cell[usable], weights=performance[usable], minlength=shape[0] * shape[1]
    ).reshape(shape)
    worth = np.full(shape, np.nan)
    known = seen > 0
    mean = total[known] / seen[known]
    # A negative metric (energy) is better the smaller its magnitude.
    worth[known] = np.sign(mean) * np.log(np.abs(mean))
    return worth


def least_loss(losses: Floats) -> int:
    """The hint (into `HINTS`) that loses least when it is said of every workload; of equals the
    first. What was never tried is no better than the worst that was.
    """
    known = losses[~np.isnan(losses).all(axis=1)]
    worst = np.nanmax(known, axis=1, keepdims=True) if len(known) else known
    return int(np.argmin(np.where(np.isnan(known), worst, known).sum(axis=0)))


def regret_table(
    samples: ObservationTable,
    workload: Ints,
    losses: Floats,
    features: Sequence[str],
    cuts: Mapping[str, tuple[float, ...]],
) -> pd.DataFrame:
    """One row a behaviour: the mean relative performance of each hint over those that behave so.

    `workload` is each sample's row in `losses` (`log_losses`), `features` are counters of
    `samples`. A sample weighs one over the number of samples of its workload. Samples with a
    missing value, and of workloads without a known loss, make no row.
    """
    bins = np.column_stack([bin_of(samples.counters[name], cuts[name]) for name in features])
    usable = (bins >= 0).all(axis=1) & ~np.isnan(losses[workload]).all(axis=1)
    weight = workload_weights(workload)[usable]
    behaviour = np.column_stack([samples.affinity.codes[usable], bins[usable]])
    keys, row_of = np.unique(behaviour, axis=0, return_inverse=True)
    row_of = row_of.ravel()
    loss = losses[workload[usable]]
    consequences = np.full((len(keys), len(HINTS)), np.nan)
    for hint in range(len(HINTS)):
        known = ~np.isnan(loss[:, hint])
        share = np.bincount(row_of[known], weights=weight[known], minlength=len(keys))
        lost = np.bincount(
            row_of[known], weights=(weight * loss[:, hint])[known], minlength=len(keys)
        )
        some = share > 0
        consequences[some, hint] = np.exp(-lost[some] / share[some])
    return action_frame(
        {name: cuts[name] for name in features},
        keys[:, 1:],
        [Affinity.parse(name) for name in samples.affinity.names],
        keys[:, 0],
        consequences,
        np.argmax(np.nan_to_num(consequences, nan=-np.inf), axis=1),
        np.bincount(row_of, weights=weight, minlength=len(keys)),
    )


def workload_weights(workload: Ints) -> Floats:
    """One over the number of entries of each entry's workload."""
    counts = np.bincount(workload)
    weights: Floats = 1.0 / counts[workload]
    return weights
