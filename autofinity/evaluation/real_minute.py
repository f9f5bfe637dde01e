"""A run of a minute in real time, under a mechanism that needs no more than samples: all is seen,
decided and charged as in a run of that length.

    recipe ─► the one loop ─► `LastingProcess`: repeats that differ are replayed, others played on

A mechanism whose looks are scaled to a short run (`in_minute`) sees slices of microseconds there:
a phase of the region for a change of pace, and a pool of threads that take turns as one that never
settles. In real time a look of 50 ms sees many repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from autofinity.evaluation.lasting import LastingProcess, region_of
from autofinity.evaluation.lasting_samples import denser
from autofinity.evaluation.mechanism_run import SCORED, Counted
from autofinity.mechanisms.recipe import Recipe
from autofinity.model.mechanism_run import MechanismRun, Ran
from autofinity.ports import Interval, Outcome, RunRequest, Sensors
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.loop import Observer, run_loop
from autofinity.runtime.pages_follow import PagesFollow
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess

_MOST = 1000
"""Repeats that are replayed at most: some after each move of threads or pages."""
_DENSER = 100
"""Times that a replay has as many samples as the program."""
_COPY = "page copy"
"""Kind of overhead."""


@dataclass(frozen=True, slots=True)
class RealMinute[State]:
    """Result of the run."""

    state: State
    """The mechanism's, at the end."""
    run: MechanismRun
    copied_s: float
    """Part of its time in which the program is taken to have stopped, for pages that no thread of
    its own copied."""


@runtime_checkable
class Deciding[State](Recipe[State], Protocol):
    """A recipe with a decider."""

    def decided(self, state: State) -> LiveState:
        """The decider's state: pages follow the threads that it places."""
        ...


def ran_in_real_time(
    machine: SimMachine, request: RunRequest, recipe: Recipe[Any], repeats: float, seed: int
) -> Ran:
    """`in_real_time`, with pages that follow threads. The run stands for itself. Raises as
    `in_real_time`.
    """
    assert isinstance(recipe, Deciding)  # others are not run in real time (`Entry.in_real_time`)
    once = machine.start(
        replace(request, repeats=1), recipe.start.placement, Sensors(("instructions",)), seed
    )
    region = region_of(once)

    def observers(process: LastingProcess) -> Sequence[Observer[Any]]:
        follow = PagesFollow(process, machine.topology, lambda line: None)
        return (_Decided(recipe, follow),)

    run = in_real_time(machine, request, recipe, repeats, region, seed, observers).run
    return Ran(run, run)


@dataclass(frozen=True, slots=True)
class _Decided:
    """Shows an observer what the decider did."""

    recipe: Deciding[Any]
    observer: Observer[LiveState]

    def saw(self, before: Any, after: Any, interval: Interval, outcome: Outcome | None) -> None:
        decided = self.recipe.decided
        self.observer.saw(decided(before), decided(after), interval, outcome)


def in_real_time[State](
    machine: SimMachine,
    request: RunRequest,
    recipe: Recipe[State],
    repeats: float,
    region: float,
    seed: int = 0,
    observers: Callable[[LastingProcess], Sequence[Observer[State]]] = lambda process: (),
) -> RealMinute[State]:
    """Run `repeats` repeats of a region of `region` instructions. Raises `CapabilityError` for a
    detector that does not sample, and the errors of the machine.
    """
    wanted = recipe.sensors
    sensors = Sensors(
        tuple(dict.fromkeys((*wanted.counters, *SCORED))), denser(wanted.detectors, _DENSER)
    )
    started = machine.start(
        replace(request, repeats=_MOST, pages=recipe.start.pages),
        recipe.start.placement,
        sensors,
        seed,
    )
    assert isinstance(started, SimProcess)  # a sampled trace cannot be repeated
    process = LastingProcess(
        started, region, repeats, page_bytes=machine.spec.page_bytes, denser=_DENSER
    )
    counted = Counted(process)
    start = recipe.begin(machine.topology, machine.topology.allowed, request.threads)
    state = run_loop(counted, recipe, start, recipe.period_ns, *observers(process))
    run = counted.result(request.threads)
    return RealMinute(state, _stopped(run, process), process.unpaid_s)


def _stopped(run: MechanismRun, process: LastingProcess) -> MechanismRun:
    """The run, with the copies of pages in which the program stops."""
    copies_ns = round(1e9 * run.threads * process.unpaid_s)
    if not copies_ns:
        return run
    return replace(
        run,
        time_s=run.time_s + process.unpaid_s,
        page_migrations=run.page_migrations + process.unpaid_pages,
        overhead_ns={**run.overhead_ns, _COPY: run.overhead_ns.get(_COPY, 0) + copies_ns},
    )
