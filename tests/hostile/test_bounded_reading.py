"""Nothing beside or in a database keeps a monitor waiting, fills its memory or burns its core."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from own_database import by_hand, filled
from planted import plant

from autofinity.model.errors import StoreError
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_file import StepLimit

pytestmark = pytest.mark.any_user

MOST_MEMORY_BYTES = 600 << 20  # of addresses: a Python with its libraries has a third of it
MOST_CPU_S = 60
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
# A run from its first row to its last, and what commands make of it.
MONITOR = """
import os, sys
from pathlib import Path
from autofinity.model.affinity import PACKED
from autofinity.runtime.claims import write_claims
from autofinity.runtime.decisions import CachedDecision, read_decisions, write_decision
from autofinity.runtime.journal import Journal
from autofinity.runtime.run_header import RunHeader
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.workflow.run_records import status

db = Path(sys.argv[1])
journal = Journal(db, RunHeader("k", "/bin/k", os.getpid(), "t", 2, "p", "llc", "0-3"))
journal.note("a note")
journal.end({})
if sys.argv[2] != "garbage":
    with BehaviourDB.open(db) as database:
        write_claims(database)
    status(db, 1)
else:
    assert db.read_bytes().startswith(b"garbage")
read_decisions(db.with_name("decisions"))
write_decision(db.with_name("decisions"), CachedDecision("k", 2, "p", "llc", "m", PACKED, "0", "0"))
print("done")
"""


def bounded(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """A Python of ours that may take so much memory and CPU time, and is not waited for longer."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))

    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=600,
        preexec_fn=limit,
    )


@pytest.mark.parametrize("kind", ["a FIFO", "a link to a device", "a folder"])
@pytest.mark.parametrize("name", ["monitor.log", "decisions", "claims"])
def test_no_side_file_keeps_a_monitor(name: str, kind: str, tmp_path: Path) -> None:
    db = tmp_path / "db"
    content = "garbage" if name == "monitor.log" else "rows"
    if content == "garbage":  # then there is something to log
        db.write_bytes(b"garbage " * 100)
    plant(kind, tmp_path / name)
    done = bounded("-c", MONITOR, db, content)
    if kind == "a folder" and name != "monitor.log":  # a folder in its place cannot be replaced
        assert "StoreError" in done.stderr
    else:
        assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("part", ["9999*0", "1*0-65535"])
def test_no_seats_of_a_decision_fill_the_memory(part: str, tmp_path: Path) -> None:
    seats = ";".join([part] * 1500)
    line = f"k 2 p llc m slp 0-3 0-3 {seats}\n"
    (tmp_path / "decisions").write_text("autofinity-decisions 3\n" + 100 * line)
    done = bounded("-c", MONITOR, tmp_path / "db", "rows")
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("policy", ["/dev/zero", "FIFO", "LARGE", "/proc/self/mem", "/"])
def test_a_policy_that_a_row_names_is_a_file_of_bounded_size(policy: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "FIFO")
    (tmp_path / "LARGE").touch()
    os.truncate(tmp_path / "LARGE", 1 << 40)
    filled(tmp_path / "db", os.getpid())
    with by_hand(tmp_path / "db") as connection:
        connection.execute("UPDATE run SET policy_path = ?", (str(tmp_path / policy),))
    done = bounded("-m", "autofinity", "explain", "last", "--db", tmp_path / "db")
    assert done.returncode == 0, done.stderr
    assert "cannot be read" in done.stdout


FOREIGN = {
    "trigger": "CREATE TRIGGER t AFTER UPDATE ON run BEGIN UPDATE program SET path = '/x'; END",
    "view": "CREATE VIEW extra AS SELECT 1",
    "table": "CREATE TABLE extra (x)",
    "index": "CREATE INDEX extra ON run (abs(pid))",
    "view in a table's place": f"DROP TABLE mask; CREATE VIEW mask AS {ENDLESS}",
    "computed column": "ALTER TABLE run ADD COLUMN extra INTEGER AS (abs(pid))",
    "virtual table": "CREATE VIRTUAL TABLE extra USING fts5(x)",
    "loose table": "DROP TABLE meta; CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT)",
    "lacking table": "DROP TABLE observation",
    "older than its version": "PRAGMA user_version = 1",
    "version below all": "PRAGMA user_version = -1",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_database_of_other_parts_than_ours_is_refused_and_left_alone(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "db"
    filled(path, os.getpid())
    with by_hand(path) as connection:
        try:
            connection.executescript(FOREIGN[name])
        except sqlite3.OperationalError as error:
            pytest.skip(f"this SQLite cannot make it: {error}")
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError) as told:
            BehaviourDB.open(path, read_only=read_only)
        assert len(str(told.value).splitlines()) == 1
    assert path.read_bytes() == before


def test_a_database_of_another_encoding_is_refused(tmp_path: Path) -> None:
    with by_hand(tmp_path / "db") as connection:
        connection.executescript("PRAGMA encoding = 'UTF-16'; CREATE TABLE run (id)")
    with pytest.raises(StoreError, match="it is not in UTF-8"):
        BehaviourDB.open(tmp_path / "db")


def test_a_database_of_another_program_gets_no_tables_of_ours(tmp_path: Path) -> None:
    with by_hand(tmp_path / "db") as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
    before = (tmp_path / "db").read_bytes()
    with pytest.raises(StoreError, match="has the table 'bookmarks'"):
        BehaviourDB.open(tmp_path / "db")
    assert (tmp_path / "db").read_bytes() == before


def test_statistics_of_sqlites_own_are_no_foreign_part(tmp_path: Path) -> None:
    filled(tmp_path / "db", os.getpid())
    with by_hand(tmp_path / "db") as connection:
        connection.execute("ANALYZE")
    with BehaviourDB.open(tmp_path / "db") as database:
        assert len(database.runs()) == 1


def test_a_trigger_that_comes_later_does_not_run(tmp_path: Path) -> None:
    path = tmp_path / "db"
    run = filled(path, os.getpid())
    with BehaviourDB.open(path) as database:
        with by_hand(path) as connection:
            connection.execute(
                f"CREATE TRIGGER t BEFORE UPDATE ON run BEGIN SELECT * FROM ({ENDLESS}); END"
            )
        database.update_run(run, notes="written all the same")
        assert database.runs()[0].notes == "written all the same"


def test_a_question_without_end_is_interrupted_and_not_asked_again() -> None:
    connection = sqlite3.connect(":memory:")
    limit = StepLimit(connection)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        connection.execute(ENDLESS).fetchall()
    limit.begin()
    small = ENDLESS.replace("FROM n)", "FROM n WHERE i < 100000)")
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        connection.execute(small).fetchall()
    StepLimit(connection)
    assert connection.execute(small).fetchone() == (100_000,)


def test_a_value_larger_than_any_of_ours_is_not_read(tmp_path: Path) -> None:
    filled(tmp_path / "db", os.getpid())
    with by_hand(tmp_path / "db") as connection:
        connection.execute("UPDATE run SET notes = CAST(zeroblob(2000000) AS TEXT)")
    with BehaviourDB.open(tmp_path / "db") as database, pytest.raises(StoreError):
        database.runs()
