"""The tables of the behaviour database, version by version.

A file is ours when it holds exactly these tables: a view in place of a table, a trigger or a
computed column would run code that somebody else wrote.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache

SCHEMA_VERSION = 8

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

# Since 4 a run has a name that no other run of any host has, and says where it is to be sent.
_SCHEMA_4 = """
ALTER TABLE run ADD COLUMN uuid TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN machine TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN site TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN sent REAL;
UPDATE run SET uuid = lower(hex(randomblob(16)));
UPDATE run SET machine = coalesce(
    (SELECT machine FROM observation WHERE observation.run = run.id LIMIT 1), '')
"""

# Since 5 the latest runs have a series of looks.
_SCHEMA_5 = """
CREATE TABLE look (
    run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL,
    place TEXT NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT;
"""

# Since 6 a hint says in which order threads sat.
_SCHEMA_6 = """
ALTER TABLE behaviour ADD COLUMN by_number INTEGER NOT NULL DEFAULT 0
"""

# Since 7 caches may have exchanged threads that sat by number.
_SCHEMA_7 = """
ALTER TABLE behaviour ADD COLUMN exchanged INTEGER NOT NULL DEFAULT 0
"""

# Since 8 an answer is one for the CPUs that its program could use: a hint on a part of a node says
# nothing of a whole one, and home folders are shared by nodes of several kinds.
_SCHEMA_8 = """
ALTER TABLE behaviour ADD COLUMN place TEXT NOT NULL DEFAULT ''
"""
_SCHEMAS = (
    *(_SCHEMA, _SCHEMA_2, _SCHEMA_3, _SCHEMA_4),
    *(_SCHEMA_5, _SCHEMA_6, _SCHEMA_7, _SCHEMA_8),
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, as SQLite describes it."""

    name: str
    kind: str
    """TEXT, INTEGER or REAL."""
    required: bool
    default: str | None
    """Expression of SQL; None: there is no default."""


def version_of(connection: sqlite3.Connection) -> int:
    """The schema version that a database records; 0: the database was just made."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Transaction, all or nothing: IMMEDIATE excludes all other writers, DEFERRED reads one
    instant.
    """
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database of an older schema up to date, all or nothing."""
    with transaction(connection):
        # Another process may have migrated the database while we waited for the lock.
        _make(connection, version_of(connection), SCHEMA_VERSION)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def foreign_part(connection: sqlite3.Connection, version: int) -> str:
    """A part that a database has, or lacks, against our schema of this version; empty: no
    difference.
    """
    if str(connection.execute("PRAGMA encoding").fetchone()[0]) != "UTF-8":
        return "it is not in UTF-8"
    expected = _objects(version)
    found = _objects_of(connection, len(expected) + 1)
    for kind, name in sorted(found.keys() | expected.keys()):
        if (kind, name) not in expected:
            return f"it has the {kind} {name!r}, which autofinity does not make"
        if found.get((kind, name)) != expected[kind, name]:
            return f"its table {name!r} is not as autofinity makes it"
    return ""


@functools.cache
def tables_of(version: int = SCHEMA_VERSION) -> Mapping[str, tuple[Column, ...]]:
    """Tables of a schema version, with their columns in order."""
    with _example(version) as connection:
        names = [name for kind, name in _objects_of(connection, -1) if kind == "table"]
        return {
            name: tuple(
                Column(column, kind, bool(required or key), default)
                for _, column, kind, required, default, key in connection.execute(
                    f"PRAGMA table_info({name})"
                )
            )
            for name in names
        }


@cache
def _objects(version: int) -> dict[tuple[str, str], str]:
    """Objects in a database of a schema version."""
    with _example(version) as connection:
        return _objects_of(connection, -1)


@contextmanager
def _example(version: int) -> Iterator[sqlite3.Connection]:
    """An empty database of a schema version, in memory."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _make(connection, 0, version)
        yield connection


def _objects_of(connection: sqlite3.Connection, most: int) -> dict[tuple[str, str], str]:
    """Kind and name of each object in a database → the statement that makes it, without spaces."""
    rows = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE NOT "
        # SQLite's own objects: indexes of keys, and tables of ANALYZE.
        "(type = 'index' AND name GLOB 'sqlite_autoindex_*' AND sql IS NULL OR "
        "type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4')) LIMIT ?",
        (most,),
    )
    return {(str(kind), str(name)): "".join(str(sql).split()) for kind, name, sql in rows}


def _make(connection: sqlite3.Connection, first: int, last: int) -> None:
    for statement in ";".join(_SCHEMAS[first:last]).split(";"):
        connection.execute(statement)
