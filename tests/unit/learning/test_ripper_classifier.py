"""RIPPER as scikit-learn has its estimators."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from autofinity.learning import RipperClassifier


def test_rules_are_read_and_classes_keep_their_names() -> None:
    data = load_iris()
    values = pd.DataFrame(data.data, columns=["sl", "sw", "pl", "pw"])
    model = RipperClassifier().fit(values, data.target_names[data.target])
    assert model.score(values, data.target_names[data.target]) > 0.93
    lines = model.describe().splitlines()
    assert len(lines) == len(model.rules_) == len(model.rules_table) <= 5
    assert lines[-1].startswith("otherwise ") and lines[0].startswith("if p")
    shares = model.predict_proba(values)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(values)).all()


def test_names_are_compared_for_equality_only() -> None:
    draw = np.random.default_rng(1)
    values = draw.integers(0, 5, (400, 2)).astype(float)
    labels = np.isin(values[:, 0], (1, 3))
    model = RipperClassifier(nominal_features=[0, 1]).fit(values, labels)
    assert model.score(values, labels) == 1.0
    conditions = [part for rule in model.rules_[:-1] for part in rule.condition.split(" and ")]
    assert conditions and all(re.fullmatch(r"x[01] = \d", part) for part in conditions)


def test_no_rule_fires_on_missing_values() -> None:
    draw = np.random.default_rng(1)
    values = draw.normal(size=(300, 2))
    labels = values[:, 0] > 0.5
    model = RipperClassifier().fit(values, labels)
    assert model.predict([[np.nan, np.nan]]) == [False]
    assert model.score(values, labels) > 0.98


@pytest.mark.parametrize(
    ("settings", "weight", "says"),
    [
        ({"passes": -1}, 1.0, "-1 passes"),
        ({"least_weight": float("nan")}, 1.0, "least weight of nan"),
        ({"nominal_features": [2]}, 1.0, "nominal feature 2, expected 0 to 1"),
        ({}, 0.0, "non-zero"),
        ({}, -1.0, "[Nn]egative"),
    ],
)
def test_what_cannot_be_is_said(settings: dict[str, object], weight: float, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        RipperClassifier(**settings).fit([[0, 1], [1, 0]], [0, 1], [weight, weight])  # type: ignore[arg-type]
