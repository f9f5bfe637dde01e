"""JRip, WEKA's RIPPER, over an action table; rules are returned as data.

JRip gets bin indices, so its conditions are over bins; here the conditions become (lower, upper]
intervals of the counter itself.
Source: paper, section 2.3 (default settings).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from autofinity.learning import weka
from autofinity.learning.bin_rules import BinRule, arrays_of, policy_of, ranges_of
from autofinity.learning.settings import BinType
from autofinity.learning.value_rules import Test, ValueRule
from autofinity.model.policy import RulePolicy

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]

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
    counts = [len(cuts) + 1 for cuts in cut_points.values()]
    names = [count if bin_type == "nominal" else None for count in counts]
    found = jrip_rules(table.astype(np.float64), names, label, weight, seed)
    rules = [BinRule(ranges_of(rule.tests, counts), rule.label) for rule in found]
    return policy_of(rules, cut_points, table, label, weight)


def jrip_rules(
    values: Floats, names: Sequence[int | None], labels: Ints, weights: Floats, seed: int
) -> list[ValueRule]:
    """JRip's rules in its order, the default last, without weights; arguments are those of
    `weka.jrip`.

    Rows with a single label, or one or two of them, give the default only, and need no Java. Raises
    `LearningError` when WEKA cannot be used.
    """
    if len(labels) < _FEWEST_ROWS or bool((labels == labels[0]).all()):
        return [ValueRule((), (), int(np.argmax(np.bincount(labels, weights=weights))))]
    found, _ = weka.jrip(values, names, labels, weights, seed)
    return [ValueRule(tuple(map(_test, rule.tests)), (), rule.prediction) for rule in found]


def _test(test: weka.Test) -> Test:
    """The same test in our words: "at least" is "above" the next smaller number."""
    if test.relation == ">=":
        return Test(test.attribute, ">", float(np.nextafter(test.value, -np.inf)))
    return Test(test.attribute, "=" if test.relation == "=" else "<=", test.value)
