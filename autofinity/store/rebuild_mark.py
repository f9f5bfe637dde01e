"""The mark of the last rebuild: how many rows there were to learn from, and whether one is due."""

from __future__ import annotations

from autofinity.store.behaviour_rows import rows_at_build_of
from autofinity.store.behaviour_session import BehaviourSession

_FIRST_BUILD_ROWS = 10
_LEARNABLE = "hardware counters"
_AT_BUILD = "rows_at_build"


class RebuildMark:
    """The mark in table `meta` of the behaviour database. Raises `StoreError`."""

    def __init__(self, session: BehaviourSession) -> None:
        self._session = session

    def due(self, growth_share: float = 0.2) -> bool:
        """Whether the data for learning have grown by `growth_share` since the last rebuild.

        Only observations with hardware counters count; the first rebuild waits for ten.
        """
        question = "SELECT value FROM meta WHERE name = ?"
        built = next(iter(self._session.read(rows_at_build_of, question, _AT_BUILD)), 0)
        rows = self._rows()
        if built == 0:
            return rows >= _FIRST_BUILD_ROWS
        return rows >= built * (1 + growth_share)

    def set(self) -> None:
        """Record that a policy was built from the present rows, or that the attempt gave none."""
        rows = self._rows()
        with self._session.statement() as connection:
            connection.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                (_AT_BUILD, str(rows)),
            )

    def _rows(self) -> int:
        question = "SELECT count(*) FROM observation WHERE tier = ?"
        with self._session.statement() as connection:
            return int(connection.execute(question, (_LEARNABLE,)).fetchone()[0])
