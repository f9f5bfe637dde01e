"""Masks that threads had before a run bound them, so that they can be restored."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.store.behaviour_rows import MaskRecord, mask_of
from autofinity.store.behaviour_session import BehaviourSession


class MaskTable:
    """Table `mask` of the behaviour database: one row a thread of a run. Raises `StoreError`."""

    def __init__(self, session: BehaviourSession) -> None:
        self._session = session

    def remember(self, run: int, masks: Sequence[MaskRecord]) -> None:
        """Store the masks that threads are about to get; the mask before a thread's first row
        stays.
        """
        with self._session.transaction() as connection:
            connection.executemany(
                "INSERT INTO mask VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET given = excluded.given",
                [(run, each.tid, each.start_ticks, each.before, each.given) for each in masks],
            )

    def of_run(self, run: int) -> tuple[MaskRecord, ...]:
        """Masks of a run's threads, including threads that ended, in the order of their ids."""
        return self._session.read(
            mask_of,
            "SELECT tid, start_ticks, before, given FROM mask WHERE run = ? ORDER BY tid",
            run,
        )

    def forget_threads(self, run: int, tids: Sequence[int]) -> None:
        """Delete the masks of threads that have ended, but one row of each mask that was given:
        other threads may have taken it over.
        """
        with self._session.transaction() as connection:
            connection.executemany(
                "DELETE FROM mask WHERE run = ? AND tid = ? AND EXISTS (SELECT 1 FROM mask AS o "
                "WHERE (o.run, o.given) = (mask.run, mask.given) AND o.tid != mask.tid)",
                [(run, tid) for tid in tids],
            )

    def forget(self, run: int) -> None:
        """Delete the masks of a run whose threads have ended, or have their own masks again."""
        with self._session.statement() as connection:
            connection.execute("DELETE FROM mask WHERE run = ?", (run,))
