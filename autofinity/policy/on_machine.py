"""A policy of facts, on one machine and with one thread count: rules over counters alone.

Whoever asks a policy, explains or exports it then knows nothing of facts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from autofinity.model.policy import Rule, RulePolicy
from autofinity.model.ratios import Ratio


def on_machine(policy: RulePolicy, facts: Mapping[str, float]) -> RulePolicy:
    """The policy with the values of its facts in their place; one that is missing, NaN or not above
    0 is not known, and rules that look at it never hold: they are left out.
    """
    if not policy.facts:
        return policy
    second = policy.second
    if second is not None:
        second = replace(second, policy=_look_on(second.policy, facts))
    return replace(_look_on(policy, facts), second=second)


def _look_on(policy: RulePolicy, facts: Mapping[str, float]) -> RulePolicy:
    """One look."""
    scales = {ratio.name: _scale_on(ratio, facts) for ratio in policy.ratios}
    known = {name for name, scale in scales.items() if scale is not None}
    names = {*policy.counters, *known}
    rules = (_rule_on(rule, names, facts) for rule in policy.rules)
    return replace(
        policy,
        rules=tuple(rule for rule in rules if rule is not None),
        ratios=tuple(
            replace(ratio, scale=scales[ratio.name] or 1.0, fact="")
            for ratio in policy.ratios
            if ratio.name in known
        ),
        cut_points={name: cuts for name, cuts in policy.cut_points.items() if name in names},
        facts=(),
    )


def _scale_on(ratio: Ratio, facts: Mapping[str, float]) -> float | None:
    """The scale over the fact; None where no value can come of it."""
    if not ratio.fact:
        return ratio.scale
    scale = ratio.scale / value if (value := facts.get(ratio.fact, math.nan)) > 0 else 0.0
    return scale if 0 < scale < math.inf else None


def _rule_on(rule: Rule, names: set[str], facts: Mapping[str, float]) -> Rule | None:
    """The rule without conditions on facts; None where one of its conditions cannot hold."""
    kept = []
    for condition in rule.conditions:
        if condition.counter in names:
            kept.append(condition)
        elif not condition.holds(facts.get(condition.counter, math.nan)):
            return None
    return replace(rule, conditions=tuple(kept))
