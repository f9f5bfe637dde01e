"""Common part of all learners as scikit-learn estimators: bins, losses, and rules in order.

values ─► bins, if asked for ─► a learner's rules ─► the first that fires gives the label
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from autofinity.learning.class_rules import ClassRule, Cuts, class_rule
from autofinity.learning.discretise import bin_of, equal_share
from autofinity.learning.float_input import within_float64
from autofinity.learning.hint_labels import shown_labels
from autofinity.learning.sample_weights import checked_weights
from autofinity.learning.value_rules import ValueRule, first_to_fire
from autofinity.model.errors import LearningError

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]
type Bins = int | Sequence[Sequence[float]] | Mapping[str, Sequence[float]] | None


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows to learn from, all of weight above 0; labels are indices into the classes."""

    values: Floats
    """Values: n × features, numbers of bins where there are bins; NaN: missing."""
    labels: Ints
    weights: Floats
    losses: Floats | None
    """Loss of each class in each row, not weighted: n × classes; None: not given."""
    classes: int


class RuleListClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose rules are read in order; subclasses learn the rules.

    `bins` of the constructor: number of bins of equal share of the weight that each feature is cut
    into first; or the edges of each feature's bins, ascending, in the order of the columns or by
    their names; None: values as they are.
    """

    bins: Bins
    classes_: npt.NDArray[Any]
    cut_points_: Cuts
    rules_: list[ClassRule]
    n_features_in_: int

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        losses: npt.ArrayLike | pd.DataFrame | None = None,
    ) -> Self:
        """Learn from `X` (n × features), labels `y` (n) and weights (n; default 1 each).

        `losses` (n × classes) is what each label loses in each row: of a table, the labels are the
        names of its columns; of an array, they are the numbers of its columns. Then all of them are
        classes. Raises `ValueError` for input that scikit-learn refuses, for parameters out of
        range, and for weights that are negative, all zero, NaN or infinite, or sum to over 1e300.
        """
        with within_float64("values of X"):
            values, labels = validate_data(
                self, X, y, dtype=np.float64, ensure_all_finite="allow-nan"
            )
        check_classification_targets(labels)
        loss = self._classes(labels, losses)
        weights = checked_weights(sample_weight, values, loss)
        seen = weights > 0
        codes = np.searchsorted(self.classes_, labels)
        self.cut_points_ = self._cuts(values[seen], weights[seen])
        rows = Rows(
            self._positions(values[seen]),
            codes[seen],
            weights[seen],
            None if loss is None else loss[seen],
            len(self.classes_),
        )
        try:
            self._rules = _weighed(self._learn(rows), rows)
        except LearningError as error:
            raise ValueError(str(error)) from error  # what callers of scikit-learn expect
        names = self._names()
        wrong = _wrong(self._rules, rows)
        self.rules_ = [
            class_rule(rule, names, self.cut_points_, self.classes_.tolist(), lost)
            for rule, lost in zip(self._rules, wrong, strict=True)
        ]
        return self

    def _learn(self, rows: Rows) -> list[ValueRule]:
        """Rules in order, the default last. Raises `LearningError`, `ValueError`."""
        raise NotImplementedError

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The label of the first rule that fires, by row: n labels for `X`, n × features.

        That is the answer of a policy's first look; an estimator has no second look and no trial
        (`Policy.decide` has). Raises `NotFittedError`, and `ValueError` for other columns than
        those of `fit`.
        """
        fired = self._fired(X)
        labels: npt.NDArray[Any] = self.classes_[[rule.label for rule in self._rules]][fired]
        return labels

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """Shares of the classes in the training weight where a row's rule fires first: n × classes.

        A rule gives its label with probability 1 where it was never the first to fire.
        """
        fired = self._fired(X)
        shares = np.array([rule.weights for rule in self._rules])
        unseen = shares.sum(axis=1) == 0
        shares[unseen, np.array([rule.label for rule in self._rules])[unseen]] = 1.0
        shares /= shares.sum(axis=1, keepdims=True)
        probabilities: Floats = shares[fired]
        return probabilities

    def score(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        losses: npt.ArrayLike | pd.DataFrame | None = None,
    ) -> float:
        """Share of the weight whose label is predicted; with `losses` (as in `fit`) what the
        predictions are worth: exp(-mean loss). Where losses are logarithms of times, that is the
        geometric mean of the best label's time over the predicted one's. 1 is best.

        Raises `NotFittedError`, and `ValueError` for losses of other rows or labels.
        """
        if losses is None:
            accuracy: float = super().score(X, y, sample_weight)
            return accuracy
        said = self.predict(X)
        loss = self._losses_of_classes(losses, len(said))
        lost = loss[np.arange(len(loss)), np.searchsorted(self.classes_, said)]
        weights = checked_weights(sample_weight, loss, loss)
        return float(np.exp(-np.average(lost, weights=weights)))

    @property
    def rules_table(self) -> pd.DataFrame:
        """Rules in order, the default last, one row each: `condition` as text, `label`, and the
        training weight where it is the first to fire (`covered`), and where another label was
        better (`wrong`; with losses, where another one loses less). `label` is as in `classes_`;
        `describe` and notebooks show names of hints, too. Raises `NotFittedError`.
        """
        check_is_fitted(self)
        return pd.DataFrame(
            [(rule.condition, rule.label, rule.covered, rule.wrong) for rule in self.rules_],
            columns=["condition", "label", "covered", "wrong"],
        )

    def describe(self) -> str:
        """The rules for a person, one on each line; hints have name and letters. Raises
        `NotFittedError`.
        """
        check_is_fitted(self)
        shown = shown_labels(self.classes_.tolist())
        return "\n".join(rule.text(shown[rule.label]) for rule in self.rules_)

    def _repr_html_(self) -> str:
        """HTML for notebooks: the parameters, and the rules once there are any."""
        said = f"<pre>{html.escape(repr(self))}</pre>"
        if not hasattr(self, "rules_"):
            return said
        rules = self.rules_table
        rules["label"] = rules["label"].map(shown_labels(self.classes_.tolist()))
        table: str = rules.to_html(float_format="{:.4g}".format)
        return said + table

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _losses_of_classes(self, losses: Any, rows: int) -> Floats:
        """Losses of the classes that `fit` saw, in their order: rows × classes."""
        if isinstance(losses, pd.DataFrame):
            missing = [each for each in self.classes_.tolist() if each not in losses.columns]
            if losses.columns.nlevels > 1 or not losses.columns.is_unique or missing:
                raise ValueError(
                    f"losses have the columns {losses.columns.tolist()}, expected each of "
                    f"{self.classes_.tolist()} once"
                )
            losses = losses[self.classes_]
        with within_float64("losses"):
            loss: Floats = check_array(losses, dtype=np.float64)
        if loss.shape != (rows, len(self.classes_)):
            raise ValueError(
                f"losses are {loss.shape[0]} × {loss.shape[1]}, expected {rows} rows and a column "
                f"for each of {self.classes_.tolist()}"
            )
        return loss

    def _classes(self, labels: npt.NDArray[Any], losses: Any) -> Floats | None:
        """Set the classes, and give the losses in their order."""
        if losses is None:
            self.classes_ = np.unique(labels)
            return None
        with within_float64("losses"):
            loss: Floats = check_array(losses, dtype=np.float64)
        columns = losses.columns if isinstance(losses, pd.DataFrame) else range(loss.shape[1])
        named = np.asarray(list(columns))
        order = np.argsort(named)
        self.classes_ = named[order]
        if len(loss) != len(labels) or not np.isin(labels, named).all():
            raise ValueError(
                f"losses are {loss.shape[0]} × {loss.shape[1]}, expected {len(labels)} rows and a "
                f"column for each label, which are {np.unique(labels)}"
            )
        return loss[:, order]

    def _cuts(self, values: Floats, weights: Floats) -> Cuts:
        """Cut points of each column; subclasses that need bins give some for `bins` of None."""
        if self.bins is None:
            return [None] * self.n_features_in_
        if isinstance(self.bins, int | np.integer):
            return _equal_shares(values, weights, int(self.bins))
        edges = self.bins
        if isinstance(edges, Mapping):
            missing = [name for name in self._names() if name not in edges]
            if missing:
                raise ValueError(f"bins have no edges of {', '.join(missing)}, which is in X")
            edges = [edges[name] for name in self._names()]
        if len(edges) != self.n_features_in_:
            raise ValueError(f"bins of {len(edges)} columns, expected {self.n_features_in_}")
        cuts = [tuple(map(float, each)) for each in edges]
        if any(not low < high for each in cuts for low, high in pairwise(each)):
            raise ValueError("bins have edges that do not ascend")
        return cuts

    def _positions(self, values: Floats) -> Floats:
        """Numbers of bins where there are bins, else values; NaN stays."""
        columns = [
            column if cuts is None else np.where(np.isnan(column), np.nan, bin_of(column, cuts))
            for column, cuts in zip(values.T, self.cut_points_, strict=True)
        ]
        return np.column_stack(columns)

    def _names(self) -> list[str]:
        named = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if named is None else named.tolist()

    def _fired(self, X: npt.ArrayLike) -> Ints:
        check_is_fitted(self)
        with within_float64("values of X"):
            values = validate_data(
                self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan"
            )
        return first_to_fire(self._rules, self._positions(values))


