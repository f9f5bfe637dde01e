"""The tables of a site's database (PostgreSQL), made from the description of the local ones.

    autofinity.schema_version   one row: the version, that of SQLite's schema
    autofinity.program ──< run ──< observation

Columns are those of the local tables, with PostgreSQL's types; bytes that need not be UTF-8 are
`bytea`. Each row also has its owner, the role that wrote it: by the owner, PostgreSQL's row
security decides who may read the row. Roles may add rows of their own, and change or delete none.

A migration only adds tables and columns with a default. So hosts of an older version go on writing
to a newer database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

from autofinity.store.behaviour_rows import NOT_UTF_8
from autofinity.store.behaviour_schema import SCHEMA_VERSION, Column, tables_of
from autofinity.store.spool import SITE_TABLES, SPOOL_COLUMNS

type Readers = Literal["own", "observations", "all"]
"""Which rows of others a role may read: none, what policies are learned from, or all."""
READERS: tuple[Readers, ...] = get_args(Readers.__value__)

_KINDS = {"TEXT": "text", "INTEGER": "bigint", "REAL": "double precision"}
_KEYS = {
    "program": "PRIMARY KEY (owner, key)",
    "run": "PRIMARY KEY (owner, uuid), "
    "FOREIGN KEY (owner, program) REFERENCES autofinity.program (owner, key) "
    "ON DELETE CASCADE",
    "observation": "PRIMARY KEY (owner, run_uuid, id), "
    "FOREIGN KEY (owner, run_uuid) REFERENCES autofinity.run (owner, uuid) ON DELETE CASCADE",
}
# The number of a run is counted by each host, so that it names no run here.
_MORE_COLUMNS = {"observation": "run_uuid text NOT NULL"}
_READ_BY_OTHERS: Mapping[Readers, tuple[str, ...]] = {
    "own": (),
    "observations": ("observation",),
    "all": SITE_TABLES,
}

type Tables = Mapping[str, Sequence[Column]]


def statements_to_make(found: int, wanted: int = SCHEMA_VERSION) -> list[str]:
    """Statements that bring a database from version `found` (0: empty) to version `wanted`."""
    if found == wanted:
        return []
    before = _on_site(tables_of(found)) if found else {}
    after = _on_site(tables_of(wanted))
    made = [] if found else ["CREATE SCHEMA autofinity"]
    if not found:
        made.append("CREATE TABLE autofinity.schema_version (version bigint NOT NULL)")
        made.append("INSERT INTO autofinity.schema_version VALUES (0)")
        made.append("GRANT USAGE ON SCHEMA autofinity TO PUBLIC")
        made.append("GRANT SELECT ON autofinity.schema_version TO PUBLIC")
    made += migration(before, after)
    return [*made, f"UPDATE autofinity.schema_version SET version = {wanted}"]


def migration(before: Tables, after: Tables) -> list[str]:
    """Statements that add what `after` has and `before` lacks.

    Raises `ValueError` for a column that is gone, has changed, or has no value in rows of older
    writers.
    """
    made: list[str] = []
    for table, columns in after.items():
        if table not in before:
            made += _made(table, columns)
            continue
        known = {column.name: column for column in before[table]}
        if [column for column in columns if column.name in known] != list(before[table]):
            raise ValueError(f"a migration only adds: columns of {table} are gone or changed")
        for column in columns:
            if column.name in known:
                continue
            if column.required and column.default is None:
                raise ValueError(f"{table}.{column.name} has no value in rows of older writers")
            made.append(f"ALTER TABLE autofinity.{table} ADD COLUMN {_text(column)}")
    return made


def statements_to_show(readers: Readers) -> Iterator[str]:
    """Statements that set which rows of others a role may read."""
    for table in SITE_TABLES:
        yield f"DROP POLICY IF EXISTS rows_of_others ON autofinity.{table}"
        if table in _READ_BY_OTHERS[readers]:
            yield f"CREATE POLICY rows_of_others ON autofinity.{table} FOR SELECT USING (true)"


def readers_of(tables: Sequence[str]) -> Readers:
    """The setting of a database that has the policy `rows_of_others` on these tables."""
    return next((name for name in READERS if set(_READ_BY_OTHERS[name]) == set(tables)), "own")


def _on_site(tables: Tables) -> Tables:
    return {
        name: [column for column in tables[name] if column.name not in SPOOL_COLUMNS]
        for name in SITE_TABLES
    }


def _made(table: str, columns: Sequence[Column]) -> Iterator[str]:
    parts = ["owner name NOT NULL DEFAULT current_user"]
    parts += [_MORE_COLUMNS[table]] if table in _MORE_COLUMNS else []
    parts += [*map(_text, columns), _KEYS[table]]
    yield f"CREATE TABLE autofinity.{table} ({', '.join(parts)})"
    yield f"GRANT SELECT, INSERT ON autofinity.{table} TO PUBLIC"
    yield f"ALTER TABLE autofinity.{table} ENABLE ROW LEVEL SECURITY"
    mine = "(owner = current_user)"
    yield f"CREATE POLICY rows_read ON autofinity.{table} FOR SELECT USING {mine}"
    yield f"CREATE POLICY rows_added ON autofinity.{table} FOR INSERT WITH CHECK {mine}"


def _text(column: Column) -> str:
    kind = "bytea" if column.name in NOT_UTF_8 else _KINDS[column.kind]
    default = "" if column.default is None else f" DEFAULT {column.default}"
    return f"{column.name} {kind}{' NOT NULL' if column.required else ''}{default}"
