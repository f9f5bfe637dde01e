"""Looks at runs, for the timeline of a run; only the latest runs keep theirs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from autofinity.model.timeline import TimelineStep
from autofinity.store.behaviour_rows import look_of
from autofinity.store.behaviour_session import BehaviourSession

_RUNS_WITH_LOOKS = 100
"""Number of the latest runs that keep their looks: some KB each, 1 MB at most."""


class LookTable:
    """Table `look` of the behaviour database: at most 64 rows a run. Raises `StoreError`."""

    def __init__(self, session: BehaviourSession) -> None:
        self._session = session

    def remember(self, run: int, looks: Sequence[TimelineStep]) -> None:
        """Store the looks at a run in place of those that were stored before."""
        rows = [
            (run, number, look.start_ns, look.end_ns, look.place, _counts_text(look))
            for number, look in enumerate(looks)
        ]
        with self._session.transaction() as connection:
            connection.execute(
                "DELETE FROM look WHERE run = ? OR run <= ? - ?", (run, run, _RUNS_WITH_LOOKS)
            )
            connection.executemany("INSERT INTO look VALUES (?, ?, ?, ?, ?, ?)", rows)

    def of_run(self, run: int) -> tuple[TimelineStep, ...]:
        """Looks at a run, in order of time; empty for an older run."""
        return self._session.read(
            look_of,
            "SELECT start_ns, end_ns, place, counts FROM look WHERE run = ? ORDER BY number",
            run,
        )


def _counts_text(look: TimelineStep) -> str:
    """Counts by thread as JSON, to four digits; what was not measured is left out."""
    return json.dumps(
        {
            str(thread): {
                name: float(f"{count:.4g}")
                for name, count in counts.items()
                if math.isfinite(count)
            }
            for thread, counts in look.counts.items()
        },
        separators=(",", ":"),
    )
