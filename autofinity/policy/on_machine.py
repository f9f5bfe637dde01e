"""A policy that uses facts, on one machine and with one thread count: rules over counters alone.

Code that then asks, explains or exports the policy needs no facts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from autofinity.model.policy import Rule, RulePolicy
from autofinity.model.ratios import Ratio


def on_machine(policy: RulePolicy, facts: Mapping[str, float]) -> RulePolicy:
    """The policy with the values of its facts in place of their names.

    A fact that is missing, NaN or not above 0 is not known. Rules that use it never hold and are
    left out.
    """
    if not policy.facts:
        return policy
    second = policy.second
    if second is not None:
        second = replace(second, policy=_look_on(second.policy, facts))
    return replace(_look_on(policy, facts), second=second)


def _look_on(policy: RulePolicy, facts: Mapping[str, float]) -> RulePolicy:
    """One look of the policy with the values of its facts."""
    ratios = [here for ratio in policy.ratios if (here := _ratio_on(ratio, facts)) is not None]
    names = {*policy.counters, *(ratio.name for ratio in ratios)}
    return replace(
        policy,
        rules=tuple(rule for rule in policy.rules if _names(rule) <= names),
        ratios=tuple(ratios),
        cut_points={name: cuts for name, cuts in policy.cut_points.items() if name in names},
    )


def _ratio_on(ratio: Ratio, facts: Mapping[str, float]) -> Ratio | None:
    """The ratio with its fact in the scale; None where the fact is not known."""
    if not ratio.fact:
        return ratio
    value = facts.get(ratio.fact, math.nan)
    scale = ratio.scale / value if value > 0 else 0.0
    return replace(ratio, scale=scale, fact="") if 0 < scale < math.inf else None


def _names(rule: Rule) -> set[str]:
    return {condition.counter for condition in rule.conditions}
