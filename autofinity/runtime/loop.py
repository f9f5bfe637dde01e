"""The one loop: sense → decide → place → check, over any `ports.Process`.

    process.advance ─► Interval ─► mechanism.step ─► actions ─► process.apply ─► Outcome
                          │             │                                          │
                          └─────────────┴────────────────► observer ◄──────────────┘

It serves the running program, the simulator and a recording alike: nothing in here knows which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from autofinity.ports import Interval, Mechanism, Outcome, Process


class Observer[State](Protocol):
    """Sees every turn of the loop; what it does with that (rows, lines, plots) is its own."""

    def saw(self, before: State, after: State, interval: Interval, outcome: Outcome | None) -> None:
        """One turn: the state before and after it, and what came of its actions (None: none)."""
        ...


def run_loop[State](
    process: Process,
    mechanism: Mechanism[State],
    state: State,
    period_ns: Callable[[State], int],
    *observers: Observer[State],
) -> State:
    """Turn until the program ends; the last state. `period_ns` says how long the next look takes.

    Errors of the process and the mechanism pass through: whoever starts the loop decides what they
    mean for the program, which is not harmed by them.
    """
    while True:
        interval = process.advance(period_ns(state))
        after, actions = mechanism.step(state, interval)
        outcome = process.apply(actions) if actions and not interval.ended else None
        for observer in observers:
            observer.saw(state, after, interval, outcome)
        state = after
        if interval.ended:
            return state
