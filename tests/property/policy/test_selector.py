"""Decisions: first rule wins, margins are safe distances, the runner-up is really the nearest."""

import itertools
import math
import random
import time

import pytest

from autofinity.model.affinity import HINTS
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.policy.explain import explain, explanation_data, explanation_text
from autofinity.policy.firing import hint_at
from autofinity.policy.nearest import edges_of, nearest_change, relative, single_changes
from autofinity.policy.readable import policy_text
from autofinity.policy.selector import decide, values_of

INF = math.inf


def random_policy(draw: random.Random, rules: int, counters: int = 3) -> RulePolicy:
    names = tuple(f"c{i}" for i in range(counters))
    cuts = {name: tuple(sorted(draw.sample(range(-4, 9), 4))) for name in names}

    def condition() -> Condition:
        name = draw.choice(names)
        edges = [-INF, *map(float, cuts[name]), INF]
        low, high = sorted(draw.sample(range(len(edges)), 2))
        if (low, high) == (0, len(edges) - 1):
            low = 1
        return Condition(name, edges[low], edges[high])

    return RulePolicy(
        names,
        {name: tuple(map(float, edges)) for name, edges in cuts.items()},
        tuple(
            Rule(
                tuple(condition() for _ in range(draw.randint(1, 3))),
                draw.choice(HINTS[:3]),
            )
            for _ in range(rules)
        ),
        draw.choice(HINTS[:3]),
    )


def random_sample(draw: random.Random, policy: RulePolicy) -> dict[str, float]:
    def value(counter: str) -> float:
        edge = draw.choice(policy.cut_points[counter])
        return draw.choice(
            [draw.uniform(-6, 10), edge, math.nextafter(edge, INF), 0.0, INF, -INF, math.nan]
            + [draw.uniform(-6, 10)] * 7
        )

    return {counter: value(counter) for counter in policy.counters}


def test_the_first_rule_that_holds_decides() -> None:
    always = Condition("x", -INF, 5.0)
    policy = RulePolicy(
        ("x",), {}, (Rule((always,), HINTS[1]), Rule((always,), HINTS[2])), HINTS[3]
    )
    assert (decide(policy, {"x": 5.0}).hint, decide(policy, {"x": 5.0}).rule) == (HINTS[1], 0)
    assert (decide(policy, {"x": 5.1}).hint, decide(policy, {"x": 5.1}).rule) == (HINTS[3], None)
    assert decide(policy, {}).hint == HINTS[3], "what was not measured fulfils no condition"


def test_a_policy_without_rules_has_no_runner_up() -> None:
    decision = decide(RulePolicy(("x",), {"x": ()}, (), HINTS[4]), {"x": 1.0})
    assert (decision.hint, decision.rule, decision.runner_up) == (HINTS[4], None, None)
    assert decision.margin == INF


def test_a_value_on_a_closed_edge_has_no_margin_upwards() -> None:
    policy = RulePolicy(("x",), {}, (Rule((Condition("x", 1.0, 2.0),), HINTS[1]),), HINTS[0])
    assert decide(policy, {"x": 2.0}).margin == 0.0
    assert decide(policy, {"x": 1.6}).margin == pytest.approx(0.25)
    assert decide(policy, {"x": 0.8}).margin == pytest.approx(0.25)


@pytest.mark.parametrize("seed", range(40))
def test_moving_one_value_by_less_than_the_margin_never_changes_the_hint(seed: int) -> None:
    draw = random.Random(seed)
    policy = random_policy(draw, draw.randint(0, 7))
    for _ in range(30):
        sample = random_sample(draw, policy)
        decision = decide(policy, sample)
        margin = min(decision.margin, 10.0)
        for counter, value in sample.items():
            if not math.isfinite(value):
                continue
            edges = edges_of(policy, counter)
            for _ in range(20):
                moved = value + draw.uniform(-1, 1) * margin * (
                    abs(value) or max(map(abs, edges), default=1.0)
                )
                if relative(value, moved, edges) < decision.margin:
                    assert hint_at(policy, {**sample, counter: moved}) == decision.hint


@pytest.mark.parametrize("seed", range(40))
def test_crossing_the_nearest_edge_alone_gives_the_hint_that_is_named(seed: int) -> None:
    draw = random.Random(seed + 100)
    policy = random_policy(draw, draw.randint(1, 7))
    for _ in range(30):
        sample = random_sample(draw, policy)
        hint = hint_at(policy, sample)
        for change in single_changes(policy, sample, hint):
            there = math.nextafter(change.edge, INF) if change.upwards else change.edge
            assert hint_at(policy, {**sample, change.counter: there}) == change.hint != hint


