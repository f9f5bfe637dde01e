"""A site's database: the runs of many hosts and users, in PostgreSQL.

Only senders, `rebuild`, `site` and `doctor --site` open it: no run waits for the network.

A run is written in one transaction, and named by (owner, uuid): written again, it changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autofinity.model.errors import StoreError
from autofinity.store.behaviour_rows import LiveObservation, observation_of
from autofinity.store.behaviour_schema import SCHEMA_VERSION
from autofinity.store.row_values import DamagedRowError
from autofinity.store.site_connection import PATIENCE_S, SiteConnection
from autofinity.store.site_schema import (
    Readers,
    readers_of,
    statements_to_make,
    statements_to_show,
)
from autofinity.store.spool import SpooledRun, site_columns

_MOST_BYTES = 256 << 20  # of rows that are read at once
_OBSERVED = ("program", "threads", "affinity", "machine", "sample", "tier")
_INIT_LOCK = 0x6175746F66696E  # of two who make the tables at once, one waits


@dataclass(frozen=True, slots=True)
class SeenMachine:
    """A kind of machine that runs were made on."""

    machine: str
    """`machine_text`: counts of its parts, and the CPU model."""
    runs: int
    users: int
    observations: int
    """Rows that a policy may be learned from."""


class SiteDB:
    """An open database. Make it with `open`; close it, or use it as a context manager."""

    def __init__(self, connection: SiteConnection) -> None:
        self._site = connection
        self.name = connection.name
        """The URL without its password."""

    @classmethod
    def open(cls, url: str, *, patience_s: float = PATIENCE_S) -> SiteDB:
        """Connect. Passwords are those of the URL, of PGPASSFILE or of PGSERVICE.

        Raises `StoreError`: no psycopg, no such URL, not reached, or not let in.
        """
        return cls(SiteConnection.open(url, patience_s=patience_s))

    def __enter__(self) -> SiteDB:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._site.close()

    @property
    def version(self) -> int:
        """Version of the tables; 0: there are none. Raises `StoreError`."""
        with self._site.exchange():
            return self._version()

    def init(self, readers: Readers) -> None:
        """Make the tables or bring them up to date, and set who may read others' rows.

        Raises `StoreError`: not permitted, from a newer version, or not in UTF-8.
        """
        with self._site.exchange():
            encoding = self._site.one("SHOW server_encoding")
        if encoding != "UTF8":
            raise StoreError(
                f"the database {self.name} is in {encoding}; expected UTF8: names in runs may hold "
                "any character"
            )
        with self._site.exchange():
            self._site.run(f"SELECT pg_advisory_xact_lock({_INIT_LOCK})")
            found = self._version()
            if found > SCHEMA_VERSION:
                raise self._newer(found)
            for statement in (*statements_to_make(found), *statements_to_show(readers)):
                self._site.run(statement)

    def check(self) -> None:
        """Raise `StoreError` unless the tables are there, and as new as ours."""
        found = self.version
        if found < SCHEMA_VERSION:
            said = f"has schema {found}, expected {SCHEMA_VERSION}" if found else "has no tables"
            raise StoreError(
                f"the site's database {self.name} {said}: its owner makes them with `autofinity "
                "site --init`"
            )

    @property
    def readers(self) -> Readers:
        """Which rows of others a role may read. Raises `StoreError`."""
        with self._site.exchange():
            rows = self._site.rows(
                "SELECT tablename FROM pg_catalog.pg_policies "
                "WHERE schemaname = 'autofinity' AND policyname = 'rows_of_others'"
            )
            return readers_of([str(name) for (name,) in rows])

    def send(self, runs: Sequence[SpooledRun]) -> None:
        """Write runs that are not there yet, all or none; they are durable on return.

        Raises `RefusedRunError` where a run holds what no database takes, else `StoreError`.
        """
        with self._site.exchange():
            self._add("program", [each.program for each in runs])
            self._add("run", [each.run for each in runs])
            self._add(
                "observation",
                [{**row, "run_uuid": each.uuid} for each in runs for row in each.observations],
            )

    def counts(self) -> Mapping[str, int]:
        """Number of rows that this role may read, by table. Raises `StoreError`."""
        with self._site.long_reading():
            return {
                table: int(self._site.one(f"SELECT count(*) FROM autofinity.{table}"))
                for table in ("program", "run", "observation")
            }

    def machines(self) -> tuple[SeenMachine, ...]:
        """Machines of the rows that this role may read, most runs first. Raises `StoreError`."""
        with self._site.long_reading():
            rows = self._site.rows(
                "SELECT machine, max(runs), max(users), max(observations) FROM ("
                "SELECT machine, count(*) AS runs, count(DISTINCT owner) AS users, "
                "0 AS observations FROM autofinity.run GROUP BY machine UNION ALL "
                "SELECT machine, count(DISTINCT (owner, run_uuid)), count(DISTINCT owner), "
                "count(*) FROM autofinity.observation GROUP BY machine) AS seen "
                "WHERE machine <> '' GROUP BY machine ORDER BY 2 DESC, 1 LIMIT 1000"
            )
            return tuple(SeenMachine(str(row[0]), *map(int, row[1:])) for row in rows)

    def observations(self, machine: str) -> tuple[tuple[LiveObservation, ...], tuple[str, ...]]:
        """Observations of a machine that this role may read, oldest run first, and a line for each
        damaged row that was left out. Runs are numbered from 1, whichever host made them.

        Raises `StoreError`.
        """
        found: list[LiveObservation] = []
        damaged: list[str] = []
        read_bytes = 0
        columns = ", ".join(f"seen.{name}" for name in _OBSERVED)
        question = (
            f"SELECT dense_rank() OVER (ORDER BY owner, run_uuid), {columns} "
            "FROM autofinity.observation AS seen WHERE machine = %s ORDER BY taken_at, id"
        )
        with self._site.long_reading(), self._site.streamed(question, machine) as rows:
            for row in rows:
                read_bytes += sum(len(value) for value in row if isinstance(value, str))
                if read_bytes > _MOST_BYTES:
                    raise StoreError(
                        f"the site's database {self.name} has more than {_MOST_BYTES >> 20} MiB of "
                        f"observations of {machine}; expected less: delete old runs there"
                    )
                try:
                    found.append(observation_of(row))
                except DamagedRowError as error:
                    damaged.append(str(error))
        return tuple(found), tuple(damaged)

    def _add(self, table: str, rows: Sequence[Mapping[str, object]]) -> None:
        if not rows:
            return
        names = [*site_columns(table), *(["run_uuid"] if table == "observation" else [])]
        marks = ", ".join(["%s"] * len(names))
        self._site.run_for_each(
            f"INSERT INTO autofinity.{table} ({', '.join(names)}) VALUES ({marks}) "
            "ON CONFLICT DO NOTHING",
            [[row[name] for name in names] for row in rows],
        )

    def _version(self) -> int:
        there = self._site.one("SELECT to_regclass('autofinity.schema_version') IS NOT NULL")
        return int(self._site.one("SELECT version FROM autofinity.schema_version")) if there else 0

    def _newer(self, found: int) -> StoreError:
        return StoreError(
            f"the site's database {self.name} has schema {found} and this autofinity knows up to "
            f"{SCHEMA_VERSION}; update autofinity"
        )
