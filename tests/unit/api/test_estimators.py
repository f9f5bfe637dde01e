"""Learners as scikit-learn's estimators: the same rules as the command, judged by program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from warm_commands import run_warm

import autofinity as af
from autofinity.learning import table_file
from autofinity.model.policy import RulePolicy
from autofinity.policy.firing import fired
from autofinity.resources import shipped

OPTERON = "opteron-6164he"
HOSTILE = "<script>alert(1)</script>"
LEARNERS: dict[str, Any] = {
    "regret-tree": lambda bins: af.RegretClassifier(bins=bins, preferred=["slp"]),
    "ripper": lambda bins: af.RipperClassifier(bins=bins),
    "jrip": lambda bins: af.JRipClassifier(bins=bins),
}


@pytest.fixture(scope="module")
def seen() -> pd.DataFrame:
    return af.observations(OPTERON, threads=8)


@pytest.fixture(scope="module")
def data(seen: pd.DataFrame) -> af.TrainingData:
    return af.training_data(seen)


@pytest.fixture(scope="module")
def table(seen: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stored action table of many rows: every eighth sample period, as the paper has it."""
    path = tmp_path_factory.mktemp("table") / "table.parquet"
    some = seen[seen["sample"] % 8 == 0]
    table_file.save(af.action_table(some, paper=True), {"machine": OPTERON}, path)
    return path


def command(*words: str) -> None:
    done = run_warm(words)
    assert done.returncode == 0, done.stderr


def answers(policy: RulePolicy, values: pd.DataFrame) -> list[str]:
    """The policy's hints for values of its inputs."""
    rows = values.reindex(columns=list(policy.inputs)).to_dict("records")
    rules = [fired(policy, row) for row in rows]
    return [str(policy.default if at is None else policy.rules[at].hint) for at in rules]


@pytest.mark.parametrize(
    "learner", ["regret-tree", "ripper", pytest.param("jrip", marks=pytest.mark.weka)]
)
def test_an_estimator_answers_as_the_policy_that_the_command_learns_of_the_same_table(
    learner: str, table: Path, tmp_path: Path
) -> None:
    command("rules", str(table), "--learner", learner, "-o", str(tmp_path / "policy.json"))
    policy = af.load_policy(tmp_path / "policy.json").inside
    of_table = af.training_data(table)
    model = LEARNERS[learner](of_table.bins)
    model.fit(of_table.X, of_table.y, **of_table.fit_params)
    draw = np.random.default_rng(1)
    anywhere = pd.DataFrame(
        {
            name: draw.choice([*cuts, *(np.array(cuts) * 1.001), 0.0, 1e12, np.nan], 500)
            for name, cuts in of_table.bins.items()
        }
    )
    for values in (of_table.X, anywhere):
        assert model.predict(values).tolist() == answers(policy, values)
        assert answers(af.policy_of(model).inside, values) == answers(policy, values)
    assert len(policy.rules) > 1


