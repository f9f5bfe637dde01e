"""A policy within a run of a minute, as in `autofinity run`: with its decider, and with pages that
follow threads.

All costs are charged: looks, moves of threads and of pages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from autofinity.evaluation.lasting import LastingProcess
from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.recipe import Setting
from autofinity.model.affinity import Hint
from autofinity.model.memory import MOVED_BYTES_PER_S
from autofinity.model.topology import OsIndex
from autofinity.ports import Interval, Outcome, RunRequest
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.looking import SAMPLING_LOSS
from autofinity.runtime.loop import run_loop
from autofinity.runtime.pages_follow import PagesFollow
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess

_MOST = 1000
"""Repeats that are replayed at most: some after each move of threads or pages."""


@dataclass(frozen=True, slots=True)
class WithinMinute:
    """Result of the run."""

    time_s: float
    """Time of all repeats, including the time to copy pages, as if the program had stopped for that
    time."""
    hint: Hint | None
    """Hint of the final placement; None: the program was left to the system."""
    looking_s: float
    """Time that the program lost between the first move and the answer, against the pace at the
    end, and by copying pages at any time."""
    decided_s: float
    """Time of the last decision, in seconds of the run; NaN: none."""
    cpus: tuple[OsIndex, ...]
    notes: tuple[str, ...]


@dataclass
class _Turns:
    """Watches the decider."""

    process: LastingProcess
    begun: tuple[float, float] | None = None
    """Repeats and nanoseconds when threads were first moved."""
    placed: tuple[float, float] | None = None
    """Repeats and nanoseconds when threads were placed by the answer."""
    cpus: tuple[OsIndex, ...] = ()

    def saw(
        self, before: LiveState, after: LiveState, interval: Interval, outcome: Outcome | None
    ) -> None:
        now = self.process.done, self.process.now_ns
        if before.phase == "watching" != after.phase:
            self.begun = self.begun or now
        if after.phase in ("placed", "left alone") and before.phase != after.phase:
            self.placed = now
        self.cpus = interval.cpus

    def lost_s(self) -> float:
        """Time lost by looking."""
        if self.begun is None or self.placed is None:
            return 0.0
        (begin, begin_ns), (end, end_ns) = self.begun, self.placed
        return (end_ns - begin_ns - (end - begin) * self.process.repeat_ns) / 1e9


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
    started = machine.start(
        replace(request, repeats=_MOST), recipe.start.placement, recipe.sensors, seed
    )
    assert isinstance(started, SimProcess)  # a sampled trace cannot be repeated
    process = LastingProcess(started, region, repeats)
    told: list[str] = []
    follow = PagesFollow(process, machine.topology, told.append)
    turns = _Turns(process)
    start = recipe.begin(machine.topology, machine.topology.allowed, request.threads)
    state = run_loop(process, recipe, start, recipe.period_ns, follow, turns)
    copied_s = process.moved_bytes / MOVED_BYTES_PER_S
    return WithinMinute(
        process.now_ns / 1e9 + copied_s,
        state.hint,
        turns.lost_s() + copied_s,
        turns.placed[1] / 1e9 if turns.placed else math.nan,
        turns.cpus,
        (*state.notes, *told),
    )
