"""The file of the behaviour database: where it is, how it is opened, and the schema it gets."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from autofinity.model.errors import StoreError
from autofinity.store.network_folders import may_be_shared

SCHEMA_VERSION = 3

_SCHEMA = """
CREATE TABLE program (
    key TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    first_seen REAL NOT NULL
) STRICT;
CREATE TABLE behaviour (
    program TEXT NOT NULL REFERENCES program(key) ON DELETE CASCADE,
    threads INTEGER NOT NULL,
    sample TEXT NOT NULL,
    tier TEXT NOT NULL,
    sampled_at REAL NOT NULL,
    hint TEXT,
    policy TEXT,
    PRIMARY KEY (program, threads)
) STRICT;
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    program TEXT NOT NULL REFERENCES program(key) ON DELETE CASCADE,
    pid INTEGER NOT NULL,
    started REAL NOT NULL,
    ended REAL,
    tier TEXT NOT NULL,
    threads INTEGER,
    hint TEXT,
    bound INTEGER NOT NULL DEFAULT 0,
    notes TEXT NOT NULL DEFAULT '',
    totals TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
"""

_SCHEMA_2 = """
CREATE TABLE observation (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    program TEXT NOT NULL REFERENCES program(key) ON DELETE CASCADE,
    threads INTEGER NOT NULL,
    affinity TEXT NOT NULL,
    machine TEXT NOT NULL,
    sample TEXT NOT NULL,
    tier TEXT NOT NULL,
    taken_at REAL NOT NULL
) STRICT;
"""

# Since 3 a run says which process it is (a pid alone is used again), what it holds, and why.
_SCHEMA_3 = """
ALTER TABLE run ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN start_ticks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN monitor_pid INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN monitor_ticks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN policy TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN policy_path TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN allowed TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN phase TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN cpus TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN sample TEXT NOT NULL DEFAULT '{}';
ALTER TABLE run ADD COLUMN probe TEXT NOT NULL DEFAULT '{}';
CREATE TABLE mask (
    run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    tid INTEGER NOT NULL,
    start_ticks INTEGER NOT NULL,
    before TEXT NOT NULL,
    given TEXT NOT NULL,
    PRIMARY KEY (run, tid, start_ticks)
) STRICT;
"""
_SCHEMAS = (_SCHEMA, _SCHEMA_2, _SCHEMA_3)


def default_path(environment: Mapping[str, str] | None = None) -> Path:
    """`autofinity/behaviour.db` in the user's state folder (XDG base directories).

    Raises `StoreError` when neither XDG_STATE_HOME nor HOME names a folder.
    """
    env = os.environ if environment is None else environment
    state, home = env.get("XDG_STATE_HOME", ""), env.get("HOME", "")
    if state.startswith("/"):  # a relative one does not count, says the specification
        return Path(state) / "autofinity" / "behaviour.db"
    if home.startswith("/"):
        return Path(home) / ".local" / "state" / "autofinity" / "behaviour.db"
    raise StoreError(
        "there is no state folder: expected XDG_STATE_HOME or HOME to name one; set it, or give "
        "--db FILE or --no-db"
    )


def connect(path: Path, timeout_s: float, read_only: bool) -> sqlite3.Connection:
    """An open database of the present schema; a file that is not there is made for writers.

    Raises `StoreError`: not writable, damaged, locked for longer than `timeout_s`, or from a newer
    version.
    """
    try:
        connection = _open(path, timeout_s, read_only)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"the behaviour database {path} cannot be opened: {error}") from error
    try:
        with guarded(path):
            return _prepared(connection, path, read_only, timeout_s)
    except BaseException:
        connection.close()
        raise


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """What SQLite or a damaged row raises becomes a `StoreError` that names the file."""
    try:
        yield
    except (sqlite3.Error, ValueError) as error:  # ValueError: a row that is no JSON, no hint
        raise StoreError(
            f"the behaviour database {path} cannot be used: {error}; programs run without "
            "it. If it is damaged, move it away to begin anew"
        ) from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, with all other writers held off."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _open(path: Path, timeout_s: float, read_only: bool) -> sqlite3.Connection:
    if read_only:
        if not path.is_file():
            raise StoreError(f"there is no behaviour database at {path}; `autofinity run` makes it")
        return sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, timeout=timeout_s)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Made by us and not by SQLite, so that it is private from its first byte on; the -wal and -shm
    # files take its mode.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    return sqlite3.connect(path, timeout=timeout_s, isolation_level=None)


def _prepared(
    connection: sqlite3.Connection, path: Path, read_only: bool, timeout_s: float
) -> sqlite3.Connection:
    version = _version(connection)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"the behaviour database {path} has schema {version} and this autofinity "
            f"knows up to {SCHEMA_VERSION}; update autofinity or give another --db"
        )
    if read_only:
        if version == SCHEMA_VERSION:
            return connection
        # An older one, or one that another process is just making: a reader brings a copy in
        # memory up to date.
        copy = sqlite3.connect(":memory:", isolation_level=None)
        connection.backup(copy)
        connection.close()
        _migrate(copy)
        return copy
    if may_be_shared(path):
        # A home directory of a cluster: readers and writers meet by the locks of the file alone.
        _keep_journal(connection, "delete", timeout_s)
        connection.execute("PRAGMA synchronous = FULL")
    else:
        _keep_journal(connection, "wal", timeout_s)
        # NORMAL may lose the last commits when the machine (not the monitor) dies, and corrupts
        # nothing: right for observations that can be made again.
        connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    if version < SCHEMA_VERSION:
        _migrate(connection)
    return connection


def _keep_journal(connection: sqlite3.Connection, mode: str, timeout_s: float) -> None:
    """Let this be the journal's mode. SQLite does not wait for the lock of a change itself, where
    several make the file at the same time (it might be for ever); so we do, up to `timeout_s`.
    """
    give_up = time.monotonic() + timeout_s
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != mode:
                connection.execute(f"PRAGMA journal_mode = {mode}")
            return
        except sqlite3.OperationalError as error:
            # The low byte is the kind; what lies above says why, in more than one way.
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > give_up:
                raise
            time.sleep(0.01)


def _migrate(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        # Another process may have done it while we waited for the lock.
        for statement in ";".join(_SCHEMAS[_version(connection) :]).split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path))
