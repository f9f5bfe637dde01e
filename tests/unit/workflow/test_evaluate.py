"""Policies judged on observations that are there already."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from few_observations import FEW, FEW_ON
from told import Told

from autofinity.cli.main import cli
from autofinity.learning.settings import PAPER, LearningSettings
from autofinity.model.affinity import PACKED
from autofinity.model.errors import LearningError
from autofinity.model.policy import RulePolicy
from autofinity.policy.files import save
from autofinity.reporter import Reporter
from autofinity.resources import shipped
from autofinity.store.observation_table import Coded, ObservationTable
from autofinity.store.observations import write_one
from autofinity.workflow.evaluate import evaluate
from autofinity.workflow.kept_policies import FOLDER
from autofinity.workflow.observations import (
    is_shipped_suite,
    observations_of,
    thread_counts_of,
)
from autofinity.workflow.train import rules_of_observations
from autofinity.workflow.wanted import Wanted, wanted_on

SETTINGS = LearningSettings(counters=("llc_miss_share",), probe="none", other_counts=False)


def wanted(work: Path, threads: tuple[int, ...] = ()) -> Wanted:
    return wanted_on(FEW_ON, programs=FEW, threads=threads, work=work)


def test_what_is_recorded_is_judged_at_its_own_thread_counts_and_nothing_is_run(
    observations: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    done = evaluate(wanted(tmp_path), SETTINGS, observations=observations, reporter=told)
    assert {(case.workload.program, case.workload.threads) for case in done.cases} == {
        (program, 8) for program in FEW
    }
    assert done.skipped == []
    table = observations_of(FEW_ON, given=observations)
    assert done.affinities == len(
        {row.affinity for row in table.observations() if row.placement == "affinity"}
    )
    assert told.work == [("judge", len(FEW))]
    assert sorted(told.done) == sorted(FEW)
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER]
    monkeypatch.setattr("autofinity.workflow.evaluate.learn", None)  # it is not called again
    assert evaluate(wanted(tmp_path), SETTINGS, observations=observations).cases == done.cases


def test_a_policy_that_is_given_is_judged_as_it_is(observations: Path, tmp_path: Path) -> None:
    policy = tmp_path / "packed.json"
    save(RulePolicy((), {}, (), PACKED), policy)
    done = evaluate(wanted(tmp_path), SETTINGS, policy=policy, observations=observations)
    assert [case.decision.hint for case in done.cases] == [PACKED] * len(FEW)


def test_one_program_alone_is_refused_before_anything_is_profiled_or_learned(
    observations: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("gather", "learn"):
        monkeypatch.setattr(f"autofinity.workflow.evaluate.{name}", None)  # it is not called
    alone = wanted_on(FEW_ON, programs=(FEW[0], FEW[0]), threads=(8,), work=tmp_path)
    for given in (None, observations):
        with pytest.raises(LearningError, match=f"got {FEW[0]}, expected at least two programs"):
            evaluate(alone, SETTINGS, observations=given)


def test_programs_without_runs_are_named_and_nothing_but_such_is_an_error(
    observations: Path, tmp_path: Path
) -> None:
    done = evaluate(wanted(tmp_path, (8, 5)), SETTINGS, observations=observations)
    assert {(missed.workload, missed.reason) for missed in done.skipped} == {
        ((program, "small", 5), "was not profiled with 5 threads") for program in FEW
    }
    with pytest.raises(LearningError, match="runs with 8 threads; --observations none"):
        evaluate(wanted(tmp_path, (5,)), SETTINGS, observations=observations)


def test_no_program_is_missing_at_a_size_that_nothing_was_profiled_with(
    observations: Path, tmp_path: Path
) -> None:
    table = observations_of(FEW_ON, given=observations)
    of_size, policy = tmp_path / "llc.parquet", tmp_path / "packed.json"
    sizes = Coded(np.zeros(len(table), np.int32), ("llc",))
    write_one(replace(table, input=sizes), of_size, packed=False)
    save(RulePolicy((), {}, (), PACKED), policy)
    done = evaluate(wanted(tmp_path), SETTINGS, policy=policy, observations=of_size)
    assert {case.workload.input for case in done.cases} == {"llc"}
    assert done.skipped == []


def test_a_policy_is_learned_from_all_observed_thread_counts_and_by_the_paper_from_eight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = observations_of("opteron-6164he")
    few = tmp_path / "few.parquet"
    write_one(table.take(np.isin(table.program.text(), FEW)), few, packed=False)
    seen = set()

    def learn(others: ObservationTable, *_: object) -> SimpleNamespace:
        seen.add(thread_counts_of(others))
        return SimpleNamespace(policy=RulePolicy((), {}, (), PACKED))

    monkeypatch.setattr("autofinity.workflow.evaluate.learn", learn)
    asked = wanted_on("opteron-6164he", programs=FEW, work=tmp_path)
    evaluate(asked, SETTINGS, observations=few)
    assert seen == {(4, 8, 16, 24)}
    seen.clear()
    evaluate(asked, PAPER, observations=few)
    assert seen == {(8,)}


def test_rules_are_learned_of_the_thread_counts_asked_for(observations: Path) -> None:
    assert thread_counts_of(observations_of(FEW_ON, given=observations)) == (8,)
    policy, _ = rules_of_observations(observations, SETTINGS, threads=(8,))
    assert policy.provenance["machine"] == FEW_ON
    assert policy.provenance["threads"] == [8]
    with pytest.raises(LearningError, match="no observation with 5 threads; there are 8"):
        rules_of_observations(observations, SETTINGS, threads=(5,))


def test_the_shipped_suite_is_known_by_its_digest_wherever_it_lies(tmp_path: Path) -> None:
    own = shipped("training", "suite.toml")
    assert is_shipped_suite(None)
    assert is_shipped_suite(own)
    copy = tmp_path / "elsewhere"
    shutil.copytree(own.parent, copy)
    assert is_shipped_suite(copy / "suite.toml")
    source = copy / "lu" / "lu.c"
    before = source.read_bytes()
    source.write_bytes(before + b"\n")
    assert not is_shipped_suite(copy / "suite.toml")
    source.write_bytes(before)
    manifest = (copy / "suite.toml").read_text()
    (copy / "suite.toml").write_text(manifest + "# mine\n")
    assert not is_shipped_suite(copy / "suite.toml")


def test_the_shipped_suite_by_its_path_is_judged_by_shipped_observations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def profiles(*_: object) -> None:
        raise AssertionError("it profiles")

    monkeypatch.setattr("autofinity.workflow.evaluate.gather", profiles)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    copy = tmp_path / "elsewhere"
    shutil.copytree(shipped("training", "suite.toml").parent, copy)
    arguments = ["evaluate", "--machine", "opteron-6164he", "--threads", "8"]
    arguments += ["--policy", str(shipped("policies", "opteron-6164he.json"))]
    arguments += ["--suite", str(copy / "suite.toml"), "--json"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), True),
        (("--work", "FOLDER"), True),
        (("--affinities", "hints"), False),
        (("--observations", "none"), False),
    ],
)
def test_a_machine_without_shipped_observations_is_profiled_with_notice(
    options: tuple[str, ...], said: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def profiles(wanted: Wanted, reporter: Reporter) -> None:
        raise LearningError("it profiles")

    monkeypatch.setattr("autofinity.workflow.evaluate.gather", profiles)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    words = [word.replace("FOLDER", str(tmp_path)) for word in options]
    done = CliRunner().invoke(cli, ["evaluate", "-m", "epyc-9755", *words])
    assert str(done.exception) == "it profiles"
    assert done.stdout == ""
    shorter = "--affinities hints, or --observations FILE"
    begin = "autofinity: no observations of epyc-9755 are shipped: it is profiled now"
    assert done.stderr.startswith(begin) == said
    assert (shorter in done.stderr and "Ctrl-C keeps what is done" in done.stderr) == said
    assert done.stderr.count("\n") == said


def test_nothing_is_said_of_profiling_before_a_refusal(tmp_path: Path) -> None:
    words = ["evaluate", "-m", "epyc-9755", "-p", FEW[0], "--work", str(tmp_path)]
    done = CliRunner().invoke(cli, words)
    assert "expected at least two programs" in str(done.exception)
    assert done.output == ""
