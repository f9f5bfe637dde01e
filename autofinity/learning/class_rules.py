"""Rules over values, as a person reads them: from the tests of a learner to (lower, upper] ranges
of features by name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autofinity.learning.value_rules import Test, ValueRule
from autofinity.model.policy import Condition

type Cuts = Sequence[tuple[float, ...] | None]
"""Cut points of each feature whose tests are over numbers of bins; None: tests are over values."""


@dataclass(frozen=True, slots=True)
class ClassRule:
    """All conditions hold → `label`. A rule without conditions always fires: the default."""

    conditions: tuple[Condition, ...]
    """At most one for each feature, `lower < value <= upper`, in the order of the features."""
    label: Any
    covered: float
    """Weight of the training rows where this rule is the first to fire."""
    wrong: float
    """Weight of those among them that have another label; with losses, where one loses less."""

    @property
    def condition(self) -> str:
        """Conditions as text: `1.5 < ipc <= 2 and cores = 4`, or `always`."""
        return " and ".join(map(_text, self.conditions)) or "always"

    def text(self, label: str) -> str:
        """The rule as a line; `label` is its label as people read it."""
        said = f"{label} ({self.covered - self.wrong:g} of {self.covered:g})"
        return f"if {self.condition} then {said}" if self.conditions else f"otherwise {said}"


def class_rule(
    rule: ValueRule, features: Sequence[str], cuts: Cuts, labels: Sequence[Any], wrong: float
) -> ClassRule:
    """The same rule over values of `features`, with the label itself in place of its number."""
    ranges = {feature: _range(rule.tests, feature, cuts[feature]) for feature in _tested(rule)}
    return ClassRule(
        tuple(Condition(features[at], *ranges[at]) for at in sorted(ranges)),
        labels[rule.label],
        sum(rule.weights),
        wrong,
    )


def _tested(rule: ValueRule) -> set[int]:
    return {test.feature for test in rule.tests}


def _range(
    tests: Sequence[Test], feature: int, cuts: tuple[float, ...] | None
) -> tuple[float, float]:
    """All tests of one feature, merged."""
    lower, upper = -math.inf, math.inf
    for test in tests:
        if test.feature != feature:
            continue
        if test.relation != ">":
            upper = min(upper, _edge(test.value, cuts))
        if test.relation == "=":  # what lies above the next smaller number, and not above this one
            lower = max(lower, _edge(math.nextafter(test.value, -math.inf), cuts))
        if test.relation == ">":
            lower = max(lower, _edge(test.value, cuts))
    return lower, upper


def _edge(value: float, cuts: tuple[float, ...] | None) -> float:
    """The value at which a test cuts: upper edge of the last bin up to `value`, or `value`."""
    if cuts is None:
        return value
    last = math.floor(value)
    if last < 0:
        return -math.inf
    return cuts[last] if last < len(cuts) else math.inf


def _text(condition: Condition) -> str:
    lower, upper, name = condition.lower, condition.upper, condition.counter
    if lower == math.nextafter(upper, -math.inf):
        return f"{name} = {upper:g}"
    if lower == -math.inf:
        return f"{name} <= {upper:.4g}" if upper != math.inf else f"{name} is known"
    return f"{name} > {lower:.4g}" if upper == math.inf else f"{lower:.4g} < {name} <= {upper:.4g}"
