"""The meaning of a policy where some of its counters cannot be measured.

Formats define no extra rule for this: a condition on an unmeasured counter does not hold. But an
answer that another value could change rests on no evidence, so nothing is placed by it
(`possible`). This module names, before any sample, the rules that then cannot be asked.
"""

from __future__ import annotations

from collections.abc import Collection

from autofinity.foreign_text import one_line
from autofinity.model.policy import RulePolicy
from autofinity.model.ratios import START


def idle_rules(policy: RulePolicy, missing: Collection[str]) -> tuple[int, ...]:
    """Indices of the rules of one look that cannot be asked without the counters in `missing`."""
    gone = {*missing, *(START + counter for counter in missing)}
    gone |= {ratio.name for ratio in policy.ratios if not gone.isdisjoint(ratio.counters)}
    return tuple(
        index
        for index, rule in enumerate(policy.rules)
        if any(condition.counter in gone for condition in rule.conditions)
    )


def without_text(policy: RulePolicy, missing: Collection[str]) -> str:
    """Text that says what the policy answers without the counters in `missing`, in both looks."""
    first, second = _answers(policy, missing), policy.second
    if second is None:
        return first
    again = _answers(second.policy, missing)
    if {policy.default, *(rule.hint for rule in policy.rules)} <= set(second.after):
        return f"in the second look, which decides, {again}"
    return f"{first}; in the second look {again}"


def lacking_lines(policy: RulePolicy) -> list[str]:
    """Lines on the policy's answers without each of its counters, one line for equal answers.

    Example: `without cycles, llc_misses: no rule can be asked: no answer`.
    """
    alike: dict[str, list[str]] = {}
    for counter in policy.counters:
        alike.setdefault(without_text(policy, (counter,)), []).append(one_line(counter))
    return [f"without {', '.join(counters)}: {said}" for said, counters in alike.items()]


def _answers(policy: RulePolicy, missing: Collection[str]) -> str:
    idle = idle_rules(policy, missing)
    if not idle:
        return "every rule can be asked"
    if {rule.hint for rule in policy.rules} <= {policy.default}:
        return f"every rule and the default say {policy.default.shown}"
    if len(idle) == len(policy.rules):
        return "no rule can be asked: no answer"
    numbers = ", ".join(str(index + 1) for index in idle)
    which, it = (f"rule {numbers}", "it") if len(idle) == 1 else (f"rules {numbers}", "one")
    return f"{which} cannot be asked: no answer where {it} may decide"
