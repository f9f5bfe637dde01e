"""A site's database: the runs of many hosts and users, in PostgreSQL.

Only senders, `rebuild`, `site` and `doctor --site` open it: no run waits for the network. Every
wait ends: to connect, for a statement or a lock (the server counts), for a server that hangs or is
cut off (we count, and close the connection).

A run is written in one transaction, and named by (owner, uuid): written again, it changes nothing.
psycopg (LGPL) is imported when a database is opened, and never by a run or its monitor.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autofinity.foreign_text import one_line
from autofinity.model.errors import StoreError
from autofinity.store.behaviour_rows import LiveObservation, observation_of
from autofinity.store.behaviour_schema import SCHEMA_VERSION
from autofinity.store.row_values import DamagedRowError
from autofinity.store.site_address import EXPECTED, site_name
from autofinity.store.site_schema import (
    Readers,
    readers_of,
    statements_to_make,
    statements_to_show,
)
from autofinity.store.spool import SpooledRun, site_columns

if TYPE_CHECKING:
    import psycopg

_CONNECT_S = 5
_STATEMENT_S = 20
_LOCK_S = 5
_UNANSWERED_S = 10
PATIENCE_S = 30.0
"""Longest time of one exchange with the server, such as a batch of runs; then the connection is
closed."""
_READ_S = 300
"""Longest time of reading a site's rows, which may be millions; nobody waits for that but its
user."""
_MOST_BYTES = 256 << 20  # of rows that are read at once
_ROWS_AT_ONCE = 1000
_MOST_SAID = 300
_INIT_LOCK = 0x6175746F66696E  # of two who make the tables at once, one waits


class RefusedRunError(StoreError):
    """A run holds what the database takes from nobody, such as text that is no UTF-8."""


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

    def __init__(self, connection: psycopg.Connection[Any], name: str, patience_s: float) -> None:
        self._connection = connection
        self._patience_s = patience_s
        self.name = name
        """The URL without its password."""

    @classmethod
    def open(cls, url: str, *, patience_s: float = PATIENCE_S) -> SiteDB:
        """Connect. Passwords are those of the URL, of PGPASSFILE or of PGSERVICE.

        Raises `StoreError`: no psycopg, no such URL, not reached, or not let in.
        """
        name = site_name(url)
        driver = _driver()
        _check(url, name)
        with _translated(name):
            connection = driver.connect(
                url,
                autocommit=True,
                prepare_threshold=None,  # a pooler may give each transaction another session
                connect_timeout=_CONNECT_S,
                tcp_user_timeout=_UNANSWERED_S * 1000,
                keepalives_idle=_UNANSWERED_S,
                keepalives_interval=_UNANSWERED_S,
                keepalives_count=2,
                application_name="autofinity",
                client_encoding="UTF8",
            )
        site = cls(connection, name, patience_s)
        try:
            site._settle()
        except BaseException:
            site.close()
            raise
        return site

    def __enter__(self) -> SiteDB:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        with suppress(Exception):
            self._connection.close()

    @property
    def version(self) -> int:
        """Version of the tables; 0: there are none. Raises `StoreError`."""
        with self._exchange():
            there = self._one("SELECT to_regclass('autofinity.schema_version') IS NOT NULL")
            return int(self._one("SELECT version FROM autofinity.schema_version")) if there else 0

    def init(self, readers: Readers) -> None:
        """Make the tables or bring them up to date, and set who may read others' rows.

        Raises `StoreError`: not permitted, from a newer version, or not in UTF-8.
        """
        encoding = self._asked("SHOW server_encoding")
        if encoding != "UTF8":
            raise StoreError(
                f"the database {self.name} is in {encoding}; expected UTF8: names in runs may hold "
                "any character"
            )
        with self._exchange():
            self._run(f"SELECT pg_advisory_xact_lock({_INIT_LOCK})")
            there = self._one("SELECT to_regclass('autofinity.schema_version') IS NOT NULL")
            found = int(self._one("SELECT version FROM autofinity.schema_version")) if there else 0
            if found > SCHEMA_VERSION:
                raise self._newer(found)
            for statement in (*statements_to_make(found), *statements_to_show(readers)):
                self._run(statement)

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
        with self._exchange():
            rows = self._connection.execute(
                "SELECT tablename FROM pg_catalog.pg_policies "
                "WHERE schemaname = 'autofinity' AND policyname = 'rows_of_others'"
            )
            return readers_of([str(name) for (name,) in rows])

    def send(self, runs: Sequence[SpooledRun]) -> None:
        """Write runs that are not there yet, all or none; they are durable on return.

        Raises `RefusedRunError` where a run holds what no database takes, else `StoreError`.
        """
        with self._exchange():
            self._add("program", [each.program for each in runs])
            self._add("run", [each.run for each in runs])
            self._add(
                "observation",
                [{**row, "run_uuid": each.uuid} for each in runs for row in each.observations],
            )

    def counts(self) -> Mapping[str, int]:
        """Number of rows that this role may read, by table. Raises `StoreError`."""
        with self._long_reading():
            return {
                table: int(self._one(f"SELECT count(*) FROM autofinity.{table}"))
                for table in ("program", "run", "observation")
            }

    def machines(self) -> tuple[SeenMachine, ...]:
        """Machines of the rows that this role may read, most runs first. Raises `StoreError`."""
        with self._long_reading():
            rows = self._connection.execute(
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
        with self._long_reading(), self._connection.cursor(name="observations") as cursor:
            cursor.itersize = _ROWS_AT_ONCE
            cursor.execute(
                _sql(
                    "SELECT dense_rank() OVER (ORDER BY owner, run_uuid), "
                    f"{columns} FROM autofinity.observation AS seen WHERE machine = %s "
                    "ORDER BY taken_at, id"
                ),
                (machine,),
            )
            for row in cursor:
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

    def _settle(self) -> None:
        """Limits of this session; and a commit is durable, whatever the server's default is."""
        with self._exchange():
            for setting, value in (
                ("statement_timeout", f"{_STATEMENT_S}s"),
                ("lock_timeout", f"{_LOCK_S}s"),
                ("idle_in_transaction_session_timeout", f"{_STATEMENT_S}s"),
                ("synchronous_commit", "on"),
                ("search_path", "pg_catalog"),
            ):
                self._connection.execute(
                    "SELECT pg_catalog.set_config(%s, %s, false)", (setting, value)
                )

    def _add(self, table: str, rows: Sequence[Mapping[str, object]]) -> None:
        if not rows:
            return
        names = [*site_columns(table), *(["run_uuid"] if table == "observation" else [])]
        marks = ", ".join(["%s"] * len(names))
        with self._connection.cursor() as cursor:
            cursor.executemany(
                _sql(
                    f"INSERT INTO autofinity.{table} ({', '.join(names)}) VALUES ({marks}) "
                    "ON CONFLICT DO NOTHING"
                ),
                [[row[name] for name in names] for row in rows],
            )

    @contextmanager
    def _exchange(self) -> Iterator[None]:
        """One transaction, within the patience."""
        with (
            _translated(self.name),
            _deadline(self._connection, self._patience_s),
            self._connection.transaction(),
        ):
            yield

    @contextmanager
    def _long_reading(self) -> Iterator[None]:
        """One transaction that reads many rows."""
        with (
            _translated(self.name),
            _deadline(self._connection, _READ_S),
            self._connection.transaction(),
        ):
            self._run(f"SET LOCAL statement_timeout = '{_READ_S}s'")
            yield

    def _run(self, statement: str) -> None:
        self._connection.execute(_sql(statement))

    def _one(self, question: str) -> Any:
        row = self._connection.execute(_sql(question)).fetchone()
        assert row is not None
        return row[0]

    def _asked(self, question: str) -> Any:
        with self._exchange():
            return self._one(question)

    def _newer(self, found: int) -> StoreError:
        return StoreError(
            f"the site's database {self.name} has schema {found} and this autofinity knows up to "
            f"{SCHEMA_VERSION}; update autofinity"
        )


