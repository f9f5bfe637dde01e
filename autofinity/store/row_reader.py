"""Reads rows of the behaviour database, up to a size; damaged rows are left out and reported."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from autofinity.model.errors import StoreError
from autofinity.store.row_values import DamagedRowError

_MOST_BYTES = 256 << 20  # by one question
_MOST_TOLD = 5


class RowReader:
    """Reads one database, and remembers the rows that could not be read."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._damaged: dict[str, None] = {}

    @property
    def damaged(self) -> tuple[str, ...]:
        """Rows that were left out so far, one line each."""
        return tuple(self._damaged)

    @property
    def damage(self) -> StoreError | None:
        """Error to raise after all readable rows were reported; None when no row was damaged."""
        if not self._damaged:
            return None
        lines = self.damaged[:_MOST_TOLD]
        more = len(self._damaged) - len(lines)
        told = "; ".join([*lines, f"{more} more"] if more else lines)
        return StoreError(
            f"of the behaviour database {self._path} damaged rows were left out: {told}. All "
            "others are kept; move the database away to start a new one"
        )

    def read[T](
        self, of: Callable[[tuple[object, ...]], T], question: str, *values: object
    ) -> tuple[T, ...]:
        """Values of rows, without the damaged ones. Raises `StoreError`, `sqlite3.Error`."""
        found, read_bytes = [], 0
        for row in self._connection.execute(question, values):
            read_bytes += sum(len(value) for value in row if isinstance(value, str | bytes))
            if read_bytes > _MOST_BYTES:
                raise StoreError(
                    f"the behaviour database {self._path} has more than {_MOST_BYTES >> 20} MiB "
                    "to read at once; move the database away to start a new one"
                )
            try:
                found.append(of(row))
            except DamagedRowError as error:
                self._damaged[str(error)] = None
        return tuple(found)
