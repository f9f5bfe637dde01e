"""A policy within a run of a minute, as in `autofinity run`: with its decider, and with pages that
follow threads.

All costs are charged: looks, moves of threads and of pages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from autofinity.evaluation.real_minute import LastingMachine, in_real_time
from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.recipe import Setting
from autofinity.model.affinity import Hint
from autofinity.model.mechanism_run import MechanismRun
from autofinity.ports import Interval, Outcome, RunRequest
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.looking import SAMPLING_LOSS
from autofinity.runtime.loop import Observer
from autofinity.runtime.pages_follow import PagesFollow
from autofinity.sim.machine import SimMachine


@dataclass(frozen=True, slots=True)
class WithinMinute:
    """Result of the run."""

    run: MechanismRun
    hint: Hint | None
    """Hint of the final placement; None: the program was left to the system."""
    looking_s: float
    """Time that the program lost between the first move and the answer, against the pace at the
    end, and by copying pages at any time."""
    decided_s: float
    """Time of the last decision, in seconds of the run; NaN: none."""
    notes: tuple[str, ...]


@dataclass
class _Turns:
    """Watches the decider."""

    machine: LastingMachine
    begun: tuple[float, float] | None = None
    """Repeats and nanoseconds when threads were first moved."""
    placed: tuple[float, float] | None = None
    """Repeats and nanoseconds when threads were placed by the answer."""
    last: LiveState = field(default_factory=LiveState)

    def saw(
        self, before: LiveState, after: LiveState, interval: Interval, outcome: Outcome | None
    ) -> None:
        now = self.machine.process.done, self.machine.process.now_ns
        if before.phase == "watching" != after.phase:
            self.begun = self.begun or now
        if after.phase in ("placed", "left alone") and before.phase != after.phase:
            self.placed = now
        self.last = after

    def lost_s(self) -> float:
        """Time lost by looking."""
        if self.begun is None or self.placed is None:
            return 0.0
        (begin, begin_ns), (end, end_ns) = self.begun, self.placed
        return (end_ns - begin_ns - (end - begin) * self.machine.process.repeat_ns) / 1e9


def within_minute(
    machine: SimMachine,
    request: RunRequest,
    setting: Setting,
    repeats: float,
    region: float,
    seed: int = 0,
    sampling_loss: float = SAMPLING_LOSS,
) -> WithinMinute:
    """Run `repeats` repeats of a region of `region` instructions. Raises the errors of the
    machine.
    """
    recipe = InRun(setting, sampling_loss=sampling_loss)
    lasting = LastingMachine(machine, region, repeats)
    told: list[str] = []
    turns = _Turns(lasting)

    def watch() -> Sequence[Observer[LiveState]]:
        return PagesFollow(lasting.process, machine.topology, told.append), turns

    run = in_real_time(lasting, request, recipe, seed, watch)
    return WithinMinute(
        run,
        turns.last.placed.hint,
        turns.lost_s() + lasting.process.unpaid_s,
        turns.placed[1] / 1e9 if turns.placed else math.nan,
        (*turns.last.notes, *told),
    )
