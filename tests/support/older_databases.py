"""Behaviour databases that earlier versions of autofinity filled, kept as SQL."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_GOLDEN = Path(__file__).resolve().parents[1] / "golden/behaviour"
OLDER = sorted(int(file.stem.removeprefix("schema_")) for file in _GOLDEN.glob("schema_*.sql"))
"""Schema versions of the databases."""

POLICY = "d" * 64
"""Digest of the policy that gave the hints."""
SOLVER, COFFEE = "a" * 64, "b" * 64
"""Keys of the programs: one run each; that of the second has no recorded end."""


def older_database(path: Path, version: int) -> None:
    """Write the database of a schema version, private as autofinity makes it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((_GOLDEN / f"schema_{version}.sql").read_text())


type Rows = list[dict[str, object]]


def in_old_columns(rows: Rows, old: Rows) -> Rows:
    """As many rows of a table, with the columns that its old rows have."""
    return [{name: row[name] for name in was} for row, was in zip(rows, old, strict=True)]


def rows_of(path: Path) -> dict[str, Rows]:
    """All rows of a database, by table."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {
            table: [dict(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2")]
            for table in tables
        }
