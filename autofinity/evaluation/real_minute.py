"""A run of a minute in real time, under a mechanism that needs no more than samples: all is seen,
decided and charged as in a run of that length.

    recipe ─► the one loop ─► `LastingProcess`: repeats that differ are replayed, others played on

A mechanism whose looks are scaled to a short run (`in_minute`) sees slices of microseconds there:
a phase of the region for a change of pace, and a pool of threads that take turns as one that never
settles. In real time a look of 50 ms sees many repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from autofinity.evaluation.decider_notes import DeciderNotes
from autofinity.evaluation.lasting import LastingProcess, region_of
from autofinity.evaluation.lasting_samples import denser
from autofinity.evaluation.machine_around import MachineAround
from autofinity.evaluation.mechanism_run import Watch, run_mechanism
from autofinity.mechanisms.recipe import Recipe
from autofinity.model.mechanism_run import MechanismRun
from autofinity.model.placement import Placement
from autofinity.ports import Interval, Outcome, RunRequest, Sensors
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.loop import AsksForLooks, Observer
from autofinity.runtime.pages_follow import PagesFollow
from autofinity.runtime.surroundings import SeesMemory
from autofinity.sim.machine import SimMachine
from autofinity.sim.sampled_process import SampledProcess

_MOST = 1000
"""Repeats that are replayed at most: some after each move of threads or pages."""
_DENSER = 100
"""Times that a replay has as many samples as the program."""
_COPY = "page copy"
"""Kind of overhead."""


class LastingMachine(MachineAround[SimMachine]):
    """`ports.Machine`: a simulated machine on which a region is repeated for long."""

    process: LastingProcess
    """The last that was started."""

    def __init__(self, machine: SimMachine, region: float, repeats: float) -> None:
        """`region`: instructions of a repeat, all threads together (`region_of`)."""
        super().__init__(machine)
        self._region, self._repeats = region, repeats

    def start(
        self, request: RunRequest, placement: Placement | None, sensors: Sensors, seed: int = 0
    ) -> LastingProcess:
        """As the machine. Raises `CapabilityError` for a detector that does not sample, and as the
        machine does.
        """
        sensors = replace(sensors, detectors=denser(sensors.detectors, _DENSER))
        started = self._machine.start(replace(request, repeats=_MOST), placement, sensors, seed)
        assert not isinstance(started, SampledProcess)  # which runs once
        self.process = LastingProcess(
            started,
            self._region,
            self._repeats,
            page_bytes=self._machine.spec.page_bytes,
            denser=_DENSER,
        )
        return self.process


@runtime_checkable
class Deciding[State](Recipe[State], SeesMemory, Protocol):
    """A recipe with a decider."""

    def decided(self, state: State) -> LiveState:
        """The decider's state: pages follow the threads that it places."""
        ...


def lasting_machine(
    machine: SimMachine, request: RunRequest, recipe: Recipe[Any], repeats: float, seed: int
) -> LastingMachine:
    """The machine, on which the region of `request` is repeated `repeats` times. Raises the errors
    of the machine.
    """
    once = replace(request, repeats=1)
    sensors = Sensors(("instructions",))
    region = region_of(machine.start(once, recipe.start.placement, sensors, seed))
    return LastingMachine(machine, region, repeats)


def in_real_time[State](
    machine: LastingMachine,
    request: RunRequest,
    recipe: Recipe[State],
    seed: int = 0,
    watch: Watch[State] = tuple,
) -> MechanismRun:
    """Run all repeats; the program stops for copies that no thread of its own makes. The run has
    notes where the recipe has a decider. Raises as `LastingMachine.start`.
    """
    notes = DeciderNotes()

    def started() -> Sequence[Observer[State]]:
        if not isinstance(recipe, Deciding):
            return watch()
        recipe.sees_memory(machine.process.memory)
        return *watch(), _Decided(recipe, notes)

    run = run_mechanism(machine, request, recipe, seed, started)
    run = replace(run, notes=notes.lines)
    process = machine.process
    copies_ns = round(1e9 * run.threads * process.unpaid_s)
    if not copies_ns:
        return run
    return replace(
        run,
        time_s=run.time_s + process.unpaid_s,
        page_migrations=run.page_migrations + process.unpaid_pages,
        overhead_ns={**run.overhead_ns, _COPY: run.overhead_ns.get(_COPY, 0) + copies_ns},
    )


def pages_follow[State](machine: LastingMachine, recipe: Recipe[State]) -> Watch[State]:
    """Pages that follow the threads, as in `autofinity run`, where the recipe has a decider."""
    if not isinstance(recipe, Deciding):
        return tuple
    return lambda: (
        _Decided(recipe, PagesFollow(machine.process, machine.topology, lambda line: None)),
    )


@dataclass(frozen=True, slots=True)
class _Decided:
    """Shows an observer what the decider did."""

    recipe: Deciding[Any]
    observer: Observer[LiveState]

    @property
    def next_look_ns(self) -> int | None:
        """As the observer."""
        return self.observer.next_look_ns if isinstance(self.observer, AsksForLooks) else None

    def saw(self, before: Any, after: Any, interval: Interval, outcome: Outcome | None) -> None:
        decided = self.recipe.decided
        self.observer.saw(decided(before), decided(after), interval, outcome)
