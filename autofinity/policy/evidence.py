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


def asked_by(policy: RulePolicy) -> tuple[str, ...]:
    """Counters that the rules of the first look ask for, themselves or in a ratio, in the policy's
    order.
    """
    ratios = {ratio.name: ratio.counters for ratio in policy.ratios}
    named = {
        name
        for rule in policy.rules
        for condition in rule.conditions
        for name in ratios.get(condition.counter, (condition.counter,))
    }
    return tuple(name for name in policy.counters if name in named)


def needed_by(policy: RulePolicy, *, again: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Counters that rules ask for of the first sample, and of that of the second look, where it is
    there (`again`): the answer of the first look does not count then if every answer leads there.
    """
    first, second = asked_by(policy), policy.second
    if second is None or not again:
        return first, ()
    asked = asked_by(second.policy)
    start = tuple(name.removeprefix(START) for name in asked if name.startswith(START))
    hints = {policy.default, *(rule.hint for rule in policy.rules)}
    first = start if hints <= set(second.after) else (*start, *first)
    return first, tuple(name for name in asked if not name.startswith(START))


def _needs(policy: RulePolicy) -> Iterator[frozenset[str]]:
    """The counters that each condition needs."""
    for look in (policy, policy.second.policy) if policy.second else (policy,):
        ratios = {ratio.name: ratio.counters for ratio in look.ratios}
        for rule in look.rules:
            for condition in rule.conditions:
                names = ratios.get(condition.counter, (condition.counter,))
                yield frozenset(name.removeprefix(START) for name in names)
