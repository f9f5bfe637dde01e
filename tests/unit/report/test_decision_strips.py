"""Strips of a decision say what the rules would say at every value."""

from __future__ import annotations

import math

import plotly.graph_objects as go
import pytest

from autofinity.model.affinity import HINTS, PACKED, SPREAD
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.policy.explain import Explanation, explain
from autofinity.policy.files import load
from autofinity.policy.firing import hint_at
from autofinity.report.decision_page import decision_section, inputs_table, rules_table
from autofinity.report.decision_strips import decision_plot, strips_of
from autofinity.report.page import Sentences
from autofinity.resources import shipped

SAMPLE = {"instructions": 4e8, "llc_requests": 6e6, "llc_misses": 1e6}


@pytest.fixture(scope="module")
def policy() -> RulePolicy:
    return load(shipped("policies", "opteron-6164he.json"))


@pytest.fixture(scope="module")
def why(policy: RulePolicy) -> Explanation:
    return explain(policy, SAMPLE)


def test_a_strip_has_the_hint_of_the_rules_at_every_value(
    policy: RulePolicy, why: Explanation
) -> None:
    strips = strips_of(policy, why)
    assert [strip.name for strip in strips] == ["llc_requests_pki", "llc_miss_share"]
    for strip in strips:
        assert strip.low < strip.value < strip.high
        assert strip.stretches[0].lower == strip.low
        assert strip.stretches[-1].upper == strip.high
        for part in strip.stretches:
            for at in (0.001, 0.5, 1.0):  # (lower, upper]
                value = part.lower + at * (part.upper - part.lower)
                assert hint_at(policy, {**why.values, strip.name: value}) == part.hint
        for before, after in zip(strip.stretches, strip.stretches[1:], strict=False):
            assert before.upper == after.lower
            assert before.hint != after.hint


def test_the_measured_value_lies_on_the_hint_that_was_decided(
    policy: RulePolicy, why: Explanation
) -> None:
    for strip in strips_of(policy, why):
        (here,) = (part for part in strip.stretches if part.lower < strip.value <= part.upper)
        assert here.hint == why.decision.hint


def test_what_was_not_measured_and_what_no_rule_asks_for_has_no_strip() -> None:
    rule = Rule((Condition("a", 1.0, 2.0),), PACKED)
    asked = RulePolicy(("a", "b"), {}, (rule,), SPREAD)
    assert [strip.name for strip in strips_of(asked, explain(asked, {"a": 1.5, "b": 1.0}))] == ["a"]
    assert strips_of(asked, explain(asked, {"b": 1.0})) == []
    assert decision_plot(asked, explain(asked, {}), "x") is None


def test_values_of_0_and_below_have_a_strip_too() -> None:
    rule = Rule((Condition("a", -math.inf, 0.0),), PACKED)
    asked = RulePolicy(("a",), {}, (rule,), SPREAD)
    (strip,) = strips_of(asked, explain(asked, {"a": 0.0}))
    assert not strip.log
    assert [part.hint for part in strip.stretches] == [PACKED, SPREAD]


def test_the_plot_is_a_figure_of_plotly_with_one_legend_entry_a_hint(
    policy: RulePolicy, why: Explanation
) -> None:
    plot = decision_plot(policy, why, "look")
    assert plot is not None
    go.Figure(plot.figure)  # raises for what its schema does not know
    named = [trace["name"] for trace in plot.figure["data"] if trace["showlegend"]]
    assert len(set(named)) == len(named)
    assert "measured" in named
    assert plot.figure["layout"]["height"] == plot.height_px


def test_a_section_says_what_explain_says_and_every_rule_what_it_lacks(
    policy: RulePolicy, why: Explanation
) -> None:
    section = decision_section(policy, why, "title", "look", after=("at last",))
    (said,) = (block for block in section.blocks if isinstance(block, Sentences))
    assert said.lines[0].startswith(why.decision.hint.shown)
    assert any(line.startswith("runner-up: ") for line in said.lines)
    assert said.lines[-1] == "at last"
    rules = rules_table(policy, why)
    assert len(rules.rows) == len(policy.rules) + 1
    assert [row[3].text for row in rules.rows].count("decides") == 1
    inputs = {row[0].text: row for row in inputs_table(policy, why).rows}
    assert inputs["instructions"][2].text == "per thread and second"
    assert inputs["llc_miss_share"][2].text.startswith("the own LLC misses 16.7 % of")


def test_names_of_counters_are_no_markup_in_the_plot() -> None:
    hostile = "<b>x</b>"
    asked = RulePolicy((hostile,), {}, (Rule((Condition(hostile, 1.0, 2.0),), HINTS[3]),), HINTS[0])
    plot = decision_plot(asked, explain(asked, {hostile: 1.5}), "x")
    assert plot is not None and hostile not in str(plot.figure)
