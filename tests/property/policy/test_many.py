"""Many samples at once are answered as each sample alone, to the bit."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.policy import (
    Condition,
    Instead,
    OtherCounts,
    Rule,
    RulePolicy,
    SecondLook,
    Trial,
    looked_at,
)
from autofinity.model.ratios import SPEED_GAIN, SPEEDUP, Ratio
from autofinity.policy import many, selector
from autofinity.policy.answers import Given, steps
from autofinity.policy.firing import hint_at

CORES = Affinity.parse("{4,4}{4,4}")
COUNTERS = ("instructions", "misses", "requests")
SHARE = Ratio("share", ("misses", "requests"), ("requests", "instructions"), 1e3)
OF_FACT = Ratio("of_fact", ("misses",), ("instructions",), 1.0, "cores")
ODD = (0.0, -0.0, -1.0, math.inf, -math.inf, math.nan, 1e308, 5e-324)
THREADS = 8


def rules(draw: random.Random, inputs: tuple[str, ...], most: int) -> tuple[Rule, ...]:
    def condition() -> Condition:
        low, high = sorted(draw.choices([-math.inf, 0.0, 0.5, 1.0, 1.5, 2.0, 900.0, math.inf], k=2))
        return Condition(draw.choice(inputs), low, high)

    return tuple(
        Rule(tuple(condition() for _ in range(draw.randint(0, 3))), draw.choice(HINTS))
        for _ in range(draw.randint(0, most))
    )


def policy_of(draw: random.Random) -> RulePolicy:
    """A policy of one to three looks, and with answers for other thread counts."""
    ratios = (SHARE, OF_FACT)
    first = RulePolicy(COUNTERS, {}, (), draw.choice(HINTS), ratios=ratios)
    first = replace(first, rules=rules(draw, first.inputs, 4))
    if draw.random() < 0.2:
        return first
    again = RulePolicy(looked_at(COUNTERS), {}, (), draw.choice(HINTS), ratios=(SHARE, SPEEDUP))
    inputs = (*again.inputs, *[SPEED_GAIN] * 6)
    again = replace(again, rules=rules(draw, inputs, 4))
    after = tuple(hint for hint in HINTS if draw.random() < 0.8)
    second = SecondLook(draw.choice(HINTS[1:]), after, again)
    trial = Trial(draw.choice(HINTS), 1.01)
    instead = tuple(
        Instead(draw.choice(HINTS), 1, draw.choice((4, 16)), draw.choice(HINTS)) for _ in range(3)
    )
    return replace(
        first,
        second=second,
        trial=draw.choice((None, trial, trial)),
        other_counts=draw.choice((None, OtherCounts(CORES, instead))),
    )


def columns_of(draw: random.Random, rows: int) -> dict[str, many.Floats]:
    """Columns of some of the counters."""

    def value() -> float:
        return draw.choice((draw.uniform(0.4, 2.2),) * 9 + (1.0, draw.choice(ODD)))

    return {
        name: np.array([value() for _ in range(rows)]) for name in COUNTERS if draw.random() < 0.9
    }


def row_of(columns: dict[str, many.Floats] | None, at: int) -> dict[str, float] | None:
    return None if columns is None else {name: float(c[at]) for name, c in columns.items()}


@pytest.mark.parametrize("seed", range(150))
def test_the_last_answers_of_many_samples_are_those_of_each_alone(seed: int) -> None:
    draw = random.Random(seed)
    policy, rows = policy_of(draw), draw.choice((0, 1, 40))
    first = columns_of(draw, rows)
    second, trial = (draw.choice((None, *[columns_of(draw, rows)] * 5)) for _ in range(2))

    def meant(hint: Hint) -> Hint:
        return policy.at(hint, THREADS, CORES)

    place = dict(zip(HINTS, draw.choices("abcdefgh", k=8), strict=True)).__getitem__
    codes = many.last_answers(policy, many.Samples(rows, first, second, trial), meant, place)
    assert codes.shape == (rows,)
    for at in range(rows):
        start = row_of(first, at)
        assert start is not None
        given = Given(policy, start, row_of(second, at), row_of(trial, at), meant, place)
        assert HINTS[codes[at]] == steps(policy, given, meant).steps[-1].decision.hint


@pytest.mark.parametrize("seed", range(50))
def test_values_and_the_answers_of_one_look_are_those_of_each_alone(seed: int) -> None:
    draw = random.Random(1000 + seed)
    policy, columns = policy_of(draw), columns_of(draw, 30)
    values = many.values_of(policy, columns, 30)
    said = many.hints(policy, values, 30)
    for at in range(30):
        alone = selector.values_of(policy, row_of(columns, at) or {})
        assert list(values) == list(alone)
        assert [float(c[at]).hex() for c in values.values()] == [v.hex() for v in alone.values()]
        assert HINTS[said[at]] == hint_at(policy, alone)


def test_trials_are_among_the_drawn_cases_and_change_answers() -> None:
    changed = tried = 0
    for seed in range(150):
        draw = random.Random(seed)
        policy = policy_of(draw)
        first, second, trial = (columns_of(draw, 40) for _ in range(3))
        before = many.last_answers(policy, many.Samples(40, first, second))
        after = many.last_answers(policy, many.Samples(40, first, second, trial))
        tried += policy.trial is not None
        changed += int((before != after).sum())
    assert tried > 50 and changed > 100