def _equal_shares(values: Floats, weights: Floats, bins: int) -> list[tuple[float, ...]]:
    if bins < 1:
        raise ValueError(f"{bins} bins, expected at least 1")
    known = ~np.isnan(values.T)
    return [
        equal_share(column[there], weights[there], bins)
        for column, there in zip(values.T, known, strict=True)
    ]


def stakes(rows: Rows) -> Floats:
    """Weights for a learner that counts wrong labels: what is at stake in a row counts, too.

    A row's stake is the share of the best that the worst label loses (`learning.row_weights`);
    weights keep their sum. Without losses, or where nothing is at stake, weights are as given.
    """
    if rows.losses is None:
        return rows.weights
    weights = rows.weights * -np.expm1(-np.ptp(rows.losses, axis=1))
    if not weights.sum() > 0:
        return rows.weights
    weights *= rows.weights.sum() / weights.sum()
    return weights


def seed_of(random_state: Any) -> int:
    """The seed of a native or foreign learner: a whole number itself, else a random one."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def _wrong(rules: Sequence[ValueRule], rows: Rows) -> list[float]:
    """Weight, by rule, of the rows where it is the first to fire and its label is not the best."""
    fired = first_to_fire(rules, rows.values)
    said = np.array([rule.label for rule in rules])[fired]
    wrong = said != rows.labels
    if rows.losses is not None:
        wrong = rows.losses[np.arange(len(said)), said] > rows.losses.min(axis=1)
    lost = np.bincount(fired, weights=rows.weights * wrong, minlength=len(rules))
    return [float(weight) for weight in lost]


def _weighed(rules: Sequence[ValueRule], rows: Rows) -> list[ValueRule]:
    """The rules up to the first that always fires, with the weight of each class where they are the
    first to fire.
    """
    last = next(at for at, rule in enumerate(rules) if not rule.tests)
    kept = rules[: last + 1]
    fired = first_to_fire(kept, rows.values)
    weights = np.zeros((len(kept), rows.classes))
    np.add.at(weights, (fired, rows.labels), rows.weights)
    return [
        ValueRule(rule.tests, tuple(own), rule.label)
        for rule, own in zip(kept, weights.tolist(), strict=True)
    ]
