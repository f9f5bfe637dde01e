"""A policy within a run that stands for a minute, as in `autofinity run`: with its decider, and
with pages that follow threads.

All costs are charged: looks, moves of threads and of pages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from autofinity.evaluation.lasting import Watched
from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.recipe import Setting
from autofinity.model.affinity import Hint
from autofinity.model.memory import MOVED_BYTES_PER_S
from autofinity.model.topology import OsIndex
from autofinity.ports import Interval, Outcome, RunRequest
from autofinity.runtime.follower import guarded
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.looking import SAMPLING_LOSS
from autofinity.runtime.loop import run_loop
from autofinity.runtime.pages_follow import PagesFollow
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess


@dataclass(frozen=True, slots=True)
class WithinMinute:
    """Result of the run."""

    time_s: float
    """Simulated time of all repeats, including the time to copy pages, as if the program had
    stopped for that time."""
    hint: Hint | None
    """Hint of the final placement; None: the program was left to the system."""
    looking_s: float
    """Time that the program lost between the first move and the answer, against the pace at the
    end, and by copying pages at any time."""
    decided_s: float
    """Time of the last decision, in seconds of the minute; NaN: none."""
    cpus: tuple[OsIndex, ...]
    notes: tuple[str, ...]


@dataclass
class _Turns:
    """Watches the decider, and ends the loop after the last decision."""

    watched: Watched
    follow: PagesFollow
    begun: tuple[float, float] | None = None
    """Repeats and nanoseconds when threads were first moved."""
    placed: tuple[float, float] | None = None
    """Repeats and nanoseconds when threads were placed by the answer."""
    cpus: tuple[OsIndex, ...] = ()

    def saw(
        self, before: LiveState, after: LiveState, interval: Interval, outcome: Outcome | None
    ) -> None:
        now = self.watched.progress[-1], self.watched.at_ns[-1]
        if before.phase == "watching" != after.phase:
            self.begun = self.begun or now
        if after.phase in ("placed", "left alone") and before.phase != after.phase:
            self.placed = now
        self.cpus = interval.cpus
        self.watched.final = (
            before.phase == after.phase
            and after.phase in ("placed", "left alone")
            and outcome is None
            and not guarded(after)
            and not self.follow.busy
        )


def within_minute(
    machine: SimMachine,
    request: RunRequest,
    setting: Setting,
    repeats: int,
    region: float,
    seed: int = 0,
    sampling_loss: float = SAMPLING_LOSS,
) -> WithinMinute:
    """Run `repeats` repeats of a region of `region` instructions. Raises the errors of the
    machine.
    """
    recipe = InRun(setting, sampling_loss=sampling_loss)
    process = machine.start(
        replace(request, repeats=repeats), recipe.start.placement, recipe.sensors, seed
    )
    assert isinstance(process, SimProcess)  # a sampled trace runs once
    watched = Watched(process, region)
    watched.begin()
    told: list[str] = []
    follow = PagesFollow(watched, machine.topology, told.append)
    turns = _Turns(watched, follow)
    start = recipe.begin(machine.topology, machine.topology.allowed, request.threads)
    state = run_loop(watched, recipe, start, recipe.period_ns, follow, turns)
    second_s = setting.paper_second_ns / 1e9
    copied_s = watched.moved_bytes / MOVED_BYTES_PER_S
    time_s = watched.to_the_end(cold=1).time_s(repeats) + copied_s * second_s
    decided = turns.placed[1] / 1e9 / second_s if turns.placed else float("nan")
    return WithinMinute(
        time_s,
        state.hint,
        _lost_s(turns) / second_s + copied_s,
        decided,
        turns.cpus,
        (*state.notes, *told),
    )


def _lost_s(turns: _Turns) -> float:
    if turns.begun is None or turns.placed is None:
        return 0.0
    (begin, begin_ns), (end, end_ns) = turns.begun, turns.placed
    return (end_ns - begin_ns - turns.watched.steady_ns(begin, end)) / 1e9
