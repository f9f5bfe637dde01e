"""Measured values are evidence for rules, or none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.policy import Condition, Rule, RulePolicy, SecondLook, looked_at
from autofinity.model.ratios import Ratio
from autofinity.policy.evidence import can_ask

COUNTERS = ("llc_misses", "llc_requests", "cycles")
SHARE = Ratio("llc_miss_share", ("llc_misses",), ("llc_requests",))
GAIN = Ratio("running_gain", ("cycles",), ("start.cycles",))


def rules(*asked: str) -> tuple[Rule, ...]:
    return tuple(Rule((Condition(name, 1.0, 2.0),), PACKED) for name in asked)


def policy(first: Sequence[str], second: Sequence[str] = ()) -> RulePolicy:
    look = RulePolicy(looked_at(COUNTERS), {}, rules(*second), PACKED, ratios=(GAIN,))
    return RulePolicy(
        COUNTERS,
        {},
        rules(*first),
        SPREAD,
        ratios=(SHARE,),
        second=SecondLook(PACKED, (PACKED,), look) if second else None,
    )


@pytest.mark.parametrize(
    ("first", "second", "measured", "can"),
    [
        (["cycles"], [], [], False),
        (["cycles"], [], ["cycles"], True),
        (["cycles"], [], ["instructions"], False),
        (["cycles", "llc_misses"], [], ["llc_misses"], True),
        (["llc_miss_share"], [], ["llc_misses"], False),  # half a ratio is none
        (["llc_miss_share"], [], ["llc_misses", "llc_requests"], True),
        (["llc_miss_share"], ["running_gain"], ["cycles"], True),
        (["llc_miss_share"], ["running_gain"], ["llc_misses"], False),
        ([], [], [], True),  # one answer, whatever is measured
        ([], ["running_gain"], [], False),
    ],
)
def test_some_condition_must_have_all_its_counters(
    first: list[str], second: list[str], measured: list[str], can: bool
) -> None:
    assert can_ask(policy(first, second), measured) == can
