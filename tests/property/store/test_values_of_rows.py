"""Whatever a database says, its readers answer, leave a row out and say so, or raise an error of
ours; and what could be read before can be read after.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from commands import autofinity
from hypothesis import example, given
from hypothesis import strategies as st
from own_database import KEY, by_hand, filled

from autofinity.linux.identity import identity_of
from autofinity.model.affinity import HINTS
from autofinity.model.errors import AutofinityError
from autofinity.runtime.attaching import request_for
from autofinity.runtime.claims import claimed, expire, live_runs, write_claims
from autofinity.runtime.journal import Journal
from autofinity.runtime.restore import restore
from autofinity.runtime.run_header import RunHeader
from autofinity.runtime.threads_now import threads_now
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.rebuild_mark import RebuildMark
from autofinity.workflow.run_records import policy_of, run_now, status

WHOLE = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([-(2**63), -1, 0, 1, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1]),
    st.just(os.getpid()),
)
REAL = st.one_of(st.floats(allow_nan=False), st.sampled_from([1e300, -1e300, 9e999, -0.0, 2.5e11]))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
LIKE_OURS = st.sampled_from([
    "0-3", "0-", "99999999999999999999", "0-65536", "5-1", "{2}", "{-2}", "{99999999999}", "{2}{",
    "{x}", "{}", *map(str, HINTS), "\u017flp", "[" * 100_000, "9" * 5_000, "[1]", "null",
    '{"a": null}', '{"ipc": 1e999}', '{"ipc": [1]}', '{"ipc": ' + "9" * 400 + "}", '{"a": true}',
    "\x1b[2J", "a\nb", "\0", "/dev/zero", "/", "", "\x00/etc", "nan", "1e400",
])  # fmt: skip
TEXT = st.one_of(
    st.binary(max_size=20), st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace")),
    ANY_JSON.map(lambda value: json.dumps(value).encode()),
    LIKE_OURS.map(str.encode),
)  # fmt: skip
OF_TYPE: dict[str, st.SearchStrategy[Any]] = {"INTEGER": WHOLE, "REAL": REAL, "TEXT": TEXT}


def columns() -> list[tuple[str, str, str]]:
    """Table, column and type of all that can be changed by itself."""
    with TemporaryDirectory() as folder:
        filled(Path(folder) / "db", os.getpid())
        with by_hand(Path(folder) / "db") as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return [
                (table, column, kind)
                for (table,) in tables.fetchall()
                for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({table})")
            ]


COLUMNS = columns()


@pytest.fixture(scope="module")
def watched() -> Iterator[int]:
    """The process that is on record."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process.pid
        process.kill()


def answered(ask: Callable[[], object]) -> None:
    """Or an error of ours, in one line."""
    try:
        ask()
    except AutofinityError as error:
        assert len(str(error).splitlines()) == 1, str(error)


def read(path: Path) -> None:
    """By everything that changes nothing."""
    answered(lambda: status(path, 10))
    answered(lambda: policy_of(run_now("last", path).run))
    for number in ("1", "0", "9" * 19, "9" * 30, "9" * 9000):
        answered(lambda number=number: run_now(number, path))
    with BehaviourDB.open(path, read_only=True) as database:
        for ask in (
            database.programs,
            database.runs,
            database.observations,
            RebuildMark(database.session).due,
        ):
            answered(ask)
        for run in database.runs():
            answered(lambda run=run: threads_now(run, database.masks.of_run(run.id)))
        answered(lambda: claimed(live_runs(database)))
        answered(lambda: f"{database.damage}")


def use(path: Path, pid: int) -> None:
    """By everything that writes."""
    with BehaviourDB.open(path) as database:
        answered(lambda: database.answer(KEY, 2, "p"))
        answered(lambda: request_for(pid, database))
        answered(lambda: write_claims(database))
        for run in live_runs(database):
            answered(lambda run=run: restore(database, run))
        answered(lambda: expire(database))
        answered(RebuildMark(database.session).set)
        # The monitor of another run goes on as if nothing were wrong.
    journal = Journal(path, RunHeader("x" * 64, "/bin/x", pid, "t", 2, "p", "llc", "0-3"))
    journal.note("kept")
    journal.end({"cycles": 1})
    with BehaviourDB.open(path) as database:
        assert any(run.notes == "kept" and run.ended for run in database.runs())


