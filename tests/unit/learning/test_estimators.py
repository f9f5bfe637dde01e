"""Bins, learners and programs held out, as scikit-learn has such things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from autofinity.learning import (
    BaselineClassifier,
    Discretiser,
    RegretClassifier,
    RipperClassifier,
)
from autofinity.learning.held_out import held_out
from autofinity.learning.rule_list_policy import policy_of_rules
from autofinity.learning.settings import METHODS
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.policy.selector import decide

ESTIMATORS = [
    *(Discretiser(method=method) for method in METHODS),
    RegretClassifier(),
    RegretClassifier(bins=50),
    RipperClassifier(),
    RipperClassifier(bins=50),
    BaselineClassifier(),
]


def not_applicable(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, Discretiser) and estimator.method == "equal-width":
        why = "how many bins there are hangs on the number of rows, not on their weight"
        return {"check_sample_weight_equivalence_on_dense_data": why}
    return {}


@pytest.mark.usefixtures("temporary_files_go")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=not_applicable)
def test_the_checks_of_scikit_learn_hold(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_bins_are_those_of_the_columns_and_missing_values_stay_missing() -> None:
    draw = np.random.default_rng(1)
    values, weights = draw.normal(size=(50, 3)), draw.random(50)
    values[::7, 1] = np.nan
    for method in METHODS:
        bins = Discretiser(method=method, bins=4).fit(values, sample_weight=weights)
        got = bins.transform(values)
        assert (np.isnan(got) == np.isnan(values)).all()
        edges = [-np.inf, *bins.cut_points_[0], np.inf]
        assert all(
            edges[int(b)] < v <= edges[int(b) + 1]
            for v, b in zip(values[:, 0], got[:, 0], strict=True)
        )
    with pytest.raises(ValueError, match="20 bins of 'thirds', expected 1 or more of equal-width"):
        Discretiser(method="thirds").fit(values)  # type: ignore[arg-type]


def test_what_a_wrong_label_costs_decides_and_not_how_often_it_is_wrong() -> None:
    values = np.arange(10.0)[:, None]
    labels = (values[:, 0] >= 9).astype(int)
    losses = np.zeros((10, 3))
    losses[:9, 1], losses[9, 0], losses[:, 2] = 0.01, 5.0, 9.0
    one_rule = RegretClassifier(most_rules=1, bins=[()]).fit(values, labels, losses=losses)
    assert set(one_rule.predict(values)) == {1}
    assert one_rule.classes_.tolist() == [0, 1, 2]
    free = RegretClassifier().fit(values, labels, losses=losses)
    assert (free.predict(values) == labels).all()
    assert set(RegretClassifier(bins=[()]).fit(values, labels).predict(values)) == {0}


def test_a_row_is_at_stake_by_what_its_best_label_saves_whatever_is_lost_with_all_labels() -> None:
    draw = np.random.default_rng(5)
    values, labels = draw.random((80, 2)), draw.integers(0, 2, 80)
    losses = np.where(np.eye(2)[labels] == 1, 0.0, draw.random((80, 1)))
    lost_anyway = draw.normal(size=(80, 1))
    for estimator in (RipperClassifier(), RegretClassifier()):
        apart = clone(estimator).fit(values, labels, losses=losses)
        both = clone(estimator).fit(values, labels, losses=losses + lost_anyway)
        assert apart.describe() == both.describe()


@pytest.mark.parametrize(
    ("settings", "losses", "says"),
    [
        ({"most_rules": 0}, None, "most_rules is 0"),
        ({"bins": [(), ()]}, None, "bins of 2 columns, expected 1"),
        ({}, np.zeros((2, 1)), "a column for each label"),
        ({}, np.zeros((3, 2)), "expected 2 rows"),
    ],
)
def test_what_cannot_be_is_said(
    settings: dict[str, Any], losses: np.ndarray | None, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        RegretClassifier(**settings).fit([[0], [1]], [0, 1], losses=losses)


def test_bins_and_rules_make_a_pipeline_that_is_judged_by_programs_it_has_not_seen() -> None:
    draw = np.random.default_rng(2)
    values = draw.normal(size=(400, 4))
    labels = np.where(values[:, 0] > 0.3, "spread", np.where(values[:, 2] > 0, "pack", "share"))
    program = np.repeat(np.arange(20), 20)
    model = make_pipeline(Discretiser(bins=10), RegretClassifier())
    scores = cross_val_score(clone(model), values, labels, cv=held_out(program, 5))
    assert len(scores) == 5
    assert scores.min() > 0.8


def test_programs_held_out_are_on_one_side_and_dealt_out_in_turn() -> None:
    program = np.array([5, 5, 2, 9, 9, 9, 2, 7])
    alone = held_out(program)
    assert [sorted(set(program[out].tolist())) for _, out in alone] == [[2], [5], [7], [9]]
    pairs = held_out(program, 2)
    assert [sorted(set(program[out].tolist())) for _, out in pairs] == [[2, 7], [5, 9]]
    for rest, out in (*alone, *pairs):
        assert sorted([*rest, *out]) == list(range(len(program)))
        assert not set(program[rest]) & set(program[out])
    ((rest, out),) = held_out(np.array([3, 3]), 10)
    assert (len(rest), len(out)) == (0, 2), "nothing is left to learn from"


@pytest.mark.parametrize("labels", [("SLP", "slp"), ("spread", "packed")])
@pytest.mark.parametrize("given", ["slp", "packed", "PACKED"])
def test_a_hint_is_a_label_by_its_name_and_by_its_letters(
    labels: tuple[str, str], given: str
) -> None:
    values, y = [[0.1], [0.2]] * 4, [*labels] * 4
    always = BaselineClassifier(label=given).fit(values, y)
    assert always.predict([[0.1]]).tolist() == [labels[1]]
    alike = RegretClassifier(preferred=[given], bins=1).fit(values, y)
    assert alike.predict([[0.1]]).tolist() == [labels[1]]
    other = RegretClassifier(preferred=[labels[0]], bins=1).fit(values, y)
    assert other.predict([[0.1]]).tolist() == [labels[0]]


def test_a_label_that_fit_has_not_seen_is_refused() -> None:
    values, y = [[0.1], [0.2]] * 4, ["SLP", "slp"] * 4
    for estimator in (
        BaselineClassifier(label="few-sockets-own-caches"),
        RegretClassifier(preferred=["few-sockets-own-caches"]),
    ):
        with pytest.raises(ValueError, match=r"few-sockets-own-caches.*expected"):
            estimator.fit(values, y)


def test_a_policy_is_made_of_rules_that_name_hints() -> None:
    table = pd.DataFrame({"ipc": [0.1, 0.2, 0.8, 0.9] * 3})
    y = ["spread", "spread", "packed", "packed"] * 3
    policy = policy_of_rules(RegretClassifier().fit(table, y))
    samples = ({"instructions": ipc, "cycles": 1.0} for ipc in (0.1, 0.9))
    assert [decide(policy, sample).hint for sample in samples] == [SPREAD, PACKED]
