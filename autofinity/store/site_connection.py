"""A connection to a site's database: opened with care, and every wait on it ends.

To connect, for a statement or a lock the server counts; for a server that hangs or is cut off we
count, and close the connection. No message shows a password.

psycopg (LGPL) is imported when a connection is opened, and never by a run or its monitor.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from autofinity.foreign_text import one_line
from autofinity.model.errors import StoreError
from autofinity.store.site_address import EXPECTED, site_name

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
_ROWS_AT_ONCE = 1000
_MOST_SAID = 300


class RefusedRunError(StoreError):
    """A run holds what the database takes from nobody, such as text that is no UTF-8."""


class SiteConnection:
    """An open connection. Make it with `open`, and close it."""

    def __init__(self, connection: psycopg.Connection[Any], name: str, patience_s: float) -> None:
        self._connection = connection
        self._patience_s = patience_s
        self.name = name
        """The URL without its password."""

    @classmethod
    def open(cls, url: str, *, patience_s: float = PATIENCE_S) -> SiteConnection:
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

    def close(self) -> None:
        """Close the connection."""
        with suppress(Exception):
            self._connection.close()

    @contextmanager
    def exchange(self) -> Iterator[None]:
        """One transaction, within the patience."""
        with (
            _translated(self.name),
            _deadline(self._connection, self._patience_s),
            self._connection.transaction(),
        ):
            yield

    @contextmanager
    def long_reading(self) -> Iterator[None]:
        """One transaction that reads many rows."""
        with (
            _translated(self.name),
            _deadline(self._connection, _READ_S),
            self._connection.transaction(),
        ):
            self.run(f"SET LOCAL statement_timeout = '{_READ_S}s'")
            yield

    def run(self, statement: str) -> None:
        """Do one statement."""
        self._connection.execute(_sql(statement))

    def run_for_each(self, statement: str, values: Sequence[Sequence[object]]) -> None:
        """Do a statement once with each of the `values`, which stand for its `%s`."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_sql(statement), values)

    def one(self, question: str) -> Any:
        """The only value of the answer."""
        row = self._connection.execute(_sql(question)).fetchone()
        assert row is not None
        return row[0]

    def rows(self, question: str) -> Iterable[tuple[Any, ...]]:
        """All rows of the answer."""
        return self._connection.execute(_sql(question))

    @contextmanager
    def streamed(self, question: str, *values: object) -> Iterator[Iterable[tuple[Any, ...]]]:
        """Rows of the answer as they are read: the server keeps the others."""
        with self._connection.cursor(name="rows") as cursor:
            cursor.itersize = _ROWS_AT_ONCE
            cursor.execute(_sql(question), values)
            yield cursor

    def _settle(self) -> None:
        """Limits of this session; and a commit is durable, whatever the server's default is."""
        with self.exchange():
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
