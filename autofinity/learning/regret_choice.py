"""Which features to look at, by programs held out of the training set.

Forward selection (Kohavi & John 1997, wrappers): the feature that lowers the loss on held-out
workloads most is added, as long as the counters all of them need fit the PMU at once. What is
judged in the end plays no part: a leave-one-program-out evaluation calls this without the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from autofinity.learning.counter_selection import CounterReport, Ranked
from autofinity.learning.discretise import bin_of
from autofinity.learning.feature_columns import fits
from autofinity.learning.regret_table import workload_weights
from autofinity.learning.regret_tree import WORTH, Losses, grow, labels_of
from autofinity.model.errors import LearningError
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]

FOLDS = 10


def choose_by_regret(
    samples: ObservationTable,
    workload: Ints,
    losses: Floats,
    cut: Callable[[Floats], tuple[float, ...]],
    k: int,
    most_rules: int,
) -> CounterReport:
    """The counters of `samples` that lose least on held-out workloads, needing at most `k` events.

    `workload` is each sample's row in `losses` (`regret_table.log_losses`); `cut` gives the cut
    points of a column. In the report the merit of a feature is minus the loss with it and all
    before it: nats of time against the best hint, summed over the workloads. Raises `LearningError`
    when nothing varies or no loss is known.
    """
    cuts = {name: cut(values) for name, values in samples.counters.items()}
    names = [name for name, at in cuts.items() if at]
    left_out = tuple(name for name in cuts if name not in names)
    known = ~np.isnan(losses[workload]).all(axis=1)
    if not names or not known.any():
        raise LearningError(
            f"no feature can be chosen: {len(names)} of {len(cuts)} vary over "
            f"{int(known.sum())} samples; profile more programs or affinities"
        )
    loss = losses[workload[known]]
    loss = np.where(np.isnan(loss), np.nanmax(loss, axis=1, keepdims=True), loss)
    data = Losses(
        np.column_stack([bin_of(samples.counters[name][known], cuts[name]) for name in names]),
        loss * workload_weights(workload[known])[:, None],
        tuple(len(cuts[name]) + 1 for name in names),
    )
    chosen, held_out = _forward(
        data,
        _folds(workload[known]),
        most_rules + 1,
        lambda some: fits([names[i] for i in some], k),
    )
    ranked = tuple(
        Ranked(names[feature], -lost) for feature, lost in zip(chosen, held_out[1:], strict=True)
    )
    note = (
        f"{len(chosen)} of {len(names)} features by the loss on held-out programs, which fell from "
        f"{held_out[0]:.3g} to {held_out[-1]:.3g}"
    )
    features = tuple(names[feature] for feature in chosen)
    return CounterReport(features, ranked, len(features), left_out, (), "regret", note)


def _forward(
    data: Losses, folds: Ints, most_leaves: int, fit: Callable[[Sequence[int]], bool]
) -> tuple[tuple[int, ...], list[float]]:
    """Features in the order in which they were added, and the held-out loss before and after."""
    chosen: tuple[int, ...] = ()
    losses = [_held_out(data, folds, (), 1)]
    while True:
        tried = [
            (_held_out(data, folds, (*chosen, feature), most_leaves), feature)
            for feature in range(data.bins.shape[1])
            if feature not in chosen and fit((*chosen, feature))
        ]
        loss, feature = min(tried, default=(np.inf, -1))
        if not loss < losses[-1] - WORTH * losses[0]:
            return chosen, losses
        chosen = (*chosen, feature)
        losses.append(loss)


def _folds(group: Ints) -> Ints:
    """A fold for each row; rows of a group share one."""
    _, number = np.unique(group, return_inverse=True)
    folds: Ints = number.ravel() % FOLDS
    return folds


def _held_out(data: Losses, folds: Ints, features: Sequence[int], most_leaves: int) -> float:
    """Loss on held-out rows."""
    loss = 0.0
    for fold in np.unique(folds):
        out = folds == fold
        leaves = grow(data.take(~out), features, most_leaves)
        labels = labels_of(leaves, data.bins[out])
        loss += float(data.loss[out][np.arange(len(labels)), labels].sum())
    return loss
