"""Rows that are written in order, into a database that may be locked or gone for a while.

A row that cannot be written now is tried again with the next one. A row that the database can
never hold is set aside. Where too many rows wait, the oldest after the first, the run's own, is
lost. Rows that are lost or remain at the end, and those set aside, are counted in a short log
beside the database, so that `autofinity status` can report what was lost.
Nothing in this module raises an error of the database or waits for long.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from autofinity.model.errors import RowRefusedError, StoreError
from autofinity.private_file import append_private
from autofinity.store.behaviour_db import BehaviourDB

_PATIENCE_S = 0.05
"""For another writer's lock, at each attempt: the end of a run may not be held up."""
_LOG_BYTES = 65_536
_MOST_WAITING = 256

type Row = Callable[[BehaviourDB], None]
"""Writes one fact. Raises `StoreError`."""


class RowQueue:
    """Rows of one run. Close it to release the database."""

    def __init__(self, path: Path | None, whose: str) -> None:
        """`path` is the database; with None nothing is kept. `whose` names the run in the log."""
        self.path = path
        self._whose = whose
        self._database: BehaviourDB | None = None
        self._waiting: deque[Row] = deque()
        self._lost = 0
        self._trouble = ""
        self._refused: list[str] = []
        """Why rows were set aside, one text each."""

    def write(self, row: Row) -> None:
        """Write a row, now or as soon as that is possible. One that waits already is not added
        again.
        """
        if self.path is not None:
            if row not in self._waiting:
                self._waiting.append(row)
            self.flush()
            if len(self._waiting) > _MOST_WAITING:
                del self._waiting[1]
                self._lost += 1

    def flush(self) -> None:
        """Write the rows that wait, up to the first one that cannot be written."""
        try:
            while self._waiting:
                database = self._opened()
                if database is None:
                    return
                try:
                    self._waiting[0](database)
                except RowRefusedError as error:
                    self._refused.append(str(error))
                self._waiting.popleft()
        except StoreError as error:
            self._trouble = str(error)

    def ask[T](self, question: Callable[[BehaviourDB], T | None]) -> T | None:
        """Answer of the database; None without a database, or where it cannot be used now."""
        try:
            database = self._opened()
            return question(database) if database is not None else None
        except StoreError as error:
            self._trouble = str(error)
            return None

    def close(self) -> None:
        """Write the rows that wait, a last time; what remains goes to the log."""
        self.flush()
        for lost, why in (
            (len(self._waiting) + self._lost, self._trouble),
            (len(self._refused), self._refused[0] if self._refused else ""),
        ):
            if lost and self.path is not None:
                _log(self.path, f"{self._whose}: {lost} rows lost: {why}")
        if self._database is not None:
            self._database.close()

    def _opened(self) -> BehaviourDB | None:
        if self._database is None and self.path is not None:
            self._database = BehaviourDB.open(self.path, timeout_s=_PATIENCE_S)
        return self._database


def _log(database: Path, line: str) -> None:
    text = f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {line}\n"
    with suppress(OSError):
        append_private(
            database.with_name("monitor.log"),
            text.encode("utf-8", "surrogateescape"),
            _LOG_BYTES,
        )
