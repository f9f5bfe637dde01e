"""Whether a policy's rules can use what is measured."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from autofinity.model.policy import RulePolicy
from autofinity.model.ratios import START


def can_ask(policy: RulePolicy, measured: Collection[str]) -> bool:
    """Whether some condition of the rules, of either look, has all counters that it needs.

    True for a policy whose rules have no conditions: its only answer depends on no measurement.
    """
    known = frozenset(measured)
    needs = list(_needs(policy))
    return not needs or any(need <= known for need in needs)


def _needs(policy: RulePolicy) -> Iterator[frozenset[str]]:
    """The counters that each condition needs."""
    for look in (policy, policy.second.policy) if policy.second else (policy,):
        ratios = {ratio.name: ratio.counters for ratio in look.ratios}
        for rule in look.rules:
            for condition in rule.conditions:
                names = ratios.get(condition.counter, (condition.counter,))
                yield frozenset(name.removeprefix(START) for name in names)
