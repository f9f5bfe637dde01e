"""Our own RIPPER finds rules that are there, and none where there are none."""

import math

import numpy as np
import pytest

from autofinity._core import learning as native
from autofinity.learning.ripper import by_ripper
from autofinity.learning.value_rules import learn_rules
from autofinity.model.affinity import HINTS
from autofinity.model.errors import LearningError
from autofinity.model.policy import RulePolicy

CUTS = {name: tuple(float(i) for i in range(5)) for name in "abc"}


def learn(rows: np.ndarray, labels: np.ndarray, seed: int = 1) -> RulePolicy:
    return by_ripper(CUTS, rows, labels, [1.0] * len(rows), seed)


def says(policy: RulePolicy, rows: np.ndarray) -> np.ndarray:
    values = [dict(zip(policy.counters, row - 0.5, strict=True)) for row in rows]
    answers = []
    for sample in values:
        fired = (r for r in policy.rules if all(c.holds(sample[c.counter]) for c in r.conditions))
        answers.append(HINTS.index(next((r.hint for r in fired), policy.default)))
    return np.array(answers)


def concept(draw: np.random.Generator, count: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    rows = draw.integers(0, 6, (count, 3))
    labels = np.where((rows[:, 0] >= 4) & (rows[:, 1] <= 2), 7, np.where(rows[:, 2] == 3, 4, 0))
    flip = draw.random(count) < noise
    return rows, np.where(flip, draw.integers(0, 8, count), labels)


@pytest.mark.parametrize("seed", range(3))
def test_a_concept_without_noise_is_learned_exactly(seed: int) -> None:
    rows, labels = concept(np.random.default_rng(seed), 1200, 0.0)
    policy = learn(rows, labels)
    assert (says(policy, rows) == labels).all()
    assert len(policy.rules) <= 4


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_not_learned(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows, labels = concept(draw, 1500, 0.2)
    policy = learn(rows, labels)
    clean_rows, clean = concept(draw, 2000, 0.0)
    assert (says(policy, clean_rows) == clean).mean() > 0.97
    assert len(policy.rules) <= 8


def test_pure_noise_gives_hardly_a_rule() -> None:
    draw = np.random.default_rng(7)
    policy = learn(draw.integers(0, 6, (600, 3)), draw.integers(0, 2, 600))
    assert len(policy.rules) <= 1


def test_the_most_frequent_class_is_the_default_and_the_seed_decides_the_rest() -> None:
    rows, labels = concept(np.random.default_rng(5), 600, 0.1)
    assert learn(rows, labels).default == HINTS[0]
    assert learn(rows, labels, 3) == learn(rows, labels, 3)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_handful_of_rows_does_not_crash(count: int) -> None:
    rows, labels = concept(np.random.default_rng(5), count, 0.5)
    assert learn(rows, labels).counters == tuple(CUTS)


def test_one_class_gives_a_default_and_no_rows_an_error() -> None:
    assert learn(np.zeros((4, 3), int), np.full(4, 6)).default == HINTS[6]
    with pytest.raises(LearningError, match="empty"):
        by_ripper({"a": ()}, [], [], [], 1)


def test_a_rule_that_separates_shortens_the_description() -> None:
    with_rule, rows = native.rule_bits(1, 12), 100.0
    none = native.exception_bits(0, 0, rows, rows)
    separating = with_rule + native.exception_bits(rows, 0, 0, rows)
    useless = with_rule + native.exception_bits(rows / 2, rows / 2, rows / 2, rows / 2)
    assert separating < min(none, useless)


def test_exceptions_cost_what_quinlan_says() -> None:
    covered, left, false, missed = 30.0, 70.0, 3.0, 5.0
    expected = (false + missed) / (2 * left)  # the larger part first, at the expected rate
    bits = (
        math.log2(101)
        - missed * math.log2(expected)
        - (left - missed) * math.log2(1 - expected)
        - false * math.log2(false / covered)
        - (covered - false) * math.log2(1 - false / covered)
    )
    found = native.exception_bits(covered - false, false, missed, left - missed)
    assert found == pytest.approx(bits)


def test_a_rule_costs_half_of_saying_which_conditions() -> None:
    which = -3 * math.log2(3 / 10) - 7 * math.log2(7 / 10)
    number = math.log2(3) + math.log2(math.log2(3))
    assert native.rule_bits(3, 10) == pytest.approx(0.5 * (which + number))
    assert native.rule_bits(0, 10) == 0.0


@pytest.mark.parametrize(
    ("values", "weights", "settings", "says"),
    [
        ([[np.inf]], [1.0], {}, "infinite"),
        ([[0.0]], [-1.0], {}, "weight that is negative"),
        ([[0.0]], [np.nan], {}, "not finite"),
        ([[0.0]], [1.0], {"passes": -1}, "-1 passes"),
    ],
)
def test_what_cannot_be_learned_from_is_said(
    values: list[list[float]], weights: list[float], settings: dict[str, int], says: str
) -> None:
    with pytest.raises(LearningError, match=says):
        learn_rules(np.array(values), [False], np.zeros(1, int), np.array(weights), 1, **settings)
