"""The behaviour database keeps what was committed, drops old hints, refuses what it cannot read."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from autofinity.model.affinity import PACKED, SPREAD, Affinity
from autofinity.model.answer_on_record import AnswerOnRecord, SeatOrder
from autofinity.model.errors import StoreError
from autofinity.model.timeline import TimelineStep
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_file import SCHEMA_VERSION
from autofinity.store.rebuild_mark import RebuildMark

SAMPLE = {"retired_uops": 1.5e9, "ipc": 0.75}


def filled(path: Path, rows: int) -> BehaviourDB:
    database = BehaviourDB.open(path)
    for threads in range(1, rows + 1):
        database.remember_sample("k", "/bin/k", threads, SAMPLE, "hardware counters")
    return database


@pytest.mark.parametrize("order", ["near home", "by number", "exchanged"])
def test_a_sample_and_its_hint_come_back_as_they_were(tmp_path: Path, order: SeatOrder) -> None:
    with filled(tmp_path / "db", 1) as database:
        database.remember_answer("k", 1, AnswerOnRecord(PACKED, order), "policy-a")
    with BehaviourDB.open(tmp_path / "db", read_only=True) as database:
        (known,) = database.programs()
    assert known.sample == SAMPLE
    assert (known.threads, known.hint, known.policy) == (1, PACKED, "policy-a")
    assert known.order == order
    assert known.path == "/bin/k"


def test_a_hint_of_another_policy_is_dropped_on_use(tmp_path: Path) -> None:
    with filled(tmp_path / "db", 1) as database:
        ordered = AnswerOnRecord(PACKED, "exchanged")
        database.remember_answer("k", 1, ordered, "old")
        assert database.answer("k", 1, "old") == ordered
        assert database.answer("k", 1, "new") is None
        assert database.programs()[0].hint is None
        assert database.programs()[0].order == "near home"
        assert database.answer("k", 1, "old") is None
        assert database.programs()[0].sample == SAMPLE


def test_a_new_sample_drops_the_hint_of_the_old_one(tmp_path: Path) -> None:
    with filled(tmp_path / "db", 1) as database:
        database.remember_answer("k", 1, AnswerOnRecord(PACKED), "p")
        database.remember_sample("k", "/bin/k", 1, {"ipc": 2.0}, "software events")
        assert database.answer("k", 1, "p") is None


def test_thread_counts_are_apart(tmp_path: Path) -> None:
    with filled(tmp_path / "db", 2) as database:
        database.remember_answer("k", 1, AnswerOnRecord(PACKED), "p")
        database.remember_answer("k", 2, AnswerOnRecord(SPREAD), "p")
        assert database.answer("k", 1, "p") == AnswerOnRecord(PACKED)
        assert database.answer("k", 2, "p") == AnswerOnRecord(SPREAD)
        assert database.answer("k", 3, "p") is None


def test_an_answer_is_one_for_cpus_like_those_it_was_found_on(tmp_path: Path) -> None:
    half, whole = "sockets:1 … some CPU", "sockets:2 … some CPU"
    with filled(tmp_path / "db", 1) as database:
        database.remember_sample("k", "/bin/k", 1, SAMPLE, "software events", half)
        database.remember_answer("k", 1, AnswerOnRecord(SPREAD), "p", whole)
        assert database.answer("k", 1, "p", half) is None, "no sample was taken there"
        database.remember_answer("k", 1, AnswerOnRecord(PACKED), "p", half)
        assert database.answer("k", 1, "p", half) == AnswerOnRecord(PACKED)
        assert database.answer("k", 1, "p", whole) is None
        assert database.answer("k", 1, "p", half) == AnswerOnRecord(PACKED), "and is kept"


def test_a_hint_without_a_sample_is_not_kept(tmp_path: Path) -> None:
    with filled(tmp_path / "db", 1) as database:
        database.remember_answer("k", 9, AnswerOnRecord(PACKED), "p")
        assert database.answer("k", 9, "p") is None
        assert [known.threads for known in database.programs()] == [1]


def observed(database: BehaviourDB, rows: int, tier: str = "hardware counters") -> None:
    run = database.begin_run("k", "/bin/k", 1, tier)
    for _ in range(rows):
        database.remember_observation(run, "k", 3, Affinity.parse("{2}{1}"), "m", SAMPLE, tier)


def test_a_rebuild_is_due_after_a_fifth_more_observations(tmp_path: Path) -> None:
    with filled(tmp_path / "db", 20) as database:
        observed(database, 9)
        assert not RebuildMark(database.session).due()
        observed(database, 5, "software events")  # nothing can be learned from those
        assert not RebuildMark(database.session).due()
        observed(database, 1)
        assert RebuildMark(database.session).due()
        RebuildMark(database.session).set()
        observed(database, 1)
        assert not RebuildMark(database.session).due(0.2)
        assert RebuildMark(database.session).due(0.1)
        observed(database, 1)
        assert RebuildMark(database.session).due(0.2)


def test_an_observation_comes_back_as_it_was(tmp_path: Path) -> None:
    with filled(tmp_path / "db", 1) as database:
        observed(database, 2)
    with BehaviourDB.open(tmp_path / "db", read_only=True) as database:
        first, second = database.observations()
    assert first == second
    assert (first.program, first.threads, str(first.affinity)) == ("k", 3, "{2}{1}")
    assert (first.machine, first.sample, first.tier) == ("m", SAMPLE, "hardware counters")


def test_a_database_of_the_first_schema_is_read_and_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "db"
    filled(path, 1).close()
    with sqlite3.connect(path) as old:  # as the first schema left it
        old.execute("DROP TABLE observation")
        old.execute("DROP TABLE mask")
        old.execute("DROP TABLE look")
        columns = [row[1] for row in old.execute("PRAGMA table_info(run)")]
        for later in columns[columns.index("totals") + 1 :]:
            old.execute(f"ALTER TABLE run DROP COLUMN {later}")
        old.execute("ALTER TABLE behaviour DROP COLUMN by_number")
        old.execute("ALTER TABLE behaviour DROP COLUMN exchanged")
        old.execute("ALTER TABLE behaviour DROP COLUMN place")
        old.execute("PRAGMA user_version = 1")
    old.close()
    with BehaviourDB.open(path, read_only=True) as database:
        assert database.observations() == ()
        assert not RebuildMark(database.session).due()
    with BehaviourDB.open(path) as database:
        observed(database, 1)
        assert len(database.observations()) == 1
        assert len(database.programs()) == 1


def test_looks_at_a_run_are_kept_to_four_digits_and_replaced_by_later_ones(tmp_path: Path) -> None:
    nan = float("nan")
    early = TimelineStep(0, 10, {0: {"instructions": 123456.0, "run_delay_ns": nan}})
    late = TimelineStep(10, 30, {0: {"instructions": 7.0}, 12: {}}, place="{2}")
    with filled(tmp_path / "db", 1) as database:
        number = database.begin_run("k", "/bin/k", 42, "software events")
        database.looks.remember(number, (early,))
        database.looks.remember(number, (early, late))
        first, second = database.looks.of_run(number)
        assert (first.start_ns, first.end_ns, first.place) == (0, 10, "")
        assert first.counts == {0: {"instructions": 123500.0}}
        assert (second.place, second.counts) == ("{2}", {0: {"instructions": 7.0}, 12: {}})
        assert database.looks.of_run(number + 1) == ()


def test_only_the_latest_hundred_runs_keep_their_looks(tmp_path: Path) -> None:
    look = TimelineStep(0, 1, {})
    with filled(tmp_path / "db", 1) as database:
        numbers = [database.begin_run("k", "/bin/k", 42, "software events") for _ in range(102)]
        for number in numbers:
            database.looks.remember(number, (look,))
        kept = [number for number in numbers if database.looks.of_run(number)]
    assert kept == numbers[2:]


@pytest.mark.parametrize(
    "counts",
    ["", "[]", '{"0": 1}', '{"a": {}}', '{"0": {"x": "1"}}', '{"0": {"x": 1' + "0" * 400 + "}}"],
)
def test_a_damaged_look_is_left_out_and_named(tmp_path: Path, counts: str) -> None:
    with filled(tmp_path / "db", 1) as database:
        number = database.begin_run("k", "/bin/k", 42, "software events")
        database.looks.remember(number, (TimelineStep(0, 1, {}), TimelineStep(1, 2, {})))
    with sqlite3.connect(tmp_path / "db") as connection:
        connection.execute("UPDATE look SET counts = ? WHERE number = 0", (counts,))
    connection.close()
    with BehaviourDB.open(tmp_path / "db") as database:
        assert [look.start_ns for look in database.looks.of_run(number)] == [1]
        (line,) = database.damaged
    assert line.startswith("look at a run: counts: got ")


def test_runs_are_noted_as_they_go(tmp_path: Path) -> None:
    with filled(tmp_path / "db", 1) as database:
        number = database.begin_run("k", "/bin/k", 42, "software events")
        database.update_run(number, threads=8, hint=PACKED, bound=8)
        database.update_run(number, notes="a\nb")
        assert database.runs()[0].ended is None
        database.update_run(number, totals={"cycles": 7}, ended=True)
        (run,) = database.runs()
    assert (run.pid, run.threads, run.hint, run.bound, run.notes) == (42, 8, PACKED, 8, "a\nb")
    assert run.totals == {"cycles": 7}
    assert run.ended is not None and run.ended >= run.started


def test_files_are_private_to_the_user(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with filled(tmp_path / "state" / "db", 1):
            assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
            for path in (tmp_path / "state").iterdir():
                assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
    finally:
        os.umask(old)


def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE future (x)")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"schema {SCHEMA_VERSION + 1}"):
        BehaviourDB.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"garbage " * 200, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_damaged_database_is_a_store_error_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "db"
    path.write_bytes(content)
    with pytest.raises(StoreError):
        BehaviourDB.open(path)
    assert path.read_bytes() == content


def test_a_damaged_row_is_left_out_and_said(tmp_path: Path) -> None:
    filled(tmp_path / "db", 2).close()
    connection = sqlite3.connect(tmp_path / "db")
    connection.execute(
        "UPDATE behaviour SET sample = 'no json', hint = 'XYZ', policy = 'p' WHERE threads = 1"
    )
    connection.commit()
    connection.close()
    with BehaviourDB.open(tmp_path / "db") as database:
        assert [known.threads for known in database.programs()] == [2]
        assert len(database.damaged) == 1
        assert "sample of program k: sample: got 'no json', expected" in str(database.damage)
        with pytest.raises(StoreError):
            database.answer("k", 1, "p")


def test_a_lock_that_stays_is_a_store_error_and_not_a_wait_without_end(tmp_path: Path) -> None:
    filled(tmp_path / "db", 1).close()
    holder = sqlite3.connect(tmp_path / "db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with (
        BehaviourDB.open(tmp_path / "db", timeout_s=0.05) as database,
        pytest.raises(StoreError, match="locked"),
    ):
        database.remember_sample("k", "/bin/k", 2, SAMPLE, "t")
    holder.close()


def test_a_missing_database_is_not_made_by_a_reader(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no behaviour database"):
        BehaviourDB.open(tmp_path / "db", read_only=True)
    assert not (tmp_path / "db").exists()


def test_a_database_that_is_just_being_made_is_empty_for_a_reader(tmp_path: Path) -> None:
    (tmp_path / "db").touch()
    with BehaviourDB.open(tmp_path / "db", read_only=True) as database:
        assert database.programs() == ()
        assert database.runs() == ()
        assert not RebuildMark(database.session).due()
    assert (tmp_path / "db").read_bytes() == b""


WRITER = """
import sys
from pathlib import Path
from autofinity.store import behaviour_file
from autofinity.store.behaviour_db import BehaviourDB
if sys.argv[3] == "shared":
    behaviour_file.may_be_shared = lambda path: True
