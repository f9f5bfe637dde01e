"""Totals of the behaviour database: numbers of rows, without any row's content."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autofinity.store.behaviour_schema import transaction
from autofinity.store.behaviour_session import BehaviourSession
from autofinity.store.spool import waiting_count


@dataclass(frozen=True, slots=True)
class Totals:
    """Numbers of rows at one instant."""

    programs: int = 0
    runs: Mapping[str, int] = field(default_factory=dict)
    """Runs by the tier that measured them."""
    bound_runs: int = 0
    """Runs that bound a thread at least."""
    hints: Mapping[str, int] = field(default_factory=dict)
    """Programs at a thread count by the letters of their hint; empty: no hint is known."""
    observations: Mapping[str, int] = field(default_factory=dict)
    """Rows to learn from by the tier that measured them."""
    waiting: int = 0
    """Finished runs that wait to be sent to a site."""
    latest_start_s: float | None = None
    """Start of the latest run, in seconds since the epoch; None: there is no run."""


def totals_of(session: BehaviourSession) -> Totals:
    """Totals of an open database. Raises `StoreError`."""
    with session.statement() as connection, transaction(connection, "DEFERRED"):
        return Totals(
            programs=int(_one(connection, "SELECT count(*) FROM program")),
            runs=_grouped(connection, "run", "tier"),
            bound_runs=int(_one(connection, "SELECT count(*) FROM run WHERE bound > 0")),
            hints=_grouped(connection, "behaviour", "coalesce(hint, '')"),
            observations=_grouped(connection, "observation", "tier"),
            waiting=sum(waiting_count(connection).values()),
            latest_start_s=_one(connection, "SELECT max(started) FROM run"),
        )


def _one(connection: sqlite3.Connection, question: str) -> Any:
    return connection.execute(question).fetchone()[0]


def _grouped(connection: sqlite3.Connection, table: str, by: str) -> dict[str, int]:
    rows = connection.execute(f"SELECT {by}, count(*) FROM {table} GROUP BY 1")
    return {str(value): int(count) for value, count in rows}
