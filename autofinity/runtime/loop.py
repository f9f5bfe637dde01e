"""The one loop: sense → decide → place → check, over any `ports.Process`.

    process.advance ─► Interval ─► mechanism.step ─► actions ─► process.apply ─► Outcome
                          │             │                                          │
                          └─────────────┴────────────────► observer ◄──────────────┘

The loop serves a running program, the simulator and a recording alike: no code here knows which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from autofinity.ports import Action, Interval, Outcome, Process


class Decides[State](Protocol):
    """The part of a `ports.Mechanism` that the loop needs."""

    def step(self, state: State, interval: Interval) -> tuple[State, Sequence[Action]]:
        """Next state, and the actions to take now."""
        ...


class Observer[State](Protocol):
    """Sees every turn of the loop; it may keep rows, lines or plots."""

    def saw(self, before: State, after: State, interval: Interval, outcome: Outcome | None) -> None:
        """See one turn: the state before and after, and the outcome of its actions (None: no
        actions).
        """
        ...


@runtime_checkable
class AsksForLooks(Protocol):
    """An observer that may need the next look soon."""

    @property
    def next_look_ns(self) -> int | None:
        """Longest next look; None: any will do."""
        ...


def run_loop[State](
    process: Process,
    mechanism: Decides[State],
    state: State,
    period_ns: Callable[[State], int],
    *observers: Observer[State],
) -> State:
    """Turn until the program ends; return the last state. `period_ns` gives the length of the next
    look, and observers may ask for a shorter one.

    Errors of the process and the mechanism pass through: the caller decides what they mean for the
    program, which is not harmed by them.
    """
    asking = [observer for observer in observers if isinstance(observer, AsksForLooks)]
    while True:
        asked = (each.next_look_ns for each in asking)
        interval = process.advance(min([period_ns(state), *(ns for ns in asked if ns)]))
        after, actions = mechanism.step(state, interval)
        outcome = process.apply(actions) if actions and not interval.ended else None
        for observer in observers:
            observer.saw(state, after, interval, outcome)
        state = after
        if interval.ended:
            return state
