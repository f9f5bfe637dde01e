"""A site's tables are made of the local ones, and migrations only add."""

from __future__ import annotations

import pytest

from autofinity.store.behaviour_schema import Column, tables_of
from autofinity.store.site_schema import migration, readers_of, statements_to_make
from autofinity.store.spool import SITE_TABLES, SPOOL_COLUMNS, site_columns

OLD = {"program": [Column("key", "TEXT", True, None)]}


def test_every_local_column_of_these_tables_is_on_the_site_but_those_about_sending() -> None:
    made = "\n".join(statements_to_make(0))
    for table in SITE_TABLES:
        (line,) = [
            line for line in made.splitlines() if f"CREATE TABLE autofinity.{table} " in line
        ]
        for column in tables_of()[table]:
            there = f" {column.name} " in line.replace("(", " ").replace(",", " ")
            assert there == (column.name not in SPOOL_COLUMNS), (table, column)
        assert f"ALTER TABLE autofinity.{table} ENABLE ROW LEVEL SECURITY" in made


def test_a_migration_adds_columns_with_a_value_for_rows_of_older_writers() -> None:
    after = {"program": [*OLD["program"], Column("speed", "REAL", True, "0")]}
    assert migration(OLD, after) == [
        "ALTER TABLE autofinity.program ADD COLUMN speed double precision NOT NULL DEFAULT 0"
    ]
    assert migration(after, after) == []


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ([], "gone or changed"),
        ([Column("key", "INTEGER", True, None)], "gone or changed"),
        ([*OLD["program"], Column("speed", "REAL", True, None)], "older writers"),
    ],
)
def test_a_migration_that_would_cut_off_older_writers_is_refused(
    after: list[Column], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        migration(OLD, {"program": after})


def test_a_database_that_is_up_to_date_is_left_alone() -> None:
    assert statements_to_make(4, 4) == []


def test_the_setting_is_read_from_the_policies() -> None:
    assert readers_of(()) == "own"
    assert readers_of(("observation",)) == "observations"
    assert readers_of(SITE_TABLES) == "all"
    assert "run" in site_columns("observation") and "sent" not in site_columns("run")
