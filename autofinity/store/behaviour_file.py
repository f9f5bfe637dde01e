"""The file of the behaviour database: its path, its owner, and how it is opened.

Its content is trusted (masks are set, monitors ended), so the file has to be this user's own. No
statement of ours may run code that somebody wrote into the file, or run for long.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from autofinity.model.errors import RowRefusedError, StoreError
from autofinity.private_file import flaw_of, folder_flaw, make, make_folder
from autofinity.store.behaviour_schema import (
    SCHEMA_VERSION,
    foreign_part,
    migrate,
    transaction,
    version_of,
)
from autofinity.store.network_folders import may_be_shared

SIDE_SUFFIXES = ("-journal", "-wal", "-shm")
"""Suffixes of the files that SQLite keeps beside a database, and takes rows from."""

_LONGEST_VALUE_BYTES = 1 << 20
_LARGEST_COPY_BYTES = 256 << 20
_STEPS_AT_ONCE = 10_000
_MOST_STEPS = 100_000_000  # of a statement: seconds; a scan of a million rows takes a tenth of it


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
    """An open database of the present schema; a missing file is made for writers.

    Raises `StoreError`: not this user's alone, not writable, damaged, with other tables than ours,
    locked for longer than `timeout_s`, or from a newer version.
    """
    try:
        connection = _open(path, timeout_s, read_only)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"the behaviour database {path} cannot be opened: {error}") from error
    try:
        with guarded(path):
            connection.execute("PRAGMA cache_size = -256")  # KiB: a monitor keeps them to its end
            _believe_nothing(connection)
            return _prepared(connection, path, read_only, timeout_s)
    except BaseException:
        connection.close()
        raise


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Turn errors of SQLite or of a damaged row into a `StoreError` that names the file;
    `RowRefusedError` where one row is at fault, however often it is tried.
    """
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.DataError) as error:
        raise RowRefusedError(f"the behaviour database {path} refuses a row: {error}") from error
    except (sqlite3.Error, ValueError, OverflowError) as error:  # ValueError: no number, no hint
        raise StoreError(
            f"the behaviour database {path} cannot be used: {error}; programs run without "
            "it. If the database is damaged, move it away to start a new one"
        ) from error


class StepLimit:
    """Interrupts statements that take more steps than any statement of ours."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._left = _MOST_STEPS // _STEPS_AT_ONCE
        connection.set_progress_handler(self._stop, _STEPS_AT_ONCE)

    def begin(self) -> None:
        """Give all steps to the next statements, unless earlier ones were interrupted.

        Otherwise a monitor that tries again and again would use up a core.
        """
        if self._left >= 0:
            self._left = _MOST_STEPS // _STEPS_AT_ONCE

    def _stop(self) -> bool:
        self._left -= 1
        return self._left < 0


def _open(path: Path, timeout_s: float, read_only: bool) -> sqlite3.Connection:
    if read_only:
        if not os.path.lexists(path):
            raise StoreError(f"there is no behaviour database at {path}; `autofinity run` makes it")
        refuse_foreign(path)
        return sqlite3.connect(
            f"file:{_quoted(path)}?mode=ro", uri=True, timeout=timeout_s, isolation_level=None
        )
    refuse_foreign(path)  # before any file is made in another user's folder
    make_folder(path.parent)
    # The file is made here and not by SQLite, so that it is private from its first byte on; the
    # -wal and -shm files take its mode.
    make(path)
    refuse_foreign(path)  # check the files that exist by now
    return sqlite3.connect(path, timeout=timeout_s, isolation_level=None)


def refuse_foreign(path: Path) -> None:
    """Raise `StoreError` unless file, side files and folder are this user's alone, or could be made
    so.

    Raises `OSError` when that cannot be checked. The check is by name: closing a descriptor of the
    file would release the locks of any code of this process that has the file open. Nobody else can
    exchange a file in the folder between check and use.
    """
    flaw = _flaw(path)
    if flaw:
        raise StoreError(
            f"the behaviour database {path} is not used: {flaw}; expected a file that its user "
            "alone can write, in such a folder. Run this command as that user, or give another --db"
        )


def _flaw(path: Path) -> str:
    flaw = folder_flaw(path.parent)
    for suffix in ("", *SIDE_SUFFIXES):
        if flaw:
            break
        try:
            info = os.lstat(f"{path}{suffix}")
        except FileNotFoundError:
            continue
        flaw = flaw_of(info)
        flaw = f"of its file {path.name}{suffix}, {flaw}" if flaw and suffix else flaw
    return flaw


def _believe_nothing(connection: sqlite3.Connection) -> None:
    """Limit the effect that a damaged file, or one that others wrote into, can have on a
    statement.
    """
    StepLimit(connection)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE_BYTES)
    connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.text_factory = _text


def _text(data: bytes) -> str:
    """Text of the bytes; bytes that are no UTF-8 are kept as they are."""
    return data.decode("utf-8", "surrogateescape")


def _prepared(
    connection: sqlite3.Connection, path: Path, read_only: bool, timeout_s: float
) -> sqlite3.Connection:
    version = _checked_version(connection, path)
    if read_only:
        return connection if version == SCHEMA_VERSION else _brought_up_to_date(connection, path)
    if may_be_shared(path):
        # A home directory of a cluster: readers and writers synchronise by the file's locks alone.
        _keep_journal(connection, "delete", timeout_s)
        connection.execute("PRAGMA synchronous = FULL")
    else:
        _keep_journal(connection, "wal", timeout_s)
        # NORMAL may lose the last commits when the machine (not the monitor) crashes, but corrupts
        # nothing: sufficient for observations that can be made again.
        connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    if version < SCHEMA_VERSION:
        migrate(connection)
    return connection


def _checked_version(connection: sqlite3.Connection, path: Path) -> int:
    """Version of the schema of a database that holds only our tables. Raises `StoreError`."""
    with transaction(connection, "DEFERRED"):  # version and tables of one instant
        version = version_of(connection)
        if not 0 <= version <= SCHEMA_VERSION:
            raise StoreError(
                f"the behaviour database {path} has schema {version} and this autofinity "
                f"knows up to {SCHEMA_VERSION}; update autofinity or give another --db"
            )
        foreign = foreign_part(connection, version)
    if foreign:
        raise StoreError(
            f"{path} is no behaviour database of autofinity: {foreign}; the file is not changed. "
            "Give another --db, or move the file away to start a new database"
        )
    return version


def _brought_up_to_date(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """A copy in memory: of an older database, or of a database that another process is just
    making.
    """
    if path.stat().st_size > _LARGEST_COPY_BYTES:
        raise StoreError(
            f"the behaviour database {path} is of an older version and has more than "
            f"{_LARGEST_COPY_BYTES >> 20} MiB; the next `autofinity run` brings it up to date"
        )
    copy = sqlite3.connect(":memory:", isolation_level=None)
    connection.backup(copy)
    connection.close()
    _believe_nothing(copy)
    migrate(copy)
    return copy


def _keep_journal(connection: sqlite3.Connection, mode: str, timeout_s: float) -> None:
    """Set the journal's mode.

    SQLite itself does not wait for the lock of this change where several processes make the file at
    the same time (the wait might be endless); so this function waits, up to `timeout_s`.
    """
    give_up = time.monotonic() + timeout_s
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != mode:
                connection.execute(f"PRAGMA journal_mode = {mode}")
            return
        except sqlite3.OperationalError as error:
            # The low byte is the kind; the higher bytes give the reason in more detail.
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > give_up:
                raise
            time.sleep(0.01)


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(os.fsencode(path))
