"""Observations and action tables in the form that learners of scikit-learn take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autofinity.api.arguments import names_of
from autofinity.api.machines import Machine, name_of
from autofinity.api.observed import observed_in
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from autofinity.learning.labelled_rows import LabelledRows

_OF_ACTION_TABLES = {"best", "weight"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrainingData:
    """n rows to learn hints from; `model.fit(data.X, data.y, **data.fit_params)`. Notebooks show
    how many rows have each hint, and what it would cost.

    * `X`: values, n × features: ratios and counters (per thread and second) by their names, NaN
      where nothing was measured.
    * `y`: letters of the hint that loses least (n); the first of equal ones in the order of
      `HINTS`.
    * `losses`: loss of each hint, n × 8, a column for each hint by its letters: the logarithm of
      its time over that of the best hint; 0 is the best, and what is up to 1 % slower.
    * `sample_weight`: weight of each row (n): the rows of a program with an input and a thread
      count weigh 1 together; a row of an action table weighs as much as the samples behind it.
    * `groups`: program of each row (n), for `GroupKFold` and `LeaveOneGroupOut`; None where rows
      come from an action table, which joins programs.
    * `bins`: edges between the bins of each feature, for the `bins` of an estimator.

    >>> data = af.training_data("opteron-6164he")
    >>> len(data.X) == len(data.y) == len(data.sample_weight) == len(data.losses)
    True
    >>> bool(data.regret(["packed"] * len(data.y)).max() > 0.5)
    True
    """

    X: pd.DataFrame
    y: npt.NDArray[np.str_]
    losses: pd.DataFrame
    sample_weight: npt.NDArray[np.float64]
    groups: npt.NDArray[np.str_] | None
    bins: Mapping[str, tuple[float, ...]]

    @property
    def fit_params(self) -> dict[str, Any]:
        """Arguments of `fit` beside `X` and `y`: `sample_weight` and `losses`; also for the
        `params` of `cross_val_predict`.
        """
        return {"sample_weight": self.sample_weight, "losses": self.losses}

    def regret(self, hints: npt.ArrayLike) -> pd.Series[float]:
        """Share of time that each row loses with these hints (n, letters or names) against its best
        hint: 0 is none, 0.5 is half as long again. The index is the program where that is known.

        Raises `AutofinityError` for other hints, or another number of them.
        """
        import numpy as np
        import pandas as pd

        from autofinity.api.hints import as_hint

        several = np.asarray(hints)
        if several.ndim != 1:
            raise UsageError(f"got hints of shape {several.shape}; expected {len(self.y)} in a row")
        given = [str(as_hint(str(hint))) for hint in several.tolist()]
        if len(given) != len(self.y):
            raise UsageError(f"got {len(given)} hints; expected {len(self.y)}, one for each row")
        lost = self.losses.to_numpy()[np.arange(len(given)), self.losses.columns.get_indexer(given)]
        index = None if self.groups is None else pd.Index(self.groups, name="program")
        return pd.Series(np.expm1(lost), index=index, name="regret")

    def __repr__(self) -> str:
        return f"TrainingData({self})"

    def __str__(self) -> str:
        rows, features = self.X.shape
        of = "" if self.groups is None else f" of {len(set(self.groups.tolist()))} programs"
        return f"{rows} rows{of}, {features} features, {len(self._chosen())} hints that are best"

    def _chosen(self) -> dict[str, int]:
        return {hint: int((self.y == hint).sum()) for hint in self.losses if (self.y == hint).any()}

    def _repr_html_(self) -> str:
        import numpy as np

        from autofinity.api.hints import as_hint
        from autofinity.api.html import lines_html, table_html

        counts = self._chosen()
        rows = []
        for letters in self.losses:
            lost = np.average(self.losses[letters], weights=self.sample_weight)
            best, cost = str(counts.get(letters, 0)), f"{100 * np.expm1(lost):.1f} %"
            rows.append((as_hint(letters).shown, best, cost))
        headings = ("hint", "best in rows", "time lost with it everywhere (geometric mean)")
        return lines_html([str(self)]) + table_html(headings, rows)


def training_data(
    source: pd.DataFrame | Machine | Path | str,
    *,
    machine: Machine | str | None = None,
    features: Sequence[str] | str | None = None,
) -> TrainingData:
    """Rows to learn from, of observations (a table of `observations` or `profile`, or what
    `observations` takes) or of an action table (`action_table`, or a file of one).

    With observations, a row is one run of a program in the spread placement, where runs start: its
    values, and what each hint brought the program over whole runs; programs whose time does not
    depend on the placement are left out. `features` are ratios and counters, by default all that a
    policy of the machine may use; `machine` is that of the affinities, by default the machine
    that observations name. With an action table, a row is a behaviour, and a value any value inside
    its bin; features and machine are the table's.

    Raises `AutofinityError` for other tables, for observations of several machines, and where
    nothing varies.

    >>> data = af.training_data("opteron-6164he", features=["ipc", "llc_misses_pki"])
    >>> data.X.columns.to_list(), data.losses.shape[1]
    (['ipc', 'llc_misses_pki'], 8)
    """
    from autofinity.learning.labelled_rows import rows_of_table
    from autofinity.learning.settings import LearningSettings
    from autofinity.workflow.learning_steps import labelled_rows

    table = _action_table_in(source)
    if table is None:
        seen, name = observed_in(source), None if machine is None else name_of(machine)
        named = None if features is None else names_of(features, "features")
        rows = labelled_rows(seen, LearningSettings(), machine=name, features=named)
        return _training_data(rows)
    if machine is not None or features is not None:
        raise UsageError("machine and features are those of the action table; give neither")
    return _training_data(rows_of_table(table))


def action_table(
    observed: pd.DataFrame | Machine | Path | str,
    *,
    machine: Machine | str | None = None,
    paper: bool = False,
) -> pd.DataFrame:
    """The action table of observations (a table of `observations` or `profile`, or what
    `observations` takes), from which `learn` learns its rules, with features chosen and cut as
    `learn` does.

    One row for each behaviour in an affinity: an interval `bin:FEATURE` for each feature,
    `affinity` as text, the performance under each hint relative to the best in `consequence:HINT`
    (NaN: unknown), the `best` hint in letters, and the `weight` of the samples behind the row. With
    `paper`, performances are those of the paper's metric. Takes seconds. Raises `AutofinityError`
    for other tables and where nothing varies.

    >>> table = af.action_table("opteron-6164he")
    >>> table.filter(like="consequence:").shape[1], "best" in table
    (8, True)
    """
    from autofinity.api.learned import settings
    from autofinity.workflow.learning_steps import action_table_of

    name = None if machine is None else name_of(machine)
    return action_table_of(observed_in(observed), settings(paper), machine=name).table


def _action_table_in(source: pd.DataFrame | Machine | Path | str) -> pd.DataFrame | None:
    """The action table that this is, or that the file holds; None where it is none."""
    import pandas as pd

    from autofinity.learning import table_file

    if isinstance(source, pd.DataFrame):
        from autofinity.learning.action_frame import checked

        return checked(source) if set(source.columns) >= _OF_ACTION_TABLES else None
    if isinstance(source, Path | str) and table_file.is_table(source):
        return table_file.load(source)[0]
    return None


def _training_data(rows: LabelledRows) -> TrainingData:
    import numpy as np
    import pandas as pd

    from autofinity.model.affinity import HINTS

    letters = np.array([str(hint) for hint in HINTS])
    return TrainingData(
        rows.values,
        letters[rows.best],
        pd.DataFrame(rows.losses, columns=letters),
        rows.weights,
        rows.programs,
        rows.cut_points,
    )
