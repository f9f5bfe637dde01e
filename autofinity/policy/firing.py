"""Which rule of a policy fires on given values."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.model.affinity import Hint
from autofinity.model.policy import Rule, RulePolicy


def fired(policy: RulePolicy, values: Mapping[str, float]) -> int | None:
    """Index of the rule that decides; None for the default. `values` has every input."""
    for index, rule in enumerate(policy.rules):
        if holds(rule, values):
            return index
    return None


def hint_at(policy: RulePolicy, values: Mapping[str, float]) -> Hint:
    """The hint of the rule that decides, else the default."""
    rule = fired(policy, values)
    return policy.default if rule is None else policy.rules[rule].hint


def holds(rule: Rule, values: Mapping[str, float]) -> bool:
    """Whether all conditions of the rule hold."""
    return all(condition.holds(values[condition.counter]) for condition in rule.conditions)
