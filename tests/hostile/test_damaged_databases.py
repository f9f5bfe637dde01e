"""A database with anything in it, and any files beside it: read, or refused in our words."""

from __future__ import annotations

import json
import random
import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from damaged import NUMBERS
from hostile_text import texts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autofinity.model.affinity import HINTS, Affinity
from autofinity.model.answer_on_record import AnswerOnRecord
from autofinity.model.errors import AutofinityError
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.rebuild_mark import RebuildMark

pytestmark = pytest.mark.any_user

SHARED = [HealthCheck.function_scoped_fixture]
SAMPLE = {"instructions": 1e9, "misses": 1e6}
TABLES = ("program", "behaviour", "run", "observation", "meta", "mask")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with a row of everything."""
    path = tmp_path_factory.mktemp("whole") / "behaviour.db"
    with BehaviourDB.open(path) as database:
        run = database.begin_run("key", "/bin/app", 1, "hardware counters")
        database.remember_sample("key", "/bin/app", 2, SAMPLE, "hardware counters")
        database.remember_answer("key", 2, AnswerOnRecord(HINTS[0]), "digest")
        database.remember_observation(
            run, "key", 2, Affinity.of([[2]]), "m", SAMPLE, "hardware counters"
        )
        database.update_run(run, hint=HINTS[0], ended=True)
        RebuildMark(database.session).set()
        with database.session.statement() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")
    return path.read_bytes()


def ask_everything(path: Path) -> None:
    """Queries of the commands that read."""
    from autofinity.cli.status import _document, _print
    from autofinity.workflow.run_records import policy_of, run_now, status

    found = status(path, 10)
    json.dumps(_document(found))
    _print(found)
    now = run_now("last", path)
    json.dumps(asdict(now.run))
    policy_of(now.run)
    with BehaviourDB.open(path, read_only=True) as database:
        database.observations()
        database.masks.of_run(1)
        database.open_runs()


def read_or_refused(path: Path) -> None:
    try:
        ask_everything(path)
    except AutofinityError as error:
        assert str(error)


def fresh(folder: Path, content: bytes) -> Path:
    for old in folder.iterdir():
        old.unlink()
    path = folder / "behaviour.db"
    path.write_bytes(content)
    path.chmod(0o600)
    return path


@settings(suppress_health_check=SHARED)
@given(seed=st.integers(0, 1 << 32))
def test_changed_bytes(whole: bytes, tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    content = bytearray(whole)
    for _ in range(draw.choice((1, 2, 8, 64))):
        at = draw.choice((draw.randrange(100), draw.randrange(len(content))))
        content[at] = draw.choice((0, 1, 127, 255, draw.randrange(256)))
    if draw.random() < 0.2:
        del content[draw.randrange(len(content)) :]
    read_or_refused(fresh(tmp_path, bytes(content)))


VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.sampled_from([n for n in NUMBERS if not isinstance(n, int) or abs(n) < 1 << 63]),
    texts(0),
    st.binary(max_size=8),
    st.sampled_from(("{}", "[]", "7", '{"a": 1e999}', '{"a": "b"}', '{"\\ud800": 1}', "[" * 2000)),
)


@settings(suppress_health_check=SHARED)
@given(data=st.data())
def test_values_of_any_kind_in_any_column(
    whole: bytes, tmp_path: Path, data: st.DataObject
) -> None:
    path = fresh(tmp_path, whole)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = OFF")
    for _ in range(data.draw(st.integers(1, 3))):
        table = data.draw(st.sampled_from(TABLES))
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column, value = data.draw(st.sampled_from(columns)), data.draw(VALUES)
        try:
            connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
        except (sqlite3.Error, OverflowError):
            continue  # which the table itself refuses
    connection.commit()
    connection.close()
    read_or_refused(path)


LINES = ("autofinity-decisions 3", "key 2 digest llc m SLP 0-1 0-1", "key x", "", "\x1b[2J", "\0")
LINES += ("[" * 3000, '{"a": 1}', "autofinity-claims 1", "1 2 3 0-1", "-1 99999999999999999999")


@settings(suppress_health_check=SHARED)
@given(
    lines=st.lists(st.sampled_from(LINES) | texts(0), max_size=6),
    name=st.sampled_from(("decisions", "monitor.log", "claims", "origins.json")),
    tail=st.binary(max_size=3),
)
def test_files_beside_it(
    whole: bytes, tmp_path: Path, lines: list[str], name: str, tail: bytes
) -> None:
    from autofinity.runtime.decisions import read_decisions

    path = fresh(tmp_path, whole)
    beside = path.with_name(name)
    beside.write_bytes("\n".join(lines).encode() + tail)
    beside.chmod(0o600)
    read_decisions(beside)
    read_or_refused(path)
