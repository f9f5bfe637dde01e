"""An open connection to the behaviour database, which its tables share."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from autofinity.model.errors import StoreError
from autofinity.store.behaviour_file import StepLimit, connect, guarded
from autofinity.store.behaviour_schema import transaction
from autofinity.store.row_reader import RowReader


class BehaviourSession:
    """One connection. Errors of SQLite leave each method as `StoreError`."""

    def __init__(self, path: Path, timeout_s: float, read_only: bool) -> None:
        """Raises `StoreError` as `connect` does."""
        self._connection = connect(path, timeout_s, read_only)
        self._steps = StepLimit(self._connection)
        self._reader = RowReader(self._connection, path)
        self.path = path

    @property
    def damaged(self) -> tuple[str, ...]:
        """Rows that could not be read so far and were left out, one line each."""
        return self._reader.damaged

    @property
    def damage(self) -> StoreError | None:
        """Error to raise after all readable rows were reported; None when no row was damaged."""
        return self._reader.damage

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):
            self._connection.close()

    @contextmanager
    def statement(self) -> Iterator[sqlite3.Connection]:
        """The connection, for statements that each are committed at once."""
        self._steps.begin()
        with guarded(self.path):
            yield self._connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The connection inside a transaction, which excludes all other writers."""
        with self.statement() as connection, transaction(connection):
            yield connection

    def read[T](
        self, of: Callable[[tuple[object, ...]], T], question: str, *values: object
    ) -> tuple[T, ...]:
        """Values of the rows that answer a question, without the damaged ones."""
        with self.statement():
            return self._reader.read(of, question, *values)
