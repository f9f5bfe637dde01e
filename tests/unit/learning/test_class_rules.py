"""Rules as a person reads them: ranges of values, whatever the learner tested."""

from __future__ import annotations

import math

import pytest

from autofinity.learning.class_rules import class_rule
from autofinity.learning.value_rules import Test as Condition
from autofinity.learning.value_rules import ValueRule

CUTS = (10.0, 20.0, 30.0)


@pytest.mark.parametrize(
    ("tests", "cuts", "says"),
    [
        ([], None, "always"),
        ([("<=", 2.5)], None, "a <= 2.5"),
        ([(">", 2.5)], None, "a > 2.5"),
        ([("<=", 7.0), (">", 1.0), (">", 2.0), ("<=", 4.0)], None, "2 < a <= 4"),
        ([("=", 3.0)], None, "a = 3"),
        ([(">", math.nextafter(3.0, -math.inf)), ("<=", 3.0)], None, "a = 3"),
        ([("<=", 0.0)], CUTS, "a <= 10"),
        ([(">", 1.5)], CUTS, "a > 20"),
        ([("=", 1.0)], CUTS, "10 < a <= 20"),
        ([("=", 0.0)], CUTS, "a <= 10"),
        ([("=", 3.0)], CUTS, "a > 30"),
        ([("=", 0.0)], (), "a is known"),
    ],
)
def test_tests_become_one_range_of_each_feature(
    tests: list[tuple[str, float]], cuts: tuple[float, ...] | None, says: str
) -> None:
    rule = ValueRule(tuple(Condition(1, how, at) for how, at in tests), (1.0, 3.0), 1)  # type: ignore[arg-type]
    read = class_rule(rule, ["b", "a"], [None, cuts], ["no", "yes"], 0.5)
    assert (read.condition, read.label, read.covered, read.wrong) == (says, "yes", 4.0, 0.5)
    assert read.text("yes") == (
        f"if {says} then yes (3.5 of 4)" if tests else "otherwise yes (3.5 of 4)"
    )
