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


def starving(hint: Hint) -> Rule:
    return Rule((Condition("load", 0.5, INF),), hint)


BUSY = Rule((Condition("clocks", 5000.0, INF),), SPREAD)
POLICY = RulePolicy(
    ("misses", "clocks"),
    {"load": (0.5,), "clocks": (5000.0,)},
    (starving(SPREAD), BUSY),
    PACKED,
    ratios=(LOAD,),
)
SAMPLE = {"misses": 20.0, "clocks": 1000.0}  # 20 lines a thousand clocks


@pytest.mark.parametrize(
    ("lines", "hint"),
    [(30.0, SPREAD), (50.0, PACKED), (math.nan, PACKED), (0.0, PACKED), (INF, PACKED)],
)
def test_rules_hold_as_the_facts_say_and_never_where_one_is_not_known(
    lines: float, hint: Hint
) -> None:
    here = on_machine(POLICY, {"packed_lines_pkc": lines})
    assert decide(here, SAMPLE).hint == hint
    assert here.facts == () and BUSY in here.rules


def test_without_a_machine_no_condition_on_facts_holds() -> None:
    assert decide(POLICY, SAMPLE).hint == PACKED
    assert on_machine(POLICY, {}).rules == (BUSY,)


def test_a_second_look_has_the_same_facts() -> None:
    again = RulePolicy(
        looked_at(POLICY.counters),
        {"load": (0.5,)},
        (starving(SPREAD),),
        PACKED,
        ratios=(LOAD,),
    )
    both = RulePolicy(
        *(("misses", "clocks"), {}, (), PACKED),
        second=SecondLook(PACKED, (PACKED,), again),
    )
    assert both.facts == ("packed_lines_pkc",)
    here = on_machine(both, {"packed_lines_pkc": 30.0})
    assert here.facts == () and here.second is not None
    values = SecondLook.values(SAMPLE, SAMPLE)
    assert decide(here.second.policy, values).hint == SPREAD


def test_a_policy_of_counters_alone_is_the_same_everywhere() -> None:
    plain = RulePolicy(("a",), {}, (), SPREAD)
    assert on_machine(plain, {"packed_lines_pkc": 1.0}) is plain


def test_facts_are_shown_with_their_meaning() -> None:
    text = policy_text(POLICY)
    assert "load = 1000 (misses) / (clocks) / packed_lines_pkc" in text
    assert "  packed_lines_pkc: lines from memory that each thread can read" in text


@pytest.mark.parametrize("form", [name for name, form in FORMATS.items() if form.decides])
def test_what_decides_by_itself_is_exported_for_a_machine_only(form: str) -> None:
    with pytest.raises(ExportError, match="--machine"):
        exported(POLICY, form)
    here = on_machine(POLICY, {"packed_lines_pkc": 30.0})
    assert exported(here, form)