_OBSERVED = ("program", "threads", "affinity", "machine", "sample", "tier")


def can_open() -> bool:
    """Whether the driver is installed."""
    from importlib.util import find_spec

    return find_spec("psycopg") is not None


def _driver() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise StoreError(
            f"a site's database needs psycopg, which cannot be loaded ({one_line(str(error))}); "
            "expected it beside autofinity: pip install 'autofinity[site]'"
        ) from error
    return psycopg


def _check(url: str, name: str) -> None:
    """Raise `StoreError` for a URL that libpq refuses, or reads in another way than was meant: its
    own message might show a part of the password.
    """
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(url)
    except (psycopg.Error, UnicodeError, ValueError):
        parts = {"host": "@"}
    if any("@" in str(parts.get(key) or "") for key in ("host", "port", "dbname")):
        raise StoreError(
            f"cannot read the URL of the site's database {name}; expected {EXPECTED}, with any of "
            "@ : / ? # % in a name or password written as %40 and so on"
        )


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Turn errors of the driver into `StoreError`, one line without the URL."""
    import psycopg

    try:
        yield
    except (psycopg.DataError, psycopg.IntegrityError, UnicodeError) as error:
        raise RefusedRunError(f"the site's database {name} refuses: {_said(error)}") from error
    except (psycopg.Error, OSError) as error:
        raise StoreError(f"the site's database {name} cannot be used: {_said(error)}") from error


def _said(error: BaseException) -> str:
    return one_line(" ".join(str(error).split()))[:_MOST_SAID]


@contextmanager
def _deadline(connection: psycopg.Connection[Any], seconds: float) -> Iterator[None]:
    """Cut the connection when this takes longer: a server that hangs counts no time of its own."""
    timer = threading.Timer(seconds, _cut, (connection,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _cut(connection: psycopg.Connection[Any]) -> None:
    with suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as cut:
        cut.shutdown(socket.SHUT_RDWR)


def _sql(text: str) -> bytes:
    """Text that holds names of our tables and columns only: values are passed beside it."""
    return text.encode()
