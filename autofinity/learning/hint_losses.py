"""Loss of each hint over whole runs: the value of a choice for a program that restarts, or runs on
for long.

Programs have equal weight, whatever the length of their runs. Losses that no measurement could
distinguish from zero are zero.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from autofinity.learning.condense import condense
from autofinity.learning.leeway_hints import HintsOf
from autofinity.learning.settings import Condense
from autofinity.model.affinity import HINTS, PACKED, Affinity
from autofinity.store.observation_table import ObservationTable, number_combinations

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]

TIE = 0.01
"""A hint that loses no more than this share of the time against the best hint has no loss: the
evaluation calls both equal. Without ties policies are as good (docs/policy-study.md)."""

PREFERRED = (HINTS.index(PACKED),)
"""Hints (indices into `HINTS`) that are chosen where no other is better than noise. On most
machines threads that share one cache share its socket, so `packed` and `shared-caches-many-sockets`
are one place there. Where each core has a cache of its own, the latter spreads threads over
sockets, although the data only show that threads which share data are better close together. That
costs all 14 interesting cases on the Altix 450 when it is left out of the training machines."""


def hint_losses(
    table: ObservationTable, performance: Floats, hints_of: HintsOf, function: Condense
) -> Floats:
    """Losses, workloads × 8: log of (performance of the best hint over that of each); 0 is the
    best.

    Workloads are numbered as in `table.workload()`. A hint's performance is condensed by `function`
    over its affinities (those that `hints_of` gives the hint, within the leeway) from the means
    over their runs; NaN where none was profiled. Losses up to `TIE` are 0. They are logarithms,
    since policies are judged by a geometric mean.
    """
    runs = _means(table, performance)
    members = [hints_of(Affinity.parse(name)) for name in table.affinity.names]
    logs = np.full((len(runs), len(HINTS)), np.nan)
    for index, hint in enumerate(HINTS):
        own = runs[:, [hint in hints for hints in members]]
        known = ~np.isnan(own)
        counts = known.sum(axis=1)
        some = counts > 0
        starts = np.cumsum(counts[some]) - counts[some]
        logs[some, index] = _signed_log(condense(function, own[known], starts))
    best = np.where(np.isnan(logs), -np.inf, logs).max(axis=1, initial=-np.inf, keepdims=True)
    losses: Floats = np.where(np.isfinite(best), best - logs, np.nan)
    losses[losses <= np.log1p(TIE)] = 0.0
    return losses


def log_worth(table: ObservationTable, performance: Floats) -> Floats:
    """Workloads × affinities (as the table names them): log of the mean performance of the runs.

    Larger is better; NaN where none was profiled.
    """
    return _signed_log(_means(table, performance))


def _means(table: ObservationTable, performance: Floats) -> Floats:
    """Workloads × affinities: mean performance over the runs, of each the mean over its rows,
    however many it has. NaN where none was profiled, or where nothing was performed.
    """
    workload = table.workload()
    shape = (int(workload.max(initial=-1)) + 1, len(table.affinity.names))
    run = number_combinations(workload, table.affinity.codes, table.seed)
    _, first = np.unique(run, return_index=True)
    of_run = _mean_by(run, performance, len(first))
    cell = (workload * shape[1] + table.affinity.codes)[first]
    means = _mean_by(cell, of_run, shape[0] * shape[1])
    means[means == 0] = np.nan
    return means.reshape(shape)


def _mean_by(group: Ints, values: Floats, groups: int) -> Floats:
    """Mean of the finite values of each group; NaN where there is none."""
    known = np.isfinite(values)
    count = np.bincount(group[known], minlength=groups)
    total = np.bincount(group[known], weights=values[known], minlength=groups)
    means = np.full(groups, np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means


def _signed_log(values: Floats) -> Floats:
    """Logarithms of the magnitudes, with sign: a negative metric (energy) is better the smaller its
    magnitude.
    """
    logs: Floats = np.sign(values) * np.log(np.abs(values))
    return logs


def least_loss(losses: Floats) -> int:
    """The hint (into `HINTS`) with the least loss when it is given to every workload.

    The first of equal hints is chosen. A hint that was never tried counts as the worst one that was
    tried.
    """
    known = losses[~np.isnan(losses).all(axis=1)]
    worst = np.nanmax(known, axis=1, keepdims=True) if len(known) else known
    return int(np.argmin(np.where(np.isnan(known), worst, known).sum(axis=0)))


def workload_weights(workload: Ints) -> Floats:
    """Weight of each entry: one over the number of entries of its workload."""
    counts = np.bincount(workload)
    weights: Floats = 1.0 / counts[workload]
    return weights
