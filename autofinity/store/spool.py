"""The spool: finished runs in the behaviour database that wait for a site's database.

A run is marked when it begins (`run.site`, the site's name); it waits from its end until it is
marked as sent. So neither a site that is not reached nor a sender that is killed loses a run, and
runs that began without a site stay on this host.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from autofinity.store.behaviour_rows import blob
from autofinity.store.behaviour_schema import tables_of, transaction
from autofinity.store.behaviour_session import BehaviourSession

SITE_TABLES = ("program", "run", "observation")
"""Tables that a site has, too: those of what was seen. The others are the present state of a
host."""
SPOOL_COLUMNS = frozenset({"site", "sent"})
"""Columns of `run` that are about sending."""
_REFUSED = 0.0
_WAITING = "ended IS NOT NULL AND sent IS NULL AND uuid <> ''"
_NO_SITE_HAS = f"ended IS NOT NULL AND coalesce(sent, {_REFUSED}) = {_REFUSED} AND uuid <> ''"

type Row = Mapping[str, object]
"""A row by column, as SQLite has it; what need not be UTF-8 as bytes."""


@dataclass(frozen=True, slots=True)
class SpooledRun:
    """A finished run with all that belongs to it."""

    run: Row
    program: Row
    observations: tuple[Row, ...]

    @property
    def uuid(self) -> str:
        """Name of the run, which no other run has."""
        return str(self.run["uuid"])

    @property
    def number(self) -> int:
        """Number of the run in this spool."""
        return int(str(self.run["id"]))


def site_columns(table: str) -> tuple[str, ...]:
    """Columns of a table that a site has, too, in order."""
    return tuple(column.name for column in tables_of()[table] if column.name not in SPOOL_COLUMNS)


class Spool:
    """Finished runs of the behaviour database, as their sender sees them. Raises `StoreError`."""

    def __init__(self, session: BehaviourSession) -> None:
        self._session = session

    def waiting(
        self, site: str | None, most: int, after: int | None = None
    ) -> tuple[SpooledRun, ...]:
        """At most `most` runs with numbers above `after` that wait for this site, in the order of
        their numbers; without a site all finished runs that no site has.
        """
        with self._session.statement() as connection:
            return _waiting(connection, site, most, after)

    def waiting_count(self) -> dict[str, int]:
        """Number of waiting runs by the name of their site."""
        with self._session.statement() as connection:
            return waiting_count(connection)

    def mark_sent(self, runs: Sequence[SpooledRun]) -> None:
        """Record that a site has these runs."""
        self._mark(runs, time.time())

    def mark_refused(self, runs: Sequence[SpooledRun]) -> None:
        """Record that these runs hold what no site takes, so that they do not hold up
        the others.
        """
        self._mark(runs, _REFUSED)

    def _mark(self, runs: Sequence[SpooledRun], at: float) -> None:
        with self._session.transaction() as connection:
            connection.executemany(
                "UPDATE run SET sent = ? WHERE id = ? AND uuid = ?",
                [(at, each.number, each.uuid) for each in runs],
            )


def waiting_count(connection: sqlite3.Connection) -> dict[str, int]:
    """Number of waiting runs by the name of their site. Raises `sqlite3.Error`."""
    question = f"SELECT site, count(*) FROM run WHERE {_WAITING} AND site <> '' GROUP BY site"
    return {str(site): int(count) for site, count in connection.execute(question)}


def _waiting(
    connection: sqlite3.Connection, site: str | None, most: int, after: int | None
) -> tuple[SpooledRun, ...]:
    with transaction(connection, "DEFERRED"):
        which = _NO_SITE_HAS if site is None else _WAITING
        condition = (
            f"WHERE {which} AND site = coalesce(?, site) AND id > coalesce(?, id - 1) "
            "ORDER BY id LIMIT ?"
        )
        runs = _rows(connection, "run", condition, site, after, most)
        programs = {
            row["key"]: row
            for row in _rows_among(connection, "program", "key", {row["program"] for row in runs})
        }
        seen: dict[object, list[Row]] = {}
        for row in _rows_among(connection, "observation", "run", {row["id"] for row in runs}):
            seen.setdefault(row["run"], []).append(row)
    lost = [run["id"] for run in runs if run["program"] not in programs]
    if lost:
        raise ValueError(f"the program of run {lost[0]} is missing")
    return tuple(
        SpooledRun(run, programs[run["program"]], tuple(seen.get(run["id"], ()))) for run in runs
    )


def _rows_among(
    connection: sqlite3.Connection, table: str, column: str, values: Set[object]
) -> list[Row]:
    marks = ", ".join("?" * len(values))
    return _rows(connection, table, f"WHERE {column} IN ({marks})", *values)


def _rows(connection: sqlite3.Connection, table: str, condition: str, *values: object) -> list[Row]:
    columns = site_columns(table)
    question = f"SELECT {', '.join(map(blob, columns))} FROM {table} {condition}"
    return [dict(zip(columns, row, strict=True)) for row in connection.execute(question, values)]
