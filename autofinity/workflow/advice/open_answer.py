"""An answer that what was not measured leaves open: no advice rests on it."""

from __future__ import annotations

from autofinity.model.counters import Behaviour
from autofinity.model.policy import RulePolicy
from autofinity.policy.explain import undecided_text
from autofinity.policy.possible import possible
from autofinity.policy.selector import values_of


def asked_values(policy: RulePolicy, sample: Behaviour | None) -> dict[str, float]:
    """The sample as the policy is asked: its counters, as far as they were measured."""
    # A policy that asks for no counter has answered without a sample.
    values = sample.values if sample is not None else {}
    return {name: values[name] for name in policy.counters if name in values}


def open_answer(policy: RulePolicy | None, sample: Behaviour | None, where: str) -> str:
    """Why the policy cannot decide by this sample, which messages call `where`; empty where it can,
    and where there is none.
    """
    if policy is None or sample is None:
        return ""
    found = possible(policy, values_of(policy, asked_values(policy, sample)))
    return "" if found.decided else undecided_text(found, where)
