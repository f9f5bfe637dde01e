"""A policy of facts on a machine decides as its rules say of the machine's facts."""

import math

import pytest

from autofinity.model.affinity import HINTS, Hint
from autofinity.model.errors import ExportError
from autofinity.model.policy import Condition, Rule, RulePolicy, SecondLook, looked_at
from autofinity.model.ratios import Ratio
from autofinity.policy.export import FORMATS, exported
from autofinity.policy.on_machine import on_machine
from autofinity.policy.readable import policy_text
from autofinity.policy.selector import decide

SPREAD, PACKED = HINTS[0], HINTS[-1]
INF = math.inf
LOAD = Ratio("load", ("misses",), ("clocks",), 1e3, "packed_lines_pkc")


def starving(hint: Hint, *more: Condition) -> Rule:
    return Rule((Condition("load", 0.5, INF), *more), hint)


ROOM = Condition("fullness", -INF, 0.5)
POLICY = RulePolicy(
    ("misses", "clocks"),
    {"load": (0.5,), "fullness": (0.5,), "clocks": (1.0,)},
    (starving(SPREAD, ROOM),),
    PACKED,
    ratios=(LOAD,),
    facts=("packed_lines_pkc", "fullness"),
)
SAMPLE = {"misses": 20.0, "clocks": 1000.0}  # 20 lines a thousand clocks


@pytest.mark.parametrize(
    ("lines", "fullness", "hint"),
    [
        (30.0, 0.1, SPREAD),
        (50.0, 0.1, PACKED),
        (30.0, 1.0, PACKED),
        (math.nan, 0.1, PACKED),
        (30.0, math.nan, PACKED),
        (0.0, 0.1, PACKED),
        (math.inf, 0.1, PACKED),
    ],
)
def test_rules_hold_as_the_facts_say_and_never_where_one_is_not_known(
    lines: float, fullness: float, hint: Hint
) -> None:
    here = on_machine(POLICY, {"packed_lines_pkc": lines, "fullness": fullness})
    assert decide(here, SAMPLE).hint == hint
    assert here.facts == () and "fullness" not in here.cut_points


def test_without_a_machine_no_condition_on_facts_holds() -> None:
    assert decide(POLICY, SAMPLE).hint == PACKED
    assert on_machine(POLICY, {}).rules == ()


def test_a_second_look_has_the_same_facts() -> None:
    again = RulePolicy(
        looked_at(POLICY.counters),
        {"load": (0.5,)},
        (starving(SPREAD),),
        PACKED,
        ratios=(LOAD,),
        facts=POLICY.facts,
    )
    both = RulePolicy(
        *(POLICY.counters, POLICY.cut_points, POLICY.rules, PACKED),
        ratios=POLICY.ratios,
        second=SecondLook(PACKED, (PACKED,), again),
        facts=POLICY.facts,
    )
    here = on_machine(both, {"packed_lines_pkc": 30.0})
    assert here.rules == () and here.second is not None
    values = SecondLook.values(SAMPLE, SAMPLE)
    assert decide(here.second.policy, values).hint == SPREAD


def test_a_policy_of_counters_alone_is_the_same_everywhere() -> None:
    plain = RulePolicy(("a",), {}, (), SPREAD)
    assert on_machine(plain, {"fullness": 1.0}) is plain


def test_facts_are_shown_with_their_meaning() -> None:
    text = policy_text(POLICY)
    assert "load = 1000 (misses) / (clocks) / packed_lines_pkc" in text
    assert "  fullness: threads over cores\n" in text


@pytest.mark.parametrize("form", [name for name, form in FORMATS.items() if form.decides])
def test_what_decides_by_itself_is_exported_for_a_machine_only(form: str) -> None:
    with pytest.raises(ExportError, match="--machine"):
        exported(POLICY, form)
    here = on_machine(POLICY, {"packed_lines_pkc": 30.0, "fullness": 0.1})
    assert exported(here, form)
