"""From an action table to the policy whose rules have the least loss."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from autofinity.learning.action_frame import best_of, bins_of, consequences_of, cut_points_of
from autofinity.learning.bin_rules import policy_of
from autofinity.learning.hint_losses import PREFERRED
from autofinity.learning.known_edges import known_edges
from autofinity.learning.regret_tree import Losses, grow, rules_of
from autofinity.model.policy import RulePolicy

type Floats = npt.NDArray[np.float64]


def tree_policy(table: pd.DataFrame, most_rules: int) -> RulePolicy:
    """The policy of an action table that is not empty; at most `most_rules` rules and a default.

    A rule covers the largest possible loss in its rows, and gets wrong its own loss there: nats of
    time, summed over workloads.
    """
    cut_points, bins, best = cut_points_of(table), bins_of(table), best_of(table)
    weight = table["weight"].to_numpy()
    losses = weight[:, None] * losses_of(table)
    counts = tuple(len(cuts) + 1 for cuts in cut_points.values())
    data = Losses(bins, losses, counts, PREFERRED, known_edges(cut_points))
    leaves = grow(data, range(len(counts)), most_rules + 1)
    return policy_of(rules_of(leaves), cut_points, bins, best, losses.max(axis=1), losses)


def losses_of(table: pd.DataFrame) -> Floats:
    """Loss of each hint in each row of an action table: rows × 8, not weighted.

    A performance of zero (a stalled period) has no logarithm: it counts as the smallest one of the
    table.
    """
    worth = np.abs(consequences_of(table))
    negative = bool((consequences_of(table) < 0).any())
    worth[worth == 0] = np.min(worth, initial=np.inf, where=worth > 0)
    worth[np.isinf(worth)] = 1.0  # all are zero
    # Consequences of one sign: relative to the best, in logarithms (a negative metric is better the
    # smaller its magnitude). A hint that nobody tried in a row is no better than the worst there.
    logs = -np.log(worth) if negative else np.log(worth)
    loss = np.nanmax(logs, axis=1, keepdims=True) - logs
    loss = np.where(np.isnan(loss), np.nanmax(loss, axis=1, keepdims=True), loss)
    return np.asarray(loss)
