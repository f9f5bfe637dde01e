"""`Policy.decide` and `explain` with the samples of all looks: the same answers as every other way
of asking the policy.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from two_looks import BETWEEN, two_looks

import autofinity as af
from autofinity.affinity.best_matches import BestMatches
from autofinity.cli.main import cli
from autofinity.evaluation.judge import OwnMatches, behaviour_seen
from autofinity.learning.feature_columns import with_sums
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.observation import Workload
from autofinity.model.policy import Instead, OtherCounts, Trial
from autofinity.store.observation_table import ObservationTable

OPTERON = "opteron-6164he"
TRIAL = Trial(BETWEEN, 1.01)
POLICY = af.Policy(replace(two_looks(), trial=TRIAL))
FIRST = {"instructions": 1e9, "llc_requests": 5e7, "cache_to_cache_transfers_other_llc": 1e4}


def at(speed: float) -> dict[str, float]:
    return {"instructions": speed}


@pytest.mark.parametrize("hint", af.HINTS)
def test_the_looks_of_a_policy_are_named_in_the_order_of_the_samples(hint: Hint) -> None:
    assert af.Policy(two_looks(hint)).looks == (SPREAD, hint)
    assert POLICY.looks == (SPREAD, PACKED, BETWEEN)
    assert af.Policy(replace(two_looks(), second=None)).looks == (SPREAD,)


@pytest.mark.parametrize(
    ("second", "trial", "hint", "awaits"),
    [
        (None, None, SPREAD, PACKED),
        (1.2, None, PACKED, BETWEEN),
        (1.2, 1.3, BETWEEN, None),
        (1.2, 1.205, PACKED, None),
        (0.9, 1.2, BETWEEN, None),
        (0.9, 1.005, SPREAD, None),
        (9.0, None, PACKED, BETWEEN),
        (9.0, 9.5, BETWEEN, None),
        (0.1, None, SPREAD, BETWEEN),
        (math.nan, None, SPREAD, None),
    ],
)
def test_the_answer_is_the_last_that_the_samples_allow(
    second: float | None, trial: float | None, hint: Hint, awaits: Hint | None
) -> None:
    given: Any = {
        "second": None if second is None else at(second),
        "trial": None if trial is None else at(trial),
    }
    why = POLICY.explain(at(1.0), **given)
    known = second is None or not math.isnan(second)
    assert (why.hint, why.awaits, why.final) == (hint, awaits, awaits is None and known)
    assert POLICY.decide(at(1.0), **given) == hint
    assert POLICY.decide(pd.Series(at(1.0)), **given) == hint
    said = str(why).splitlines()[0]
    assert why.decided != (second is not None and math.isnan(second))
    if why.final:
        assert said == f"final answer: {hint.shown}"
    else:
        assert ("not final yet" if known else "instructions of a sample is missing") in said
    assert list(why.steps["name"])[-1] == hint.name


@pytest.mark.parametrize("name", ["first", "second", "trial"])
def test_a_count_below_0_is_refused_by_argument_and_counter(name: str) -> None:
    given: Any = {"first": at(1.0), "second": at(1.0), "trial": at(1.0)} | {name: at(-1.0)}
    for ask in (POLICY.decide, POLICY.explain):
        with pytest.raises(af.AutofinityError, match=f"{name} has -1 for instructions"):
            ask(**given)
    tables = {argument: pd.DataFrame([sample]) for argument, sample in given.items()}
    with pytest.raises(af.AutofinityError, match=f"{name} has -1 for instructions"):
        POLICY.decide(**tables)


@pytest.mark.parametrize("name", ["first", "second", "trial"])
def test_an_infinite_count_is_refused_by_argument_and_counter(name: str) -> None:
    given: Any = {"first": at(1.0), "second": at(1.0), "trial": at(1.0)} | {name: at(math.inf)}
    tables = {argument: pd.DataFrame([sample]) for argument, sample in given.items()}
    for ask in (
        lambda: POLICY.decide(**given),
        lambda: POLICY.explain(**given),
        lambda: POLICY.decide(**tables),
    ):
        with pytest.raises(af.AutofinityError, match=f"{name} has inf for instructions"):
            ask()


def test_a_trial_without_the_second_sample_is_refused() -> None:
    sample, table = at(1.0), pd.DataFrame([at(1.0)])
    for ask in (
        lambda: POLICY.decide(sample, trial=sample),
        lambda: POLICY.explain(sample, trial=sample),
        lambda: POLICY.decide(table, trial=table),
    ):
        with pytest.raises(af.AutofinityError, match="trial is given without second"):
            ask()


def test_the_explanation_has_each_step_with_values_and_thresholds() -> None:
    why = POLICY.explain(at(1.0), second=at(1.25), trial=at(1.5))
    assert list(why.steps.step) == ["first look", "second look", "trial"]
    assert list(why.steps.sampled_in) == ["spread", "packed", BETWEEN.name]
    assert list(why.steps.rule) == [-1, 0, 0]
    rows = why.thresholds.itertuples(index=False, name=None)
    assert list(rows) == [
        ("second look", 0, "speed_gain", 1.25, 1.0, math.inf, True, str(PACKED)),
        ("trial", 0, "speed_gain", 1.2, TRIAL.faster, math.inf, True, str(BETWEEN)),
    ]
    assert why.margin == pytest.approx(0.19 / 1.2) and why.runner_up == PACKED
    for text in (str(why), why._repr_html_()):
        assert "1.2 times as fast as in packed (slp)" in text and "threads stay" in text
    blind = POLICY.explain(at(1.0), second=at(math.nan))
    assert "no trial: the speed of a look is not known" in str(blind)
    waiting = POLICY.explain(at(1.0), second=at(1.2))
    assert f"not final yet: the policy asks for a sample in {BETWEEN.shown}" in str(waiting)
    assert f"Then try {BETWEEN.shown}." in str(waiting)
    assert "awaits a sample in" in repr(waiting)


@pytest.mark.parametrize("packed", [0.5, 0.92, 1.1, 3.0])
@pytest.mark.parametrize("tried", [None, 1.0, 1.2])
def test_the_answer_is_that_of_the_command_explain(packed: float, tried: float | None) -> None:
    words = ["explain", "any-machine", "--json", "--second", f"instructions={packed}e9"]
    words += [] if tried is None else ["--trial", f"instructions={tried}e9"]
    sample = ",".join(f"{name}={value}" for name, value in FIRST.items())
    document = json.loads(CliRunner().invoke(cli, [*words, "--sample", sample]).stdout)
    trial = None if tried is None else at(tried * 1e9)
    why = af.load_policy("any-machine").explain(FIRST, second=at(packed * 1e9), trial=trial)
    assert document["final"] == (str(why.hint) if why.final else None)
    assert document["second"]["margin"] == list(why.steps.margin)[1]


@pytest.fixture(scope="module")
def seen() -> pd.DataFrame:
    return af.observations(OPTERON, threads=8)


def test_tables_are_decided_as_programs_are_judged(seen: pd.DataFrame) -> None:
    table = with_sums(ObservationTable.from_pandas(seen))
    matches = OwnMatches(BestMatches(af.machine(OPTERON).topology), 8)
    for name in ("any-machine", OPTERON):
        policy = af.load_policy(name).on(OPTERON, 8)
        keys = seen[["program", "input", "threads"]].astype({"program": str, "input": str})
        workloads = [Workload(*key) for key in keys.drop_duplicates().itertuples(index=False)]

        def look(hint: Hint, workload: Workload) -> dict[str, float]:
            return dict(behaviour_seen(table, workload, matches(hint), WARMUP_PERIODS, 0))

        looks = [pd.DataFrame([look(hint, w) for w in workloads]) for hint in policy.looks]
        compared = 0
        said = policy.decide(looks[0], second=looks[1], trial=looks[2])
        for hint, workload in zip(said, workloads, strict=True):
            judged = matches.answers(
                policy.inside,
                lambda affinity: behaviour_seen(table, workload, affinity, WARMUP_PERIODS, 0),  # noqa: B023
            )
            answer = matches.last_word(policy.inside, judged[-1]).hint
            reference = judged[1].hint if len(judged) > 2 else SPREAD
            if matches(reference) in map(matches, policy.looks):  # else no look has that sample
                assert hint == answer
                compared += 1
        assert len(set(said)) > 1 and compared > len(said) / 2


def test_a_row_of_a_table_is_decided_as_alone_and_keeps_its_name(seen: pd.DataFrame) -> None:
    policy = af.load_policy("any-machine")
    some = seen.iloc[::500]
    said = policy.decide(some)
    assert said.index.equals(some.index) and said.name == "hint"
    assert list(said) == [policy.decide(row) for _, row in some.iterrows()]
    plain = some.filter(like="counter:").rename(columns=lambda name: name.removeprefix("counter:"))
    assert said.equals(policy.decide(plain))
    assert len(policy.decide(some.head(0))) == 0
    unknown = {"counter:instructions": np.nan, "counter:llc_requests": None}
    gaps = some.assign(**unknown).astype({"counter:llc_requests": "Float64"})
    assert set(policy.decide(gaps)) == {policy.decide(dict.fromkeys(policy.counters, math.nan))}


def test_answers_are_for_the_number_of_threads_that_the_policy_is_put_on() -> None:
    machine = af.machine("synthetic:pack:2 numa:1 l3:2 core:4 pu:1")
    cores = af.Affinity.parse("{4,4}{4,4}")
    other, between = BETWEEN, Hint.parse("SlP")
    instead = (Instead(PACKED, 4, 4, other), Instead(BETWEEN, 4, 4, between))
    policy = af.Policy(replace(POLICY.inside, other_counts=OtherCounts(cores, instead)))
    looks: Any = {"second": at(1.6)}
    assert policy.decide(at(1.0), **looks) == PACKED
    assert policy.on(machine, 8).decide(at(1.0), **looks) == PACKED
    here = policy.on(machine, 4)
    assert here.decide(at(1.0), **looks) == here.explain(at(1.0), **looks).hint == other
    assert here.looks == (SPREAD, PACKED, between)
    assert here.explain(at(1.0), second=at(1.2)).awaits == between
    one = pd.DataFrame([at(1.0)])
    assert list(here.decide(one, second=one * 1.2, trial=one * 1.4)) == [between]
    assert here.decide(at(1.0), second=at(1.2), trial=at(1.4)) == between


def test_a_policy_on_a_machine_is_saved_for_all_thread_counts(tmp_path: Path) -> None:
    policy = af.load_policy(OPTERON)
    policy.on(OPTERON, 40).save(tmp_path / "policy.json")
    assert str(af.load_policy(tmp_path / "policy.json")) == str(policy)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda table: ([1.0],), "first is a list"),
        (lambda table: (None,), "first is a NoneType"),
        (lambda table: ({"instructions": "1e9"},), "a number, or NaN"),
        (lambda table: ({"instructions": [1.0]},), "a number, or NaN"),
        (lambda table: ({1: 1.0},), "names of counters"),
        (lambda table: (pd.Series([1.0, 2.0], ["instructions"] * 2),), "each counter once"),
        (lambda table: (pd.Series([1.0], [["a"], ["b"]]),), "each counter once"),
        (lambda table: (table.rename(columns={"instructions": "ipc"}),), "none of the counters"),
        (lambda table: (table.astype(str),), "expected numbers"),
        (lambda table: (table.astype(complex),), "expected numbers"),
        (lambda table: (table.T,), "expected names of text"),
        (lambda table: (pd.concat([table, table], axis=1),), "more than once"),
        (lambda table: (pd.concat({"a": table}, axis=1),), "columns of 2 levels"),
        (lambda table: (table, at(1.0)), "second is a dict"),
        (lambda table: (table, table.head(2)), "the index of second differs"),
        (lambda table: (table, table, table[::-1]), "the index of trial differs"),
        (lambda table: (at(1.0), table), "second is a DataFrame"),
    ],
)
def test_samples_that_cannot_be_are_said(given: Any, said: str) -> None:
    first, *others = given(pd.DataFrame({"instructions": [1.0, 2.0, 3.0]}))
    names = dict(zip(("second", "trial"), others, strict=False))
    with pytest.raises(af.AutofinityError, match=said):
        POLICY.decide(first, **names)


@pytest.mark.parametrize("missing", [None, pd.NA, float("nan"), np.float64("nan")])
def test_a_missing_value_is_not_measured_in_a_row_as_in_a_table(missing: Any) -> None:
    policy = af.load_policy("any-machine")
    row = dict.fromkeys(policy.counters, 1e8) | {policy.counters[0]: missing}
    table = pd.DataFrame([row], dtype=object)
    assert policy.decide(row) == policy.decide(table)[0] == policy.decide(table.iloc[0])
    why = policy.explain(row)
    assert why.hint == policy.decide(row) and not why.decided
    assert why.depends_on == policy.counters[:1]


def test_a_counter_that_is_left_out_is_refused_where_the_answer_depends_on_it() -> None:
    policy, few = af.load_policy("any-machine"), {"instructions": 2e9}
    asked = "cannot decide: first lacks cache_to_cache_transfers_other_llc, llc_requests, which"
    for given in (few, pd.Series(few)):
        with pytest.raises(ValueError, match=asked):
            policy.decide(given)
    with pytest.raises(ValueError, match="cannot decide: the table first lacks"):
        policy.decide(pd.DataFrame([few]))
    assert not policy.explain(few).decided
    second = {"instructions": 1e9}
    assert policy.decide(few, second=second) == SPREAD, "the second look has the last word"
    tables = (pd.DataFrame([sample]) for sample in (few, second))
    assert list(policy.decide(next(tables), second=next(tables))) == [SPREAD]
    with pytest.raises(ValueError, match="first lacks instructions"):
        policy.decide({"llc_requests": 1e8}, second=second)
    without = {"instructions": 1e9, "llc_requests": 2e8}
    assert af.load_policy(OPTERON).decide(without) == PACKED, "llc_misses would change nothing"
    table = pd.DataFrame([FIRST]).rename(columns={"instructions": "instruction"})
    with pytest.raises(ValueError, match=r"lacks instructions.* did you mean 'instruction'"):
        policy.decide(table)


def test_a_name_that_is_no_counters_is_refused_with_near_names() -> None:
    policy = af.load_policy("any-machine")
    for ask in (policy.decide, policy.explain):
        with pytest.raises(ValueError, match="no counter 'llc_request' is known; did you mean 'll"):
            ask(FIRST | {"llc_request": 1.0})
        with pytest.raises(ValueError, match="second: no counter 'ipc' is known; expected counts"):
            ask(FIRST, second=FIRST | {"ipc": 1.0})
    assert policy.decide(FIRST | {"page_walks": 1.0}) == policy.decide(FIRST), "a counter, unused"


def test_a_sample_with_none_of_the_counters_is_refused_as_a_table_is() -> None:
    with pytest.raises(af.AutofinityError, match="none of the counters"):
        af.load_policy("any-machine").decide({"page_walks": 1e9})


def test_explain_of_a_table_says_how_to_take_one_row(seen: pd.DataFrame) -> None:
    with pytest.raises(af.AutofinityError, match="iloc"):
        af.load_policy("any-machine").explain(seen)
