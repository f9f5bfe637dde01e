"""Tables and arrays that users of the Python API give: odd ones raise our own error, which names
the column or the argument; tables of the same content in another form give the same result.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import autofinity as af

OPTERON = "opteron-6164he"
type Frame = pd.DataFrame
type Change = Callable[[Frame], Frame]
ODD: dict[str, Any] = {
    "None": None,
    "NaN": np.nan,
    "NA": pd.NA,
    "inf": np.inf,
    "-inf": -np.inf,
    "text": "x",
    "bytes": b"x",
    "list": [1],
    "complex": 1j,
    "time": pd.Timestamp("2020-01-01"),
}
"""Values for whole columns."""
STRUCTURES: dict[str, tuple[Change, str]] = {
    "no rows": (lambda f: f.head(0), "no rows"),
    "no columns": (lambda f: f.iloc[:, :0], "lacks the column"),
    "nothing": (lambda f: pd.DataFrame(), "lacks the column"),
    "text throughout": (lambda f: f.astype(str), "expected"),
    "a column twice": (
        lambda f: pd.concat([f, f[["weight"]] if "weight" in f else f[["seed"]]], axis=1),
        "more than once",
    ),
    "levels": (lambda f: pd.concat({"a": f}, axis=1), "2 levels"),
    "numbered": (lambda f: f.set_axis(range(f.shape[1]), axis=1), "a column named 0"),
    "transposed": (lambda f: f.head(3).T, "a column named"),
}
SAME: dict[str, Change] = {
    "objects": lambda f: f.astype({name: object for name in f if "bin:" not in name}),
    "nullable": lambda f: f.convert_dtypes(),
    "of pyarrow": lambda f: f.convert_dtypes(dtype_backend="pyarrow"),
    "rows in another order": lambda f: f.sample(frac=1, random_state=1),
    "columns in another order": lambda f: f[[*f.columns[1:], f.columns[0]]],
    "one name for all rows": lambda f: f.set_axis([0] * len(f)),
    "rows with two names": lambda f: f.set_index([np.arange(len(f)), np.arange(len(f))]),
    "sparse": lambda f: f.assign(**{f.columns[-1]: pd.arrays.SparseArray(f.iloc[:, -1])}),
}


def filled(frame: Frame, column: str, value: Any) -> Frame:
    """The table with this value throughout the column."""
    return frame.assign(**{column: pd.Series([value] * len(frame), frame.index)})


@pytest.fixture(autouse=True)
def no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.fixture(scope="module")
def seen() -> Frame:
    seen = af.observations(OPTERON, threads=8)
    return seen[seen["sample"] < 6]


@pytest.fixture(scope="module")
def table(seen: Frame) -> Frame:
    return af.action_table(seen)


@pytest.fixture(scope="module")
def data(seen: Frame) -> af.TrainingData:
    return af.training_data(seen)


def refused(call: Callable[[], object], said: str | None = None) -> None:
    with pytest.raises(af.AutofinityError, match=said) as error:
        call()
    assert len(str(error.value)) > 20


@pytest.mark.parametrize("function", [af.training_data, af.learn, af.action_table])
@pytest.mark.parametrize("name", STRUCTURES)
def test_a_table_of_another_structure_is_no_table_of_observations(
    function: Any, name: str, seen: Frame
) -> None:
    change, said = STRUCTURES[name]
    refused(lambda: function(change(seen)), said)


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_table_of_another_structure_is_no_action_table(name: str, table: Frame) -> None:
    change, said = STRUCTURES[name]
    refused(lambda: af.training_data(change(table)), said)


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize(
    ("column", "allowed"),
    [
        *((name, "text") for name in ("program", "input", "backend", "version")),
        *((name, "") for name in ("affinity", "machine", "placement", "threads", "sample", "seed")),
        ("roi_s", ""),
        *((name, "None NaN NA") for name in ("progress", "performance", "energy_j")),
        ("counter:cycles", "None NaN NA inf"),
    ],
)
def test_an_odd_column_of_observations_is_named(
    column: str, allowed: str, value: str, seen: Frame
) -> None:
    odd = filled(seen, column, ODD[value])
    if value in allowed.split():
        assert len(af.training_data(odd).X)
        return
    said = (
        "the observations are of 'x'" if (column, value) == ("machine", "text") else f"'{column}'"
    )
    refused(lambda: af.training_data(odd), said)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("threads", 0, "'threads' has 0"),
        ("threads", 8.5, "'threads' has 8.5"),
        ("seed", 1e300, "'seed' has 1e[+]300"),
        ("sample", 10**30, "'sample' has 1e[+]30"),
        ("roi_s", 0.0, "'roi_s' has 0"),
        ("roi_s", -1, "'roi_s' has -1"),
        ("performance", -1, "'performance' has -1"),
        ("counter:cycles", -1, "'counter:cycles' has -1"),
        ("affinity", "", "no row has an affinity"),
        ("affinity", "{1", "not an affinity: '{1'"),
        ("placement", "somewhere", "'placement' has 'somewhere'"),
        ("extra", 1, "unknown column 'extra'"),
    ],
)
@pytest.mark.parametrize("function", [af.training_data, af.learn, af.action_table])
def test_values_that_mean_nothing_are_said(
    function: Any, column: str, value: Any, said: str, seen: Frame
) -> None:
    refused(lambda: function(filled(seen, column, value)), said)


@pytest.mark.parametrize("paper", [False, True])
def test_programs_that_are_never_faster_make_no_action_table(paper: bool, seen: Frame) -> None:
    refused(lambda: af.action_table(seen.assign(roi_s=3.5), paper=paper), "profile")
    few = seen[seen.program.isin(["stencil", "lu"])]
    refused(lambda: af.action_table(few), "profile more programs")


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("column", ["bin:*", "affinity", "consequence:SLP", "best", "weight"])
def test_an_odd_column_of_an_action_table_is_named(column: str, value: str, table: Frame) -> None:
    name = table.columns[0] if column == "bin:*" else column
    odd = filled(table, name, ODD[value])
    if column == "consequence:SLP" and value in ("None", "NaN", "NA"):
        assert len(af.training_data(odd).X) == len(table)
        return
    refused(lambda: af.training_data(odd), f"'{name}'")


def test_bins_labels_and_weights_that_cannot_be_are_said(table: Frame) -> None:
    name = table.columns[0]
    gaps = pd.IntervalIndex.from_tuples([(-np.inf, 1.0), (2.0, np.inf)])
    binned = pd.Series(pd.Categorical.from_codes([0] * len(table), gaps), table.index)
    closed = pd.IntervalIndex.from_breaks([-np.inf, np.inf], closed="left")
    left = pd.Series(pd.Categorical.from_codes([0] * len(table), closed), table.index)
    for changed, said in (
        (table.assign(**{name: binned}), "do not follow one another"),
        (table.assign(**{name: left}), r"intervals \(lower, upper\]"),
        (table.assign(best="compact"), "names or letters of hints"),
        (table.assign(weight=0.0), "'weight'"),
        (table.assign(weight=-1.0), "'weight'"),
        (
            table.assign(**dict.fromkeys(table.filter(like="consequence:"), np.nan)),
            "no consequence",
        ),
        (table.drop(columns="consequence:slp"), "lacks the column 'consequence:slp'"),
        (table.assign(**{"consequence:slp": -1.0}), "consequences are -1 to .*, expected values"),
    ):
        refused(lambda: af.training_data(changed), said)  # noqa: B023


def test_the_best_hint_of_a_row_may_be_named(table: Frame) -> None:
    named = table.assign(best=[af.Hint.parse(str(best)).name for best in table["best"]])
    pd.testing.assert_frame_equal(af.training_data(named).losses, af.training_data(table).losses)
    assert af.training_data(named).y.tolist() == af.training_data(table).y.tolist()


@pytest.mark.parametrize("name", SAME)
def test_the_same_content_in_another_form_gives_the_same_result(
    name: str, seen: Frame, table: Frame, data: af.TrainingData
) -> None:
    again = af.training_data(SAME[name](seen))
    pd.testing.assert_frame_equal(again.X, data.X)
    pd.testing.assert_frame_equal(again.losses, data.losses)
    assert (again.y == data.y).all() and again.bins == data.bins
    changed = SAME[name](table)
    of_table, plain = af.training_data(changed), af.training_data(table)
    order = [*map(plain.X.index.get_loc, changed.index)] if "order" in name else slice(None)
    assert of_table.X[list(plain.X)].equals(plain.X.iloc[order].reset_index(drop=True))
    assert of_table.losses.equals(plain.losses.iloc[order].reset_index(drop=True))
    assert (of_table.y == plain.y[order]).all()
    assert (of_table.sample_weight == plain.sample_weight[order]).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda data, seen: af.training_data(seen.program),
        lambda data, seen: af.training_data(seen.to_numpy()),
        lambda data, seen: af.learn(seen.to_dict()),
        lambda data, seen: af.action_table(seen.filter(like="counter:").to_numpy()),
        lambda data, seen: af.learn(seen, machine=seen),
        lambda data, seen: af.training_data(seen, machine=3),
        lambda data, seen: af.training_data(seen, features=[1]),
        lambda data, seen: af.training_data(seen, features=[]),
        lambda data, seen: af.training_data(seen, features="no-such-feature"),
        lambda data, seen: af.training_data(seen, features=seen[["threads"]]),
        lambda data, seen: af.observations(OPTERON, threads=seen.threads),
        lambda data, seen: af.observations(None),
        lambda data, seen: data.regret(None),
        lambda data, seen: data.regret("packed"),
        lambda data, seen: data.regret(data.losses),
        lambda data, seen: data.regret(np.full(len(data.y), np.nan)),
        lambda data, seen: data.regret(data.y[:-1]),
        lambda data, seen: af.map_threads(seen, OPTERON),
        lambda data, seen: af.map_threads(None, OPTERON),
        lambda data, seen: af.map_threads([[0, 1], [1]], OPTERON),
        lambda data, seen: af.map_threads(np.zeros((2, 2, 2)), OPTERON),
        lambda data, seen: af.map_threads(np.array([[0, 1j], [1j, 0]]), OPTERON),
        lambda data, seen: af.map_threads([[0, 10**400], [10**400, 0]], OPTERON),
        lambda data, seen: af.map_threads([[0, 1], [1, 0]], OPTERON, available="ab"),
        lambda data, seen: af.map_threads([[0, 1], [1, 0]], OPTERON, available=[0.5]),
        lambda data, seen: af.map_threads([[0, 1], [1, 0]], OPTERON, available=7),
        lambda data, seen: af.map_threads([[0, 1], [1, 0]], OPTERON, available=[]),
        lambda data, seen: af.map_threads([[0, 1], [1, 0]], OPTERON, hint=None),
        lambda data, seen: af.map_threads([[0, 1], [1, 0]], None),
        lambda data, seen: af.get_affinity(OPTERON, np.array([4, 8])),
        lambda data, seen: af.get_affinity(OPTERON, 2.5),
        lambda data, seen: af.get_affinity(OPTERON, "4"),
        lambda data, seen: af.get_affinity(OPTERON, 4, available=seen),
        lambda data, seen: af.simulate("no-such-trace", OPTERON, cpus=seen),
        lambda data, seen: af.simulate("no-such-trace", OPTERON, cpus=[0.5]),
        lambda data, seen: af.simulate("no-such-trace", OPTERON, affinity=[[8]]),
        lambda data, seen: af.simulate(seen, OPTERON),
        lambda data, seen: af.profile(OPTERON, threads=seen),
        lambda data, seen: af.profile(OPTERON, threads=[8.5]),
        lambda data, seen: af.profile(OPTERON, threads="8"),
        lambda data, seen: af.profile(OPTERON, programs=[3]),
        lambda data, seen: af.profile(OPTERON, programs=seen.threads),
        lambda data, seen: af.train(OPTERON, sizes=None),
        lambda data, seen: af.evaluate(OPTERON, observations=seen),
        lambda data, seen: af.evaluate(OPTERON, train_threads=["8"]),
        lambda data, seen: af.evaluate(OPTERON, policy=seen),
        lambda data, seen: af.compare(OPTERON, mechanisms=seen),
        lambda data, seen: af.compare(OPTERON, seeds=0),
        lambda data, seen: af.capture_traces(seen, "traces"),
        lambda data, seen: af.capture_traces("stencil", "traces", threads=[2]),
        lambda data, seen: af.load_trace(seen),
        lambda data, seen: af.load_policy(seen),
        lambda data, seen: af.load_policy("any-machine").on(seen, 8),
        lambda data, seen: af.load_policy("any-machine").on(OPTERON, 0),
        lambda data, seen: af.load_policy("any-machine").on(OPTERON, 8.5),
        lambda data, seen: af.load_policy("any-machine").explain(seen),
        lambda data, seen: af.load_policy("any-machine").export(seen),
        lambda data, seen: af.load_policy("any-machine").save(seen),
        lambda data, seen: af.policy_of(seen),
        lambda data, seen: af.machine(seen),
    ],
)
def test_arguments_of_another_kind_are_said(
    call: Any, data: af.TrainingData, seen: Frame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    refused(lambda: call(data, seen))


@pytest.mark.parametrize("text", ["", "x" * 5000, "a\0b", "\ud800", "a/b", "."])
@pytest.mark.parametrize(
    "call",
    [
        lambda text: af.machine(text),
        lambda text: af.get_affinity(text, 2),
        lambda text: af.get_affinity(OPTERON, 2, text),
        lambda text: af.get_affinity(OPTERON, 2, near=text).command(text),
        lambda text: af.load_policy(text),
        lambda text: af.load_policy("any-machine").on(text, 2),
        lambda text: af.load_policy("any-machine").export(text),
        lambda text: af.observations(text),
        lambda text: af.observations(Path(text)),
        lambda text: af.learn(text),
        lambda text: af.training_data(text),
        lambda text: af.training_data(OPTERON, machine=text),
        lambda text: af.action_table(text),
        lambda text: af.profile(text, programs="no-such-program"),
        lambda text: af.profile(OPTERON, programs="no-such-program", work=text, suite=text),
        lambda text: af.train(OPTERON, programs=text),
        lambda text: af.evaluate(OPTERON, observations=text),
        lambda text: af.evaluate(OPTERON, policy=text, programs="stencil", threads=8),
        lambda text: af.compare(OPTERON, mechanisms=[text]),
        lambda text: af.load_trace(text),
        lambda text: af.capture_traces("no-such-program", text, suite=text),
        lambda text: af.simulate(text, OPTERON),
        lambda text: af.simulate("no-such-trace", OPTERON, affinity=text or "{"),
        lambda text: af.simulate_policy(text, OPTERON, "any-machine"),
        lambda text: af.detect_sharing(text, OPTERON),
        lambda text: af.map_threads([[0, 1], [1, 0]], OPTERON, algorithm=text),
    ],
)
def test_names_and_paths_that_cannot_be_are_said(
    call: Any, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(af.AutofinityError) as error:
        call(text)
    assert len(str(error.value)) > 20
