"""Our own RIPPER finds rules that are there, and none where there are none."""

import numpy as np
import pytest

from autofinity.learning.ripper import RipperLearner
from autofinity.learning.rule_growth import Data, Literal, grow, prune
from autofinity.learning.rule_length import total_length
from autofinity.model.affinity import HINTS
from autofinity.model.errors import LearningError
from autofinity.model.policy import RulePolicy

CUTS = {name: tuple(float(i) for i in range(5)) for name in "abc"}


def learn(rows: np.ndarray, labels: np.ndarray, seed: int = 1) -> RulePolicy:
    return RipperLearner().learn(
        tuple(CUTS), CUTS, rows.tolist(), labels.tolist(), [1.0] * len(rows), seed
    )


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
        RipperLearner().learn(("a",), {"a": ()}, [], [], [], 1)


def data_of(rows: list[list[int]], positive: list[bool]) -> Data:
    return Data(np.array(rows), np.array(positive), np.ones(len(rows)), (4, 4))


def test_growing_stops_when_nothing_against_is_covered() -> None:
    data = data_of([[0, 0], [0, 3], [3, 0], [3, 3]], [True, False, False, False])
    assert set(grow(data, ())) == {Literal(0, True, 0), Literal(1, True, 0)}


def test_pruning_drops_conditions_that_do_not_help_on_other_rows() -> None:
    rule = (Literal(0, True, 1), Literal(1, True, 0))
    data = data_of([[0, 0], [1, 3], [3, 0]], [True, True, False])
    assert prune(rule, data) == rule[:1]
    against = data_of([[0, 0], [1, 3], [1, 2]], [True, False, False])
    assert prune(rule, against) == rule


def test_a_rule_that_separates_shortens_the_description() -> None:
    draw = np.random.default_rng(3)
    rows = draw.integers(0, 4, (200, 2))
    data = Data(rows, rows[:, 0] <= 1, np.ones(200), (4, 4))
    good, useless = (Literal(0, True, 1),), (Literal(1, True, 1),)
    assert total_length(data, [good]) < total_length(data, []) < total_length(data, [useless]) + 40
    assert total_length(data, [good]) < total_length(data, [good, useless])
