"""Ask a policy: sample → hint, with the distance to another hint.

No numpy: the monitor beside a running application uses this module.
"""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.model.policy import Decision, RulePolicy
from autofinity.policy.firing import fired
from autofinity.policy.nearest import nearest_change, single_changes


def decide(policy: RulePolicy, sample: Mapping[str, float]) -> Decision:
    """The first rule whose conditions hold decides, else the default.

    A counter that `sample` lacks counts as NaN: every condition on it is false. Counters that the
    policy does not know are ignored (`explain` names both).
    """
    values = values_of(policy, sample)
    rule = fired(policy, values)
    hint = policy.default if rule is None else policy.rules[rule].hint
    changes = single_changes(policy, values, hint)
    nearest = nearest_change(policy, values, hint)
    return Decision(
        hint=hint,
        rule=rule,
        margin=min((change.relative for change in changes), default=float("inf")),
        runner_up=nearest.hint if nearest else None,
    )


def values_of(policy: RulePolicy, sample: Mapping[str, float]) -> dict[str, float]:
    """Values of the policy's inputs: its counters, NaN where the sample has none, and its ratios.

    A ratio over a fact is NaN until `policy.on_machine` puts in the fact's value.
    """
    values = {counter: float(sample.get(counter, float("nan"))) for counter in policy.counters}
    return {**values, **{ratio.name: ratio.of(values) for ratio in policy.ratios}}
