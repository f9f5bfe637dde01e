"""Runs on record: `status` names their programs, `explain` gives the last answer first."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from two_looks import BETWEEN, two_looks

from autofinity.cli.main import cli
from autofinity.model.affinity import PACKED, Hint
from autofinity.model.policy import Trial
from autofinity.policy import files
from autofinity.runtime.policies import digest_of
from autofinity.store.behaviour_db import BehaviourDB


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "behaviour.db"


def ended(db: Path, hint: Hint, policy: Path) -> None:
    """A run of two looks, in the second of which threads were 1.2 times as fast."""
    with BehaviourDB.open(db) as database:
        run = database.begin_run(
            "k", "/opt/tools/solver", 42, "t", policy=digest_of(policy), policy_path=str(policy)
        )
        database.update_run(
            run,
            sample={"instructions": 1.0},
            probe={"instructions": 1.2},
            hint=hint,
            bound=2,
            threads=2,
            phase="ended",
            ended=True,
        )


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.json"
    files.save(replace(two_looks(), trial=Trial(BETWEEN, 1.01)), path)
    return path


def lines(*words: str | Path) -> list[str]:
    done = CliRunner().invoke(cli, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_status_names_the_program_of_each_run(db: Path, policy: Path) -> None:
    ended(db, PACKED, policy)
    latest = "\n".join(lines("status", "--db", db)).partition("latest runs")[2].split()
    assert "program" in latest and "solver" in latest


@pytest.mark.parametrize(("columns", "rows"), [(None, 1), (400, 2)])
def test_the_notes_of_a_run_are_in_its_row_where_lines_have_no_end(
    db: Path, columns: int | None, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", str(columns))
    with BehaviourDB.open(db) as database:
        run = database.begin_run("k", "/opt/tools/solver", 42, "t")
        database.update_run(run, notes="one note\nanother", phase="ended", ended=True)
    shown = [line.rstrip() for line in lines("status", "--db", db)]
    said = shown[shown.index("latest runs") + 1 :]
    assert len(said) == 1 + rows
    assert said[1].endswith("  one note; another") == (rows == 1)


@pytest.mark.parametrize("columns", [80, 100])
def test_status_keeps_to_the_width_of_a_terminal(
    db: Path, policy: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    ended(db, PACKED, policy)
    assert max(map(len, lines("status", "--db", db))) <= columns


@pytest.mark.parametrize(("hint", "tried"), [(PACKED, False), (BETWEEN, True)])
def test_the_last_answer_comes_first_and_a_trial_that_decided_is_named(
    db: Path, policy: Path, hint: Hint, tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")  # the path of the policy is one line
    ended(db, hint, policy)
    said = lines("explain", "last", "--db", db)
    assert said[2] == f"final answer: {hint.shown}"
    decided = "a trial of few-sockets-own-caches (sLP) decided; the sample of the trial is not on"
    assert any(line.startswith(decided) for line in said) == tried
    document = json.loads("\n".join(lines("explain", "last", "--db", db, "--json")))
    assert document["tried"] == (str(hint) if tried else None)
    assert document["second"]["hint"] == str(PACKED)
