"""Our own RIPPER over an action table: rules without Java.

The rules are found by the native core (`learning.value_rules`) over bin indices and become (lower,
upper] intervals of the counters here.
Source: W. Cohen, "Fast Effective Rule Induction" (ICML 1995).
"""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from autofinity.learning.bin_rules import BinRule, arrays_of, policy_of, ranges_of
from autofinity.learning.settings import BinType
from autofinity.learning.value_rules import learn_rules
from autofinity.model.affinity import HINTS
from autofinity.model.policy import RulePolicy


def by_ripper(
    cut_points: Mapping[str, tuple[float, ...]],
    rows: ArrayLike,
    labels: ArrayLike,
    weights: ArrayLike,
    seed: int,
    bin_type: BinType = "ordered",
) -> RulePolicy:
    """Rules class by class, rarest first; arguments are those of `bin_rules.arrays_of`.

    Bins are ordered numbers (a condition is a range of bins) or nominal values (a condition is one
    bin). Raises `LearningError` for an empty table.
    """
    table, label, weight = arrays_of(rows, labels, weights)
    nominal = [bin_type == "nominal"] * len(cut_points)
    found = learn_rules(table.astype(float), nominal, label, weight, len(HINTS), seed=seed)
    counts = [len(cuts) + 1 for cuts in cut_points.values()]
    rules = [BinRule(ranges_of(rule.tests, counts), rule.label) for rule in found]
    return policy_of(rules, cut_points, table, label, weight)
