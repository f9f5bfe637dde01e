"""JRip, WEKA's RIPPER, over an action table; rules are returned as data.

JRip gets bin indices, so its conditions are over bins; here the conditions become (lower, upper]
intervals of the counter itself.
Source: paper, section 2.3 (default settings).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from autofinity.learning import weka
from autofinity.learning.bin_rules import BinRule, arrays_of, policy_of, policy_over
from autofinity.learning.settings import BinType
from autofinity.model.affinity import HINTS
from autofinity.model.policy import RulePolicy

_FEWEST_ROWS = 3  # JRip splits the rows into three folds


def by_jrip(
    cut_points: Mapping[str, tuple[float, ...]],
    rows: ArrayLike,
    labels: ArrayLike,
    weights: ArrayLike,
    seed: int,
    bin_type: BinType = "ordered",
) -> RulePolicy:
    """Rules in JRip's order; its default rule becomes the policy's default. Arguments are those of
    `bin_rules.arrays_of`.

    Bins are ordered numbers (a condition is a range of bins) or nominal values (a condition is one
    bin, which makes RIPPER fragment: several times the rules for the same table). A rule's hint is
    JRip's prediction where the rule fires. A table with a single label, or of one or two rows,
    gives a policy that is only a default, and needs no Java. Raises `LearningError` for an empty
    table, or when WEKA cannot be used.
    """
    table, label, weight = arrays_of(rows, labels, weights)
    if len(label) < _FEWEST_ROWS or bool((label == label[0]).all()):
        most = int(np.argmax(np.bincount(label, weights=weight)))
        return policy_over(cut_points, (), HINTS[most])
    counts = [len(cuts) + 1 for cuts in cut_points.values()]
    names = [count if bin_type == "nominal" else None for count in counts]
    found, _ = weka.jrip(table.astype(np.float64), names, label, weight, seed)
    rules = [BinRule(_ranges(rule.tests, counts), rule.prediction) for rule in found]
    return policy_of(rules, cut_points, table, label, weight)


def _ranges(tests: Sequence[weka.Test], counts: Sequence[int]) -> dict[int, tuple[int, int]]:
    """All tests of a rule, merged: attribute → first and last bin that pass."""
    ranges: dict[int, tuple[int, int]] = {}
    for test in tests:
        first, last = ranges.get(test.attribute, (0, counts[test.attribute] - 1))
        if test.relation in ("=", ">="):
            first = max(first, int(np.ceil(test.value)))
        if test.relation in ("=", "<="):
            last = min(last, int(np.floor(test.value)))
        ranges[test.attribute] = (first, last)
    return ranges