database = BehaviourDB.open(Path(sys.argv[1]), timeout_s=300)
for threads in range(1, 100_000):
    database.remember_sample(sys.argv[2], "/bin/x", threads, {"ipc": 1.0}, "t")
    print(threads, flush=True)
"""


@pytest.mark.parametrize(("folder", "mode"), [("local", "wal"), ("shared", "delete")])
def test_killed_writers_lose_no_committed_row_and_damage_nothing(
    tmp_path: Path, folder: str, mode: str
) -> None:
    path = tmp_path / "db"
    root = Path(__file__).parents[3]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), f"program{number}", folder],
            stdout=subprocess.PIPE,
            cwd=root,
        )
        for number in range(6)
    ]
    for writer in writers:
        assert writer.stdout is not None
        for row in range(1, 21):
            assert int(writer.stdout.readline()) == row
    committed = {}
    for number, writer in enumerate(writers):
        writer.send_signal(signal.SIGKILL)
        assert writer.stdout is not None
        committed[f"program{number}"] = len(writer.stdout.read().splitlines()) + 20
        writer.wait()
    assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == (mode,)
    with BehaviourDB.open(path) as database:
        found: dict[str, int] = {}
        for known in database.programs():
            found[known.program] = found.get(known.program, 0) + 1
    for program, rows in committed.items():
        assert found[program] >= rows
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