def test_an_action_table_is_that_of_the_command(tmp_path: Path) -> None:
    source = shipped("data", "observations", f"{OPTERON}.parquet")
    command("table", str(source), "-o", str(tmp_path / "table.parquet"))
    kept, _ = table_file.load(tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(af.action_table(source), kept)
    pd.testing.assert_frame_equal(af.action_table(af.machine(OPTERON)), kept)
    pd.testing.assert_frame_equal(af.action_table(af.observations(OPTERON)), kept)
    assert af.training_data(kept).groups is None


def test_features_of_an_action_table_are_those_that_learning_chooses_facts_included() -> None:
    seen = af.observations("altix-450")
    policy = af.learn(seen)
    assert policy.facts, "this machine's rules need a fact, or the test shows nothing"
    assert af.training_data(af.action_table(seen)).bins == policy.inside.cut_points


def test_a_row_is_a_run_of_a_program_with_what_each_hint_brought_it(
    seen: pd.DataFrame, data: af.TrainingData
) -> None:
    rows, features = data.X.shape
    assert data.losses.shape == (rows, 8) and list(data.losses) == [str(h) for h in af.HINTS]
    assert len(data.y) == len(data.sample_weight) == rows and features == len(data.bins)
    assert data.groups is not None and set(data.groups) < set(seen.program)
    assert (data.losses.min(axis=1) == 0).all() and (data.regret(data.y) == 0).all()
    of_program = pd.Series(data.sample_weight, data.groups).groupby(level=0).sum()
    inputs = seen.groupby("program", observed=True).input.nunique()[of_program.index]
    assert np.allclose(of_program, of_program.round()), "an input weighs 1, however often it ran"
    assert (of_program.round() <= inputs).all() and of_program.max() > 1.5
    spread = data.regret(["spread"] * rows)
    assert spread.index.name == "program" and spread.max() > 0.2
    assert np.allclose(spread, np.expm1(data.losses["SLP"]))


def test_programs_held_out_are_judged_by_estimators_in_pipelines_and_searches(
    data: af.TrainingData,
) -> None:
    one_out: Any = {"groups": data.groups, "cv": LeaveOneGroupOut()}
    model = af.RegretClassifier(bins=20, preferred=["slp"])
    said = cross_val_predict(model, data.X, data.y, **one_out, params=data.fit_params)
    base = cross_val_predict(
        af.BaselineClassifier(), data.X, data.y, **one_out, params=data.fit_params
    )
    assert np.average(data.regret(said), weights=data.sample_weight) < np.average(
        data.regret(base), weights=data.sample_weight
    )
    piped = make_pipeline(FunctionTransformer(np.log1p), clone(model))
    named = {f"regretclassifier__{name}": value for name, value in data.fit_params.items()}
    again = cross_val_predict(piped, data.X, data.y, **one_out, params=named)
    assert (said == again).mean() > 0.9, "the order of values is kept, and so are bins"
    few = GroupKFold(3)
    scores = cross_val_score(
        af.RipperClassifier(), data.X, data.y, groups=data.groups, cv=few, params=data.fit_params
    )
    assert len(scores) == 3 and (scores >= 0).all()


def test_a_search_judges_by_what_the_answers_cost(data: af.TrainingData) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = af.RegretClassifier(bins=20)
        model.set_fit_request(sample_weight=True, losses=True)
        model.set_score_request(sample_weight=True, losses=True)
        search = GridSearchCV(model, {"most_rules": [1, 4]}, cv=GroupKFold(4))
        search.fit(data.X, data.y, groups=data.groups, **data.fit_params)
    for at, (learn, judge) in enumerate(GroupKFold(4).split(data.X, data.y, data.groups)):
        weight, losses = data.sample_weight, data.losses
        by_hand = clone(model).set_params(**search.cv_results_["params"][1])
        by_hand.fit(data.X.iloc[learn], data.y[learn], weight[learn], losses.iloc[learn])
        lost = np.log1p(data.regret(by_hand.predict(data.X)).to_numpy())[judge]
        worth = np.exp(-np.average(lost, weights=weight[judge]))
        assert np.isclose(worth, search.cv_results_[f"split{at}_test_score"][1])


def test_a_fitted_estimator_is_read_and_becomes_a_policy(
    data: af.TrainingData, tmp_path: Path
) -> None:
    model = af.RegretClassifier(bins=20, preferred=["slp"])
    assert "<table" not in model._repr_html_()
    model.fit(data.X, data.y, **data.fit_params)
    assert model.feature_names_in_.tolist() == list(data.X) and model.n_features_in_ == len(
        data.X.columns
    )
    shown = model.rules_table
    assert shown.covered.sum() == pytest.approx(data.sample_weight.sum())
    assert shown.condition.iloc[-1] == "always" and (shown.wrong <= shown.covered).all()
    assert model.describe().count("\n") == len(shown) - 1
    default = af.Hint.parse(shown.label.iloc[-1]).shown
    assert f"otherwise {default} (" in model.describe()
    bundle = model._repr_mimebundle_()
    assert bundle["text/html"].count("<tr") == len(shown) + 1
    assert f"<td>{default}</td>" in bundle["text/html"]
    policy = af.policy_of(model)
    policy.save(tmp_path / "own.json")
    assert len(af.load_policy(tmp_path / "own.json").rules) == len(shown) - 1
    assert answers(policy.inside, data.X) == model.predict(data.X).tolist()


def test_rules_give_the_predictions_that_the_estimator_makes(data: af.TrainingData) -> None:
    values = data.X.mask(np.random.default_rng(2).random(data.X.shape) < 0.1)
    for model in (af.RegretClassifier(), af.RipperClassifier(), af.RegretClassifier(bins=3)):
        model.fit(values, data.y, **data.fit_params)
        for row, said in zip(values.to_dict("records"), model.predict(values), strict=True):
            holds = (
                rule.label
                for rule in model.rules_
                if all(each.holds(row[each.counter]) for each in rule.conditions)
            )
            assert next(holds) == said


def test_one_hint_for_everything_is_the_cheapest_or_the_given_one(data: af.TrainingData) -> None:
    cheapest = af.BaselineClassifier().fit(data.X, data.y, **data.fit_params)
    means = np.average(data.losses, axis=0, weights=data.sample_weight)
    best = af.Hint.parse(data.losses.columns[means.argmin()])
    assert cheapest.describe().startswith(f"otherwise {best.shown} (")
    packed = af.BaselineClassifier(label="slp").fit(data.X, data.y, **data.fit_params)
    assert set(packed.predict(data.X)) == {"slp"}
    with pytest.raises(ValueError, match="label 'packed', expected one of"):
        af.BaselineClassifier(label="packed").fit(data.X, data.y)


def test_columns_of_losses_name_their_labels_in_any_order(data: af.TrainingData) -> None:
    model = af.RegretClassifier(bins=5).fit(data.X, data.y, losses=data.losses)
    turned = af.RegretClassifier(bins=5).fit(data.X, data.y, losses=data.losses.iloc[:, ::-1])
    assert turned.rules_ == model.rules_ and turned.classes_.tolist() == list(data.losses)
    assert turned.score(data.X, data.y, losses=data.losses.iloc[:, ::-1]) == model.score(
        data.X, data.y, losses=data.losses
    )


def test_what_estimators_show_is_no_markup() -> None:
    values = pd.DataFrame({HOSTILE: [0.0, 1.0] * 20})
    model = af.RegretClassifier().fit(values, np.array(["a", HOSTILE] * 20))
    assert "<script" not in model._repr_html_() and "&lt;script" in model._repr_html_()


@pytest.mark.parametrize(
    "call",
    [
        lambda data: af.training_data("no-such-file"),
        lambda data: af.training_data(pd.DataFrame({"a": [1]})),
        lambda data: af.training_data(af.observations(OPTERON, 8), features=["no-such-counter"]),
        lambda data: af.training_data(af.action_table(af.observations(OPTERON, 8)), machine="host"),
        lambda data: af.action_table("no-such-file"),
        lambda data: data.regret(["packed"]),
        lambda data: data.regret(["scatter"] * len(data.y)),
        lambda data: af.training_data([1]),
        lambda data: af.action_table(None),
        lambda data: af.learn({}),
        lambda data: af.policy_of("any-machine"),
        lambda data: af.policy_of(af.RegretClassifier().fit(data.X.to_numpy(), data.y)),
        lambda data: af.policy_of(af.RegretClassifier().fit(data.X, data.X["ipc"] > 1)),
    ],
)
def test_what_cannot_be_is_an_error_of_ours(call: Any, data: af.TrainingData) -> None:
    with pytest.raises(af.AutofinityError) as error:
        call(data)
    assert len(str(error.value)) > 10


def test_bins_that_cannot_be_are_said(data: af.TrainingData) -> None:
    for bins, says in (
        (0, "0 bins, expected at least 1"),
        ([(1.0,)], "bins of 1 columns, expected"),
        ({"ipc": (1.0,)}, "bins have no edges of"),
        (dict.fromkeys(data.X, (2.0, 1.0)), "edges that do not ascend"),
    ):
        with pytest.raises(ValueError, match=says):
            af.RipperClassifier(bins=bins).fit(data.X, data.y)  # type: ignore[arg-type]
