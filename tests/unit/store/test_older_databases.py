"""An upgrade of autofinity keeps what the user's behaviour database has."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from older_databases import COFFEE, OLDER, POLICY, SOLVER, in_old_columns, older_database, rows_of

from autofinity.model.affinity import PACKED, SPREAD, Affinity
from autofinity.model.answer_on_record import AnswerOnRecord, SeatOrder
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_file import SCHEMA_VERSION
from autofinity.store.behaviour_schema import version_of

pytestmark = pytest.mark.parametrize("version", OLDER)


def test_there_are_databases_of_the_versions_before(version: int) -> None:
    assert [*range(3, SCHEMA_VERSION)] == OLDER
    assert version in OLDER


def test_every_row_and_value_is_kept(tmp_path: Path, version: int) -> None:
    path = tmp_path / "db"
    older_database(path, version)
    before = rows_of(path)
    assert all(before.values())
    BehaviourDB.open(path).close()
    after = rows_of(path)
    for table, rows in before.items():
        assert in_old_columns(after[table], rows) == rows, table
    ordered = {0} if version < 6 else {0, 1}
    assert {row["by_number"] for row in after["behaviour"]} == ordered
    exchanged = {0} if version < 7 else {0, 1}
    assert {row["exchanged"] for row in after["behaviour"]} == exchanged
    assert {row["place"] for row in after["behaviour"]} == {""}


def test_hints_observations_runs_and_masks_are_used_as_before(tmp_path: Path, version: int) -> None:
    older_database(tmp_path / "db", version)
    with BehaviourDB.open(tmp_path / "db") as database:
        assert database.answer(SOLVER, 8, POLICY) == AnswerOnRecord(SPREAD)
        ordered: SeatOrder = (
            "near home" if version < 6 else "by number" if version < 7 else "exchanged"
        )
        assert database.answer(COFFEE, 4, POLICY) == AnswerOnRecord(PACKED, ordered)
        assert [str(each.affinity) for each in database.observations()] == ["{4}{4}", "{4}"]
        second, first = database.runs()
        assert (first.path, first.threads, first.notes) == (
            "/opt/solver",
            8,
            "bound in 0.3 s\nsecond look",
        )
        assert [run.id for run in database.open_runs("node1")] == [second.id]
        assert [mask.before for mask in database.masks.of_run(second.id)] == ["0-15"]
        assert database.damaged == ()
    with closing(sqlite3.connect(tmp_path / "db")) as connection:
        assert version_of(connection) == SCHEMA_VERSION


def test_runs_get_names_and_machines_of_their_own(tmp_path: Path, version: int) -> None:
    older_database(tmp_path / "db", version)
    with BehaviourDB.open(tmp_path / "db"):
        pass
    runs = rows_of(tmp_path / "db")["run"]
    assert len({str(run["uuid"]) for run in runs if len(str(run["uuid"])) == 32}) == 2
    assert {run["machine"] for run in runs} == {"opteron-6164he"}


def test_a_reader_leaves_the_file_as_it_is(tmp_path: Path, version: int) -> None:
    path = tmp_path / "db"
    older_database(path, version)
    before = path.read_bytes()
    with BehaviourDB.open(path, read_only=True) as database:
        assert len(database.programs()) == 2
        assert len(database.runs()) == 2
    assert path.read_bytes() == before


def test_what_is_new_can_be_written(tmp_path: Path, version: int) -> None:
    older_database(tmp_path / "db", version)
    with BehaviourDB.open(tmp_path / "db") as database:
        run = database.begin_run(SOLVER, "/opt/solver", 7, "hardware counters")
        database.remember_observation(
            run, SOLVER, 8, Affinity.parse("{8}"), "m", {"ipc": 1.0}, "hardware counters"
        )
    with BehaviourDB.open(tmp_path / "db", read_only=True) as database:
        assert len(database.runs()) == len(database.observations()) == 3
