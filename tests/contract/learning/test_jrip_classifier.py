"""JRip as a scikit-learn estimator, against WEKA itself and scikit-learn's own checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from autofinity.learning import JRipClassifier, weka
from autofinity.learning.discretise import bin_of

pytestmark = pytest.mark.weka


@pytest.mark.usefixtures("temporary_files_go")
@parametrize_with_checks([JRipClassifier(), JRipClassifier(bins=50)])
def test_the_checks_of_scikit_learn_hold(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("bins", [None, 12])
def test_predictions_are_those_of_weka(bins: int | None) -> None:
    values, labels = load_iris(return_X_y=True)
    values = np.where(np.random.default_rng(1).random(values.shape) < 0.1, np.nan, values)
    model = JRipClassifier(bins=bins, random_state=3).fit(values, labels)
    rows = values
    if bins is not None:
        cut = zip(values.T, model.cut_points_, strict=True)
        rows = np.column_stack([np.where(np.isnan(c), np.nan, bin_of(c, at)) for c, at in cut])
    _, said = weka.jrip(rows, [None] * 4, labels, np.ones(len(labels)), 3)
    assert model.predict(values).tolist() == said.tolist()
    assert len(model.rules_) > 2
