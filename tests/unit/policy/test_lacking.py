"""A policy where counters cannot be measured: the message and the behaviour."""

from __future__ import annotations

import math

import pytest

from autofinity.model.affinity import Hint
from autofinity.model.policy import Condition, Rule, RulePolicy, SecondLook, looked_at
from autofinity.model.ratios import START, Ratio
from autofinity.policy.lacking import idle_rules, lacking_lines, without_text
from autofinity.policy.readable import policy_text
from autofinity.policy.selector import decide

PACKED, SPREAD, BETWEEN = Hint.parse("slp"), Hint.parse("SLP"), Hint.parse("sLP")
SHARE = Ratio("share", ("given",), ("asked",))
GAIN = Ratio("gain", ("asked",), (f"{START}asked",))


def rule(hint: Hint, *names: str) -> Rule:
    return Rule(tuple(Condition(name, 0.5, math.inf) for name in names), hint)


POLICY = RulePolicy(
    ("given", "asked", "clocks"),
    {"share": (0.5,), "clocks": (0.5,)},
    (rule(PACKED, "share", "clocks"), rule(BETWEEN, "clocks")),
    SPREAD,
    ratios=(SHARE,),
)
TWICE = RulePolicy(
    POLICY.counters,
    POLICY.cut_points,
    POLICY.rules,
    POLICY.default,
    ratios=POLICY.ratios,
    second=SecondLook(
        PACKED,
        (BETWEEN,),
        RulePolicy(
            looked_at(POLICY.counters),
            {"gain": (0.5,)},
            (rule(PACKED, "gain"),),
            BETWEEN,
            ratios=(GAIN,),
        ),
    ),
)


@pytest.mark.parametrize("missing", ["given", "asked", "clocks"])
def test_rules_that_are_said_to_be_idle_never_hold_and_the_others_may(missing: str) -> None:
    sample = {"given": 2.0, "asked": 2.0, "clocks": 2.0}
    assert decide(POLICY, sample).rule == 0
    del sample[missing]
    decision = decide(POLICY, sample)
    left = [index for index in range(2) if index not in idle_rules(POLICY, (missing,))]
    assert decision.rule == (left[0] if left else None)


def test_a_policy_says_what_it_does_without_each_of_its_counters() -> None:
    assert lacking_lines(POLICY) == [
        "without given, asked: rule 1 cannot hold, the others and the default decide",
        "without clocks: no rule can hold, the default decides: spread (SLP)",
    ]
    shown = policy_text(POLICY)
    assert "where a counter cannot be measured:" in shown
    assert all(f"  {line}\n" in shown for line in lacking_lines(POLICY))


def test_a_second_look_says_it_too_also_of_what_the_first_sample_had() -> None:
    assert without_text(TWICE, ("asked",)) == (
        "rule 1 cannot hold, the others and the default decide; in the second look no rule can "
        "hold, the default decides: few-sockets-own-caches (sLP)"
    )
    assert without_text(TWICE, ("given",)).endswith("in the second look every rule can hold")


def test_what_is_no_counter_of_the_policy_is_not_missed() -> None:
    assert idle_rules(POLICY, ("page_walks",)) == ()
    assert without_text(POLICY, ("page_walks",)) == "every rule can hold"
