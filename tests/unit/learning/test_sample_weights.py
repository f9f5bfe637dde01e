"""Weights that estimators refuse, as scikit-learn's own do, and weights of extreme sizes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from autofinity.learning.baseline_classifier import BaselineClassifier
from autofinity.learning.discretiser import Discretiser
from autofinity.learning.jrip_classifier import JRipClassifier
from autofinity.learning.regret_classifier import RegretClassifier
from autofinity.learning.ripper_classifier import RipperClassifier

ROWS = 60
VALUES = np.random.default_rng(1).normal(size=(ROWS, 2))
LABELS = (VALUES[:, 0] > 0).astype(int)
LOSSES = np.column_stack([LABELS, 1 - LABELS]) * 0.3
ESTIMATORS = [
    BaselineClassifier(),
    RegretClassifier(),
    RipperClassifier(),
    pytest.param(JRipClassifier(), marks=pytest.mark.weka),
    Discretiser(bins=4),
]


def weights(**odd: float) -> npt.NDArray[np.float64]:
    """Weights of 1, and one odd one."""
    made = np.ones(ROWS)
    made[7] = odd.get("one", odd.get("all", 1.0))
    return np.full(ROWS, odd["all"]) if "all" in odd else made


def fit(model: Any, given: Any, losses: Any = None) -> Any:
    """The fitted model; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if losses is None:
            return model.fit(VALUES, LABELS, sample_weight=given)
        return model.fit(VALUES, LABELS, sample_weight=given, losses=losses)


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (weights(one=np.nan), "NaN"),
        (weights(one=np.inf), "infinity"),
        (weights(all=0.0), "zero"),
        (np.ones(3), "shape"),
        (np.ones((ROWS, 1)), "1D array"),
        (np.array(["a"] * ROWS), "could not convert"),
    ],
    ids=["nan", "inf", "zero", "few", "2d", "text"],
)
def test_weights_that_scikit_learns_trees_refuse_are_refused(
    model: Any, given: Any, said: str
) -> None:
    for each in (DecisionTreeClassifier(), model):
        with pytest.raises(ValueError, match=said):
            fit(each, given)


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("given", "said"),
    [(weights(one=-1.0), "Negative"), (weights(all=1e308), "sum of the sample weights")],
    ids=["negative", "sum"],
)
def test_weights_that_are_no_shares_are_refused(model: Any, given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fit(model, given)


@pytest.mark.parametrize("model", ESTIMATORS[:-1], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("losses", [None, LOSSES], ids=["labels", "losses"])
@pytest.mark.parametrize(
    "given",
    [
        weights(all=1e290),
        weights(all=0.99e300 / ROWS),
        weights(all=5e-324),
        weights(one=0.9e300),
        weights(one=1e-300),
    ],
    ids=["large", "largest", "smallest", "one-large", "one-small"],
)
def test_probabilities_of_any_other_weights_are_shares(
    model: Any, losses: Any, given: npt.NDArray[np.float64]
) -> None:
    shares = fit(model, given, losses).predict_proba(VALUES)
    assert np.isfinite(shares).all() and (shares >= 0).all()
    assert np.allclose(shares.sum(axis=1), 1)


def test_weighted_losses_beyond_float64_are_refused() -> None:
    for model in ESTIMATORS[:3]:
        with pytest.raises(ValueError, match="sum of the losses times"):
            fit(model, weights(all=1e200), LOSSES * 1e200)


@pytest.mark.parametrize(
    "losses",
    [
        pd.DataFrame({0: LOSSES[:, 0]}),
        pd.DataFrame(LOSSES[:3]),
        pd.DataFrame(LOSSES, columns=["a", "b"]),
        pd.concat([pd.DataFrame(LOSSES)] * 2, axis=1),
        pd.concat({"a": pd.DataFrame(LOSSES)}, axis=1),
        LOSSES[:, :1],
        LOSSES[:3],
        LOSSES[:, 0],
    ],
)
def test_a_score_is_of_losses_of_the_same_rows_and_labels(losses: Any) -> None:
    model = RegretClassifier().fit(VALUES, LABELS)
    with pytest.raises(ValueError, match=r"loss|1D array"):
        model.score(VALUES, LABELS, losses=losses)
    turned = pd.DataFrame(LOSSES).iloc[:, ::-1].assign(extra=9.0)
    assert model.score(VALUES, LABELS, losses=turned) == model.score(VALUES, LABELS, losses=LOSSES)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -1.0, 0.0, 1e308])
def test_a_score_is_of_weights_that_can_be(odd: float) -> None:
    model = RegretClassifier().fit(VALUES, LABELS)
    with pytest.raises(ValueError, match="weight"):
        model.score(VALUES, LABELS, sample_weight=weights(all=odd), losses=LOSSES)
    assert 0 < model.score(VALUES, LABELS, sample_weight=weights(all=1e290), losses=LOSSES) <= 1


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_whole_numbers_beyond_float64_are_refused_wherever_they_are(model: Any) -> None:
    beyond, values = [10**400] * ROWS, VALUES.tolist()
    with pytest.raises(ValueError, match="sample weights have a whole number beyond float64"):
        fit(model, beyond)
    with pytest.raises(ValueError, match="values of X have a whole number beyond float64"):
        model.fit([[10**400, 1.0], *values[1:]], LABELS)
    if hasattr(model, "predict"):
        with pytest.raises(ValueError, match="losses have a whole number beyond float64"):
            fit(model, None, [[10**400, 1.0], *LOSSES.tolist()[1:]])
        with pytest.raises(ValueError, match="values of X have a whole number beyond float64"):
            model.fit(VALUES, LABELS).predict([[10**400, 1.0]])