def nearest_by_trying_all(policy: RulePolicy, sample: dict[str, float]) -> float:
    """Distance to the nearest cell of another hint, over all cells."""
    hint = hint_at(policy, sample)
    axes = []
    for counter, value in sample.items():
        edges = edges_of(policy, counter)
        places = [(0.0, value)]
        if math.isfinite(value):
            for edge in edges:
                there = edge if value > edge else math.nextafter(edge, INF)
                places.append((relative(value, edge, edges), there))
        axes.append(places)
    best = INF
    for cell in itertools.product(*axes):
        point = {c: there for c, (_, there) in zip(sample, cell, strict=True)}
        if hint_at(policy, point) != hint:
            best = min(best, max(distance for distance, _ in cell))
    return best


@pytest.mark.parametrize("seed", range(60))
def test_the_runner_up_is_the_nearest_of_all_cells(seed: int) -> None:
    draw = random.Random(seed + 200)
    policy = random_policy(draw, draw.randint(0, 6))
    for _ in range(10):
        sample = random_sample(draw, policy)
        hint = hint_at(policy, sample)
        found = nearest_change(policy, sample, hint)
        expected = nearest_by_trying_all(policy, sample)
        assert (found.relative if found else INF) == expected
        if found:
            moved = dict(sample)
            for change in found.changes:
                there = math.nextafter(change.edge, INF) if change.upwards else change.edge
                moved[change.counter] = there
            assert hint_at(policy, moved) == found.hint != hint
            assert decide(policy, sample).runner_up == found.hint


def test_an_explanation_names_missing_and_unknown_counters() -> None:
    policy = random_policy(random.Random(1), 4)
    why = explain(policy, {"c1": 2.0, "flops": 3.0})
    assert why.missing == ("c0", "c2")
    assert why.unknown == ("flops",)
    text = explanation_text(policy, why)
    assert text.startswith("cannot decide: the sample lacks c0, c2, which the rules ask for;")
    data = explanation_data(policy, why)
    assert data["hint"] is None and data["depends_on"] == ["c0", "c2"]
    assert "ignored: flops; the policy looks at c0, c1, c2" in text


def test_an_explanation_agrees_with_the_decision_in_text_and_data() -> None:
    draw = random.Random(5)
    for _ in range(50):
        policy = random_policy(draw, 5)
        sample = random_sample(draw, policy)
        why = explain(policy, sample)
        assert why.decision == decide(policy, sample)
        first = next((answer.index for answer in why.rules if answer.fires), None)
        assert first == why.decision.rule
        data = explanation_data(policy, why)
        assert data["hint"] == (str(why.decision.hint) if why.possible.decided else None)
        begin = f"{why.decision.hint.shown}: " if why.possible.decided else "cannot decide: "
        assert explanation_text(policy, why).startswith(begin)


def test_values_keep_the_order_of_the_policy() -> None:
    policy = random_policy(random.Random(1), 2)
    assert list(values_of(policy, {"c2": 1.0, "c0": 2.0})) == ["c0", "c1", "c2"]


def test_a_printed_policy_shows_every_rule_and_the_default() -> None:
    policy = RulePolicy(
        ("x", "y"),
        {"x": (1.0, 2.0)},
        (
            Rule((Condition("x", 1.0, 2.0), Condition("y", -INF, 3e9)), HINTS[1], 7.0, 1.0),
            Rule((Condition("y", 4.0, INF),), HINTS[7]),
        ),
        HINTS[0],
        {"machine": "box", "settings": {"k": 4}},
    )
    text = policy_text(policy)
    first = "1 < x <= 2 and y <= 3e+09   (weight 7, of it wrong 1)"
    assert f"1. own-caches-many-sockets (SLp)  if {first}" in text
    assert "2. packed (slp)  if y > 4" in text
    assert "else spread (SLP)" in text
    assert "machine: box" in text and "k 4" in text
    assert "weight of a rule: of the training cases that it decides; wrong: of those with" in text


def test_thousands_of_rules_are_explained_in_seconds() -> None:
    draw = random.Random(5)
    names = ("x", "y")

    def rule() -> Rule:
        lowers = [draw.random() for _ in names]
        conditions = (Condition(n, low, low + 0.01) for n, low in zip(names, lowers, strict=True))
        return Rule(tuple(conditions), draw.choice(HINTS[:3]))

    policy = RulePolicy(names, {}, tuple(rule() for _ in range(5000)), HINTS[0])
    start_s = time.process_time()
    why = explain(policy, {"x": 0.5, "y": 0.5})
    assert time.process_time() - start_s < 5
    assert why.nearest is not None and len(why.margins) == 2
