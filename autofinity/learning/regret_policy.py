"""From an action table to the policy whose rules have the least loss."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from autofinity.learning.action_frame import best_of, bins_of, consequences_of, cut_points_of
from autofinity.learning.bin_rules import policy_of
from autofinity.learning.hint_losses import PREFERRED
from autofinity.learning.regret_classifier import RegretClassifier
from autofinity.model.policy import RulePolicy

type Floats = npt.NDArray[np.float64]


def tree_policy(table: pd.DataFrame, most_rules: int) -> RulePolicy:
    """The policy of an action table that is not empty; at most `most_rules` rules and a default.

    A rule covers the largest possible loss in its rows, and gets wrong its own loss there: nats of
    time, summed over workloads.
    """
    cut_points, bins, best = cut_points_of(table), bins_of(table), best_of(table)
    losses = _losses_of(table)
    between = [(np.arange(len(cuts)) + 0.5).tolist() for cuts in cut_points.values()]
    tree = RegretClassifier(most_rules=most_rules, cut_points=between, preferred=PREFERRED)
    tree.fit(bins, best, losses=losses)
    return policy_of(tree.rules_, cut_points, bins, best, losses.max(axis=1), losses)


def _losses_of(table: pd.DataFrame) -> Floats:
    """Loss of each hint in each row (rows × 8), weighted."""
    consequences = consequences_of(table)
    best = np.nanmax(consequences, axis=1, keepdims=True)
    # Consequences of one sign: relative to the best, in logarithms (a negative metric is better the
    # smaller its magnitude). A hint that nobody tried in a row is no better than the worst there.
    loss = np.abs(np.log(np.abs(best)) - np.log(np.abs(consequences)))
    loss = np.where(np.isnan(loss), np.nanmax(loss, axis=1, keepdims=True), loss)
    return np.asarray(table["weight"].to_numpy()[:, None] * loss)
