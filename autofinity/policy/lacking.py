"""Answers of a policy where some of its counters cannot be measured.

The formats define no extra rule for this: a condition on an unmeasured counter does not hold, so
neither does its rule; the remaining rules and the default decide.
"""

from __future__ import annotations

from collections.abc import Collection

from autofinity.foreign_text import one_line
from autofinity.model.policy import RulePolicy
from autofinity.model.ratios import START


def idle_rules(policy: RulePolicy, missing: Collection[str]) -> tuple[int, ...]:
    """Indices of the rules of one look that never hold without the counters in `missing`."""
    gone = {*missing, *(START + counter for counter in missing)}
    gone |= {ratio.name for ratio in policy.ratios if not gone.isdisjoint(ratio.counters)}
    return tuple(
        index
        for index, rule in enumerate(policy.rules)
        if any(condition.counter in gone for condition in rule.conditions)
    )


def without_text(policy: RulePolicy, missing: Collection[str]) -> str:
    """Text that names what decides without the counters in `missing`, in both looks."""
    said = _decides(policy, idle_rules(policy, missing))
    if policy.second is not None:
        again = policy.second.policy
        said += f"; in the second look {_decides(again, idle_rules(again, missing))}"
    return said


def lacking_lines(policy: RulePolicy) -> list[str]:
    """Lines on the policy's answers without each of its counters, one line for equal answers.

    Example: `without cycles, llc_misses: no rule can hold, the default decides: spread (SLP)`.
    """
    alike: dict[str, list[str]] = {}
    for counter in policy.counters:
        alike.setdefault(without_text(policy, (counter,)), []).append(one_line(counter))
    return [f"without {', '.join(counters)}: {said}" for said, counters in alike.items()]


def _decides(policy: RulePolicy, idle: tuple[int, ...]) -> str:
    if not idle:
        return "every rule can hold"
    if len(idle) == len(policy.rules):
        return f"no rule can hold, the default decides: {policy.default.shown}"
    numbers = ", ".join(str(index + 1) for index in idle)
    which = f"rule {numbers}" if len(idle) == 1 else f"rules {numbers}"
    return f"{which} cannot hold, the others and the default decide"
