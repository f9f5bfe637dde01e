"""Whoever decides, on the budget of the looks: its steps are charged as looks are, so that both
together take a hundredth of a core in the long run.

    step ─► spent, whoever decides ─► the next look comes later (`LookBudget`)

The work on the program's memory is not charged. It comes a few times in a run, and takes long for
large programs: the next look would come minutes later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from autofinity.ports import Action, Interval
from autofinity.runtime.loop import Decides


class OnBudget[State]:
    """A mechanism whose steps are charged."""

    def __init__(
        self,
        mechanism: Decides[State],
        spend: Callable[[int], None],
        clock: Callable[[], int] = time.thread_time_ns,
    ) -> None:
        """`spend` charges nanoseconds of CPU time, which `clock` counts."""
        self._mechanism = mechanism
        self._spend = spend
        self._clock = clock
        self._free_ns = 0

    def step(self, state: State, interval: Interval) -> tuple[State, Sequence[Action]]:
        """One turn, charged."""
        began_ns, self._free_ns = self._clock(), 0
        turn = self._mechanism.step(state, interval)
        self._spend(self._clock() - began_ns - self._free_ns)
        return turn

    def free[Found](self, look: Callable[[], Found]) -> Callable[[], Found]:
        """The same look, which costs nothing within a step."""

        def looked() -> Found:
            began_ns = self._clock()
            found = look()
            self._free_ns += self._clock() - began_ns
            return found

        return looked
