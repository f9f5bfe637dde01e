"""A policy for any machine, from the observations of several to the table of how it does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from autofinity.cli.main import cli
from autofinity.evaluation import across
from autofinity.evaluation.across import LEFT_OUT, all_of, evidence_on, leaving
from autofinity.learning.pipeline import LearnedPolicy
from autofinity.learning.settings import PAPER, LearningSettings
from autofinity.learning.several_machines import Evidence, learn_from
from autofinity.model.errors import LearningError, UsageError
from autofinity.policy import files
from autofinity.policy.shipped import modes_of
from autofinity.store.observations import write_one
from autofinity.workflow.observations import observations_of
from autofinity.workflow.several_machines import evaluate_across, machines_in, rules_of_machines

MACHINES = ("xeon-e5-2650", "xeon-x7550")
PROGRAMS = ("cg", "fft", "lbm", "pic", "stencil", "join")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Observations of a few programs on two machines."""
    made = tmp_path_factory.mktemp("observations")
    for machine in MACHINES:
        table = observations_of(machine)
        some = np.isin(table.program.text(), PROGRAMS) & table.input.equals("small")
        some &= table.threads == 8
        write_one(table.take(some), made / f"{machine}.parquet", packed=False)
    return made


def test_each_machine_is_judged_without_what_is_left_out(folder: Path) -> None:
    found = evaluate_across(observations=folder)
    assert tuple(found) == LEFT_OUT
    for judged in found.values():
        assert {name: len(cases) for name, (cases, _) in judged.items()} == dict.fromkeys(
            MACHINES, len(PROGRAMS)
        )


def test_a_policy_has_not_seen_what_was_left_out(folder: Path) -> None:
    known = machines_in(folder)
    settings = LearningSettings()
    evidence = all_of(evidence_on(known, settings))
    for left_out in LEFT_OUT:
        rest = evidence.without(
            machines={MACHINES[0]} if left_out != "program" else (),
            program="cg" if left_out != "machine" else "",
        )
        seen = set(
            zip(rest.first.features.machine.text(), rest.first.features.program.text(), strict=True)
        )
        assert ((MACHINES[0], "cg") in seen) is False
        assert ((MACHINES[1], "cg") in seen) == (left_out == "machine")
        assert ((MACHINES[0], "pic") in seen) == (left_out == "program")
        policy = leaving(left_out, evidence, settings)(MACHINES[0], "cg")
        assert policy.default in policy.last_words


def test_a_machine_is_left_out_in_all_numa_modes_of_its_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = {"epyc-9654", "epyc-9654-nps1"}
    assert modes_of("epyc-9654") == modes_of("epyc-9654-nps1") == modes
    assert modes_of("xeon-x7550") == {"xeon-x7550"} and modes_of("my.toml") == {"my.toml"}
    for machine in (*modes, "xeon-x7550"):
        table = observations_of(machine)
        some = np.isin(table.program.text(), PROGRAMS[:3]) & table.input.equals("small")
        write_one(table.take(some & (table.threads == 8)), tmp_path / f"{machine}.parquet")
    settings = LearningSettings()
    evidence = all_of(evidence_on(machines_in(tmp_path), settings))
    machines: set[str] = set()

    def learned(rest: Evidence, *others: Any) -> LearnedPolicy:
        machines.update(rest.first.features.machine.text())
        return learn_from(rest, *others)

    monkeypatch.setattr(across, "learn_from", learned)
    leaving("machine", evidence, settings)("epyc-9654", "")
    assert machines == {"xeon-x7550"}


def test_the_policy_says_what_it_was_made_of_and_reads_back(folder: Path) -> None:
    policy = rules_of_machines(folder).policy
    assert policy.provenance["machine"] == "any"
    assert policy.provenance["machines"] == sorted(MACHINES)
    assert files.loads(files.dumps(policy).encode()) == policy


def test_a_folder_without_observations_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LearningError, match=r"expected a file a machine"):
        machines_in(tmp_path)


def test_the_papers_method_belongs_to_one_machine_and_any_learner_to_all(folder: Path) -> None:
    with pytest.raises(UsageError, match="sample periods of one machine"):
        rules_of_machines(folder, PAPER)
    ripper = rules_of_machines(folder, LearningSettings(learner="ripper")).policy
    assert ripper.provenance["settings"]["learner"] == "ripper"  # type: ignore[index]
    assert ripper.second is None, "a second look is learned by what is lost"


def test_two_files_of_a_machine_are_an_error(folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copy(folder / f"{MACHINES[0]}.parquet", tmp_path / f"{name}.parquet")
    with pytest.raises(LearningError, match=f"two files of {MACHINES[0]}"):
        machines_in(tmp_path)


def test_the_commands_learn_it_and_judge_it(folder: Path, tmp_path: Path) -> None:
    policy = tmp_path / "any.json"
    words = ["rules", str(folder), "--machine", "any", "-o", str(policy)]
    assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0
    words = ["evaluate", "--machine", "any", "--observations", str(folder)]
    told = CliRunner().invoke(cli, [*words, "--policy", str(policy), "--json"])
    document = json.loads(told.stdout)
    assert list(document) == ["nothing"]
    assert {case["machine"] for case in document["nothing"]["cases"]} == set(MACHINES)
    shown = CliRunner().invoke(cli, [*words, "--policy", str(policy)]).stdout
    assert all(machine in shown for machine in MACHINES)


class _Interrupting:
    """A reporter of somebody who presses Ctrl-C after some steps."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[_Interrupting]:
        yield self

    def step(self, label: str = "") -> None:
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt

    def found(self) -> None: ...

    def notice(self, message: str) -> None: ...


def test_an_interrupted_evaluation_goes_on_with_the_policies_that_it_had_learned(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned = 0

    def learn(*arguments: Any) -> LearnedPolicy:
        nonlocal learned
        learned += 1
        return learn_from(*arguments)

    monkeypatch.setattr(across, "learn_from", learn)
    anew = evaluate_across(observations=folder)
    all_folds = learned
    assert all_folds == len(PROGRAMS) + len(MACHINES) + len(PROGRAMS) * len(MACHINES)

    learned = 0
    with pytest.raises(KeyboardInterrupt):
        evaluate_across(observations=folder, work=tmp_path, reporter=_Interrupting(4))
    assert learned == 4
    assert evaluate_across(observations=folder, work=tmp_path) == anew
    assert learned == all_folds, "four were there, the others were learned once"
    assert evaluate_across(observations=folder, work=tmp_path) == anew
    assert learned == all_folds

    machines = {"machines": MACHINES[:1], "left_out": ("program",)}
    evaluate_across(observations=folder, work=tmp_path, **machines)
    assert learned == all_folds + len(PROGRAMS), "of other observations, all are learned"
    other = LearningSettings(most_rules=3)
    evaluate_across(other, observations=folder, work=tmp_path, **machines)
    assert learned == all_folds + 2 * len(PROGRAMS), "and of other settings"


def test_thread_counts_cannot_be_chosen_for_any_machine(folder: Path) -> None:
    told = CliRunner().invoke(cli, ["rules", str(folder), "--machine", "any", "--threads", "8"])
    assert told.exit_code == 2 or "all thread counts" in str(told.exception or told.output)
