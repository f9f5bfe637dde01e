"""Selects features by the loss on programs held out of the training set.

Forward selection (Kohavi & John 1997, wrappers): the feature that lowers the loss on held-out
workloads most is added, as long as the counters of all features fit the PMU at once. The programs
of the final evaluation have no influence: a leave-one-program-out evaluation calls this module
without the program.

The seen programs often leave the edges of a feature open. A feature that predicts these programs by
a lucky edge does not predict the next ones. So a feature is judged by the worst of the edges that
are equally good.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import batched

import numpy as np
import numpy.typing as npt

from autofinity.learning.counter_selection import CounterReport, Ranked
from autofinity.learning.discretise import bin_of
from autofinity.learning.feature_columns import events_of
from autofinity.learning.held_out import held_out
from autofinity.learning.hint_losses import PREFERRED, workload_weights
from autofinity.learning.known_edges import known_edges
from autofinity.learning.regret_tree import (
    HIGHEST,
    LOWEST,
    MIDDLE,
    WORTH,
    Losses,
    Trees,
    grow,
    labels_of,
)
from autofinity.model.errors import LearningError
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]
type Mask = npt.NDArray[np.bool_]
type Folds = list[tuple[Ints, Ints]]

FOLDS = 10

EDGES = (LOWEST, MIDDLE, HIGHEST)
"""Positions among equally good edges; the worst of them judges a feature (docs/policy-study.md has
the figures with the middle position alone)."""


def choose_by_regret(
    samples: ObservationTable,
    workload: Ints,
    losses: Floats,
    cuts: Mapping[str, tuple[float, ...]],
    k: int,
    most_rules: int,
    counted: tuple[str, ...] = (),
) -> CounterReport:
    """The counters of `samples` with the least loss on held-out workloads, within `k` events, which
    include those that are `counted` anyway.

    `workload` is each sample's row in `losses` (`hint_losses.hint_losses`); `cuts` are the cut
    points of each counter. In the report the merit of a feature is minus the loss with this and all
    earlier features: nats of time against the best hint, summed over the workloads. Raises
    `LearningError` when nothing varies or no loss is known.
    """
    names = [name for name, at in cuts.items() if at]
    left_out = tuple(name for name in cuts if name not in names)
    known = _known(workload, losses)
    if not names or not known.any():
        raise LearningError(
            f"no feature can be chosen: {len(names)} of {len(cuts)} vary over "
            f"{int(known.sum())} samples; profile more programs or affinities"
        )
    chosen, lost = _forward(
        _data(samples, workload, losses, {name: cuts[name] for name in names}),
        _folds(samples.take(known)),
        most_rules + 1,
        lambda some: len({*counted, *events_of([names[i] for i in some])}) <= k,
    )
    ranked = tuple(
        Ranked(names[feature], -loss) for feature, loss in zip(chosen, lost[1:], strict=True)
    )
    note = (
        f"{len(chosen)} of {len(names)} features by the loss on held-out programs, which fell from "
        f"{lost[0]:.3g} to {lost[-1]:.3g}"
    )
    features = tuple(names[feature] for feature in chosen)
    return CounterReport(features, ranked, len(features), left_out, note)


def held_out_labels(
    samples: ObservationTable,
    workload: Ints,
    losses: Floats,
    cuts: Mapping[str, tuple[float, ...]],
    most_rules: int,
) -> Ints:
    """The hint (into `HINTS`) for each sample, by rules over the features of `cuts` that were
    learned without its fold.

    −1 where no loss is known. Arguments are those of `choose_by_regret`.
    """
    known = _known(workload, losses)
    labels = np.full(len(workload), -1)
    labels[known] = _labels(
        _data(samples, workload, losses, cuts),
        held_out(samples.program.codes[known], FOLDS),
        range(len(cuts)),
        most_rules + 1,
    )
    return labels


def _folds(samples: ObservationTable) -> Folds:
    """Folds of held-out programs and, where there are several machines, of held-out machines as
    well.
    """
    machine = samples.machine.codes
    machines = held_out(machine) if len(np.unique(machine)) > 1 else []
    return [*held_out(samples.program.codes, FOLDS), *machines]


def _known(workload: Ints, losses: Floats) -> Mask:
    """Mask of the samples that have a hint with a known loss."""
    known: Mask = ~np.isnan(losses[workload]).all(axis=1)
    return known


def _data(
    samples: ObservationTable,
    workload: Ints,
    losses: Floats,
    cuts: Mapping[str, tuple[float, ...]],
) -> Losses:
    """Known samples, binned by `cuts`; a hint that was never tried counts as the worst one."""
    known = _known(workload, losses)
    loss = losses[workload[known]]
    loss = np.where(np.isnan(loss), np.nanmax(loss, axis=1, keepdims=True), loss)
    bins = [bin_of(samples.counters[name][known], at) for name, at in cuts.items()]
    return Losses(
        np.column_stack(bins) if bins else np.empty((len(loss), 0), np.int64),
        loss * workload_weights(workload[known])[:, None],
        tuple(len(at) + 1 for at in cuts.values()),
        PREFERRED,
        known_edges(cuts),
    )


def _forward(
    data: Losses,
    folds: Folds,
    most_leaves: int,
    fit: Callable[[Sequence[int]], bool],
) -> tuple[tuple[int, ...], list[float]]:
    """Features in the order in which they were added, and the held-out loss before and after.

    The loss is that of the worst edge; among equals, the sum over all edges.
    """
    chosen: tuple[int, ...] = ()
    losses = _held_out(data, folds, [((), MIDDLE)], 1)
    while True:
        left = [feature for feature in range(data.bins.shape[1]) if feature not in chosen]
        fitting = [feature for feature in left if fit((*chosen, feature))]
        trials = [((*chosen, feature), edge) for feature in fitting for edge in EDGES]
        by_edge = batched(_held_out(data, folds, trials, most_leaves), len(EDGES))
        tried = [
            (max(lost), sum(lost), feature) for lost, feature in zip(by_edge, fitting, strict=True)
        ]
        loss, _, feature = min(tried, default=(np.inf, np.inf, -1))
        if not loss < losses[-1] - WORTH * losses[0]:
            return chosen, losses
        chosen = (*chosen, feature)
        losses.append(loss)


def _held_out(
    data: Losses,
    folds: Folds,
    trials: Sequence[tuple[Sequence[int], float]],
    most_leaves: int,
) -> list[float]:
    """Loss on held-out rows, over all folds, for each choice of features and an edge."""
    lost = [0.0] * len(trials)
    for others, out in folds:
        trees = Trees(data.take(others))
        for number, (features, edge) in enumerate(trials):
            labels = labels_of(trees.grow(features, most_leaves, edge), data.bins[out])
            lost[number] += float(data.loss[out, labels].sum())
    return lost


def _labels(
    data: Losses,
    folds: Folds,
    features: Sequence[int],
    most_leaves: int,
) -> Ints:
    """Label for each row by rules that were learned without its fold; each row is in one fold."""
    labels = np.empty(len(data.bins), np.int64)
    for others, out in folds:
        leaves = grow(data.take(others), features, most_leaves, MIDDLE)
        labels[out] = labels_of(leaves, data.bins[out])
    return labels
