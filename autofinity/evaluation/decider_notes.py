"""Lines for people about a decider's run: its moves of threads, its notes, and the time of each."""

from __future__ import annotations

from dataclasses import dataclass, field

from autofinity.ports import Interval, Outcome
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.seat_order import SHOWN


@dataclass
class DeciderNotes:
    """Observer of the loop."""

    lines: list[str] = field(default_factory=list)
    """Each begins with the seconds since the program began."""

    def saw(
        self, before: LiveState, after: LiveState, interval: Interval, outcome: Outcome | None
    ) -> None:
        """Note one turn of the loop."""
        when = f"{interval.end_ns / 1e9:.2f} s: "
        self.lines += [when + line for line in after.notes[len(before.notes) :]]
        if outcome is not None and outcome.done and after.placed.threads:
            self.lines.append(when + _placed(after))


def _placed(state: LiveState) -> str:
    placed = state.placed
    hint = f"{placed.hint.shown}, " if placed.hint is not None else ""
    where = f"{placed.affinity}, " if placed.affinity is not None else ""
    return f"{len(placed.threads)} threads are put on cores: {hint}{where}{SHOWN[state.order.now]}"
