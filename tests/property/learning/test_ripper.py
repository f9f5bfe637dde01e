"""Rules depend on what the rows say, not on how they are written down."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_growth import conditions, gain

from autofinity._core import learning as native
from autofinity.learning.ripper import by_ripper
from autofinity.learning.value_rules import ValueRule, first_to_fire, learn_rules
from autofinity.model.affinity import HINTS
from autofinity.model.policy import RulePolicy
from autofinity.policy.selector import decide

seeds = st.integers(0, 2**32 - 1)
CALM = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def noisy_rows(
    draw: np.random.Generator, count: int, steps: int
) -> tuple[np.ndarray, list[bool], np.ndarray]:
    """Rows with missing values, of ordered and nominal columns, and labels that depend on them."""
    values = draw.integers(0, steps, (count, 3)).astype(float)
    labels = np.where(values[:, 0] >= steps / 2, 2, np.where(values[:, 1] == 1, 1, 0))
    labels = np.where(draw.random(count) < 0.2, draw.integers(0, 3, count), labels)
    values[draw.random(values.shape) < 0.05] = np.nan
    return values, [False, True, False], labels


def learn(
    values: np.ndarray, nominal: list[bool], labels: np.ndarray, weights: np.ndarray | None = None
) -> list[ValueRule]:
    weights = np.ones(len(labels)) if weights is None else weights
    return learn_rules(values, nominal, labels, weights, 3)


@CALM
@given(seeds, st.integers(5, 150))
def test_the_order_of_rows_does_not_matter(seed: int, count: int) -> None:
    draw = np.random.default_rng(seed)
    values, nominal, labels = noisy_rows(draw, count, 6)
    weights = draw.random(count)
    order = draw.permutation(count)
    assert learn(values, nominal, labels, weights) == learn(
        values[order], nominal, labels[order], weights[order]
    )


@CALM
@given(seeds, st.integers(5, 150))
def test_a_weight_of_two_is_the_row_twice_and_of_none_no_row(seed: int, count: int) -> None:
    draw = np.random.default_rng(seed)
    values, nominal, labels = noisy_rows(draw, count, 6)
    times = draw.integers(0, 4, count)
    times[0] = 1
    weighed = learn(values, nominal, labels, times.astype(float))
    assert weighed == learn(np.repeat(values, times, axis=0), nominal, np.repeat(labels, times))


@CALM
@given(seeds, st.integers(5, 150))
def test_numbers_are_learned_as_their_places_are(seed: int, count: int) -> None:
    draw = np.random.default_rng(seed)
    places, nominal, labels = noisy_rows(draw, count, 6)
    scale = np.array([-7.5, 0.25, 1.0])
    spread = places * np.abs(scale) + scale  # same order, same distances
    of_places, of_numbers = learn(places, nominal, labels), learn(spread, nominal, labels)
    assert [rule.label for rule in of_places] == [rule.label for rule in of_numbers]
    assert (first_to_fire(of_places, places) == first_to_fire(of_numbers, spread)).all()


@CALM
@given(seeds, st.integers(2, 60), st.sampled_from([0.0, 2.0, 5.0]))
def test_the_condition_added_is_the_best_of_all(seed: int, count: int, least: float) -> None:
    draw = np.random.default_rng(seed)
    values, nominal, labels = noisy_rows(draw, count, 5)
    values[:, 2] += draw.normal(size=count)
    labels = (labels > 0).astype(np.int32)
    weights = draw.integers(1, 4, count).astype(float)
    gains = [
        gain(values, labels, weights, least, condition) for condition in conditions(values, nominal)
    ]
    most = max(gains, default=0.0)
    found = native.best_condition(values, nominal, labels, weights, least)
    if found is None:
        assert most == pytest.approx(0.0, abs=1e-9)
        return
    *condition, bits = found
    assert bits == pytest.approx(most)
    assert gain(values, labels, weights, least, tuple(condition)) == pytest.approx(most)  # type: ignore[arg-type]


@pytest.mark.parametrize("least", [0.0, 40.0])
@pytest.mark.parametrize("seed", range(2))
def test_the_condition_added_is_the_best_of_thousands(seed: int, least: float) -> None:
    draw = np.random.default_rng(seed)
    values = np.column_stack([draw.normal(size=2500), draw.integers(0, 1100, 2500)])
    values[draw.random(values.shape) < 0.05] = np.nan
    steep = (values @ [1.0, 0.004]) + draw.normal(size=2500) > 1.5 + seed
    labels, weights = steep.astype(np.int32), draw.integers(1, 4, 2500).astype(float)
    found = native.best_condition(values, [False, False], labels, weights, least)
    assert found is not None
    *condition, bits = found
    every = conditions(values, [False, False])
    assert bits == pytest.approx(max(gain(values, labels, weights, least, one) for one in every))
    assert gain(values, labels, weights, least, tuple(condition)) == pytest.approx(bits)  # type: ignore[arg-type]


@CALM
@given(seeds, st.sampled_from(["ordered", "nominal"]))
def test_the_policy_says_what_the_rules_say(seed: int, bin_type: str) -> None:
    draw = np.random.default_rng(seed)
    cuts = {name: tuple(float(i) for i in range(5)) for name in "abc"}
    rows = draw.integers(0, 6, (150, 3))
    labels = np.where(rows[:, 0] >= 4, 7, np.where(rows[:, 2] == 3, 4, 0))
    labels = np.where(draw.random(150) < 0.2, draw.integers(0, 8, 150), labels)
    weights = np.ones(150)
    policy: RulePolicy = by_ripper(cuts, rows, labels, weights, 1, bin_type)  # type: ignore[arg-type]
    rules = learn_rules(rows.astype(float), [bin_type == "nominal"] * 3, labels, weights, 8)
    said = [HINTS[rules[first].label] for first in first_to_fire(rules, rows.astype(float))]
    samples = [dict(zip(policy.counters, row - 0.5, strict=True)) for row in rows]
    assert [decide(policy, sample).hint for sample in samples] == said


@CALM
@given(seeds, st.integers(0, 12), st.integers(0, 3))
def test_whatever_is_given_is_learned_from(seed: int, count: int, columns: int) -> None:
    draw = np.random.default_rng(seed)
    extremes = np.array([np.nan, 0.0, -0.0, 5e-324, 1e308, -1e308, 1.0])
    values = draw.choice(extremes, (count, columns))
    labels = draw.integers(0, 3, count)
    weights = draw.choice([0.0, 1e-300, 1.0, 40.0, 1e300], count)
    rules = learn(values, [bool(c % 2) for c in range(columns)], labels, weights)
    assert rules[-1].tests == ()
    assert (first_to_fire(rules, values) >= 0).all()
