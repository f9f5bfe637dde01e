"""Possible answers without some counters are the answers with all values of these counters."""

from __future__ import annotations

import itertools
import math
import random

from autofinity.model.affinity import HINTS
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.model.ratios import Ratio
from autofinity.policy.possible import possible
from autofinity.policy.selector import decide, values_of

NAMES = ("a", "b", "c")
EDGES = (-math.inf, 1.0, 2.0, 4.0, math.inf)
VALUES = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
SHARE = Ratio("share", ("a",), ("b",))


def random_policy(draw: random.Random, inputs: tuple[str, ...]) -> RulePolicy:
    def condition() -> Condition:
        low, high = sorted(draw.sample(range(len(EDGES)), 2))
        return Condition(draw.choice(inputs), EDGES[low], EDGES[high])

    def rule() -> Rule:
        return Rule(tuple(condition() for _ in range(draw.randint(1, 3))), draw.choice(HINTS[:3]))

    rules = tuple(rule() for _ in range(draw.randint(0, 5)))
    return RulePolicy(NAMES, {}, rules, draw.choice(HINTS[:3]), ratios=(SHARE,))


def test_every_value_of_what_is_missing_gives_a_hint_and_a_rule_that_are_possible() -> None:
    draw = random.Random(7)
    decided = 0
    for _ in range(300):
        policy = random_policy(draw, (*NAMES, "share"))
        missing = draw.sample(NAMES, draw.randint(0, 2))
        sample = {name: draw.choice(VALUES) for name in NAMES if name not in missing}
        found = possible(policy, values_of(policy, sample))
        products = itertools.product(VALUES, repeat=len(missing))
        fills = (dict(zip(missing, some, strict=True)) for some in products)
        answers = [decide(policy, sample | fill) for fill in (*fills, {})]
        assert {answer.hint for answer in answers} <= set(found.hints)
        assert {answer.rule for answer in answers} <= set(found.rules)
        assert set(found.lacking) <= set(missing)
        assert found.decided or found.lacking, "an open answer names what is missing"
        decided += found.decided and len(answers) > 1
    assert decided > 30


def test_each_possible_hint_is_given_for_some_value_where_conditions_do_not_contradict() -> None:
    draw = random.Random(8)
    for _ in range(200):
        above = [(name, edge) for name in NAMES for edge in (1.0, 2.0)]
        rules = tuple(
            Rule((Condition(name, edge, math.inf),), hint)
            for (name, edge), hint in zip(draw.sample(above, 3), HINTS, strict=False)
            if name == "a" or edge == 2.0
        )
        once = {rule.conditions[0].counter: rule for rule in reversed(rules)}
        policy = RulePolicy(NAMES, {}, tuple(once.values()), HINTS[7])
        sample = {"a": draw.choice(VALUES)}
        found = possible(policy, values_of(policy, sample))
        fills = itertools.product(VALUES, repeat=2)
        answers = {decide(policy, sample | {"b": b, "c": c}).hint for b, c in fills}
        assert answers == set(found.hints)


def test_a_ratio_over_zero_is_known_to_have_no_value() -> None:
    rule = Rule((Condition("share", 1.0, math.inf),), HINTS[1])
    policy = RulePolicy(NAMES, {}, (rule,), HINTS[0], ratios=(SHARE,))
    assert possible(policy, values_of(policy, {"a": 1.0, "b": 0.0})).decided
    assert possible(policy, values_of(policy, {"a": 1.0})).lacking == ("b",)
