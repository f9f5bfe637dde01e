"""A policy where counters cannot be measured: the text and the behaviour."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from autofinity.model.affinity import Hint
from autofinity.model.policy import Condition, Rule, RulePolicy, SecondLook, looked_at
from autofinity.model.ratios import START, Ratio
from autofinity.policy.lacking import idle_rules, lacking_lines, without_text
from autofinity.policy.possible import possible
from autofinity.policy.readable import policy_text
from autofinity.policy.selector import decide, values_of

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
def test_rules_that_are_said_not_to_be_asked_never_hold_and_the_others_may(missing: str) -> None:
    sample = {"given": 2.0, "asked": 2.0, "clocks": 2.0}
    assert decide(POLICY, sample).rule == 0
    del sample[missing]
    decision = decide(POLICY, sample)
    left = [index for index in range(2) if index not in idle_rules(POLICY, (missing,))]
    assert decision.rule == (left[0] if left else None)


def test_a_policy_says_what_it_answers_without_each_of_its_counters() -> None:
    assert lacking_lines(POLICY) == [
        "without given, asked: rule 1 cannot be asked: no answer where it may decide",
        "without clocks: no rule can be asked: no answer",
    ]
    shown = policy_text(POLICY)
    assert "where a counter cannot be measured:" in shown
    assert all(f"  {line}\n" in shown for line in lacking_lines(POLICY))


@pytest.mark.parametrize("clocks", [0.0, 2.0])
def test_an_answer_is_open_only_where_rules_that_cannot_be_asked_may_decide(clocks: float) -> None:
    assert idle_rules(POLICY, ("given",)) == (0,)
    sample = {"given": math.nan, "asked": 2.0, "clocks": clocks}
    found = possible(POLICY, values_of(POLICY, sample))
    assert found.decided == (0 not in found.rules)


def test_a_second_look_says_it_too_also_of_what_the_first_sample_had() -> None:
    assert without_text(TWICE, ("asked",)) == (
        "rule 1 cannot be asked: no answer where it may decide; in the second look no rule can "
        "be asked: no answer"
    )
    assert without_text(TWICE, ("given",)).endswith("in the second look every rule can be asked")


def test_where_every_answer_leads_to_the_second_look_only_that_counts() -> None:
    assert TWICE.second is not None
    after = (PACKED, SPREAD, BETWEEN)
    always = replace(TWICE, second=replace(TWICE.second, after=after))
    decides = "in the second look, which decides, "
    assert without_text(always, ("given",)) == decides + "every rule can be asked"
    assert without_text(always, ("asked",)) == decides + "no rule can be asked: no answer"


def test_rules_of_one_hint_need_no_counter() -> None:
    same = replace(POLICY, rules=(rule(SPREAD, "clocks"),))
    assert without_text(same, ("clocks",)) == "every rule and the default say spread (SLP)"


def test_what_is_no_counter_of_the_policy_is_not_missed() -> None:
    assert idle_rules(POLICY, ("page_walks",)) == ()
    assert without_text(POLICY, ("page_walks",)) == "every rule can be asked"