def content(path: Path) -> list[list[tuple[object, ...]]]:
    with by_hand(path) as connection:
        connection.text_factory = bytes
        tables = sorted({table for table, _, _ in COLUMNS})
        return [connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables]


@given(
    st.lists(
        st.sampled_from(COLUMNS).flatmap(
            lambda column: st.tuples(st.just(column), st.one_of(st.none(), OF_TYPE[column[2]]))
        ),
        min_size=1,
        max_size=3,
    )
)
@example([(("run", "started", "REAL"), 1e300)])
@example([(("run", "sample", "TEXT"), b"[1, 2]"), (("behaviour", "sample", "TEXT"), b"null")])
@example([(("run", "pid", "INTEGER"), 2**62), (("run", "totals", "TEXT"), b'{"a": 1e400}')])
@example([(("behaviour", "threads", "INTEGER"), 2**62), (("mask", "tid", "INTEGER"), 2**40)])
@example([(("meta", "value", "TEXT"), b"9" * 400)])
@example([(("run", "id", "INTEGER"), -(2**63) + 98)])
@example([(("run", "cpus", "TEXT"), b"\x80")])
@example([(("look", "counts", "TEXT"), b'{"0": {"a": [1]}}')])
@example([(("run", "allowed", "TEXT"), b"5-1"), (("mask", "given", "TEXT"), b"\xff")])
def test_no_value_of_a_row_is_an_error_that_is_not_ours(
    watched: int, changes: list[tuple[tuple[str, str, str], Any]]
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "db"
        filled(path, watched)
        with by_hand(path) as connection:
            connection.execute("INSERT INTO meta VALUES ('rows_at_build', '1')")
            for (table, column, kind), value in changes:
                place = "CAST(? AS TEXT)" if kind == "TEXT" else "?"
                # A key may be taken, and some columns have to say something.
                with suppress(sqlite3.IntegrityError):
                    connection.execute(f"UPDATE OR IGNORE {table} SET {column} = {place}", (value,))
        before = content(path)
        read(path)
        assert content(path) == before
        use(path, watched)


@pytest.mark.parametrize("command", ["status", "explain", "restore"])
@pytest.mark.parametrize(
    ("column", "value"), [("started", 1e300), ("sample", "[1]"), ("pid", 2**40), ("totals", "null")]
)
def test_a_damaged_row_is_one_line_and_an_exit_code(
    command: str, column: str, value: object, watched: int, tmp_path: Path
) -> None:
    path = tmp_path / "db"
    with BehaviourDB.open(path) as database:
        database.begin_run(KEY, "/bin/other", 1, "t")
        me = identity_of(watched)
        host, ticks = me.host, me.start_ticks
        database.begin_run(KEY, "/bin/damaged", watched, "t", host=host, start_ticks=ticks)
    with by_hand(path) as connection:
        connection.execute(f"UPDATE run SET {column} = ? WHERE id = 2", (value,))
    before = content(path)
    run = ["last"] if command == "explain" else []
    done = autofinity(command, *run, "--db", str(path), code=1)
    assert f"damaged rows were left out: run 2: {column}: got " in done.stderr
    assert len(done.stderr.splitlines()) == 1
    if command == "status":  # shows all the same what can be read
        assert "latest runs" in done.stdout
    assert content(path) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["explain", "99999999999999999999999"], "there is no run 99999999999999999999999 in"),
        (["explain", "9" * 5000], "there is no run 9999"),
        (["top", "--once", "abc"], "there is no run abc in"),
        (["top", "--once", "1e3"], "there is no run 1e3 in"),
        (["top", "--once", "\u0663"], "there is no run \u0663 in"),
        (["attach", "2147483648"], "there is no process 2147483648"),
        (["attach", "9" * 40], "there is no process 9999"),
        (["restore", "2147483648"], "no live run of process 2147483648 is on record"),
    ],
)
def test_a_number_larger_than_any_is_one_line_and_an_exit_code(
    words: list[str], said: str, watched: int, tmp_path: Path
) -> None:
    filled(tmp_path / "db", watched)
    done = autofinity(*words, "--db", str(tmp_path / "db"), code=2)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
