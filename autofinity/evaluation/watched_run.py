"""A run under a mechanism with a series of looks at its threads, for pages.

    mechanism ─► Watched ─► process
                    └─► looks: counts of each thread, and where the threads were placed

The looks are those of the mechanism itself, so the run is the same to the bit as without a series:
more events are counted, and counting takes no simulated time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autofinity.evaluation.machine_around import MachineAround
from autofinity.evaluation.mechanism_run import Watch, run_mechanism
from autofinity.evaluation.real_minute import pages_follow
from autofinity.evaluation.under_mechanism import SharedByMechanisms, UnderMechanism
from autofinity.mechanisms.recipe import Recipe
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.mechanism_run import MechanismRun
from autofinity.model.placement import FIRST_TOUCH, Placement
from autofinity.model.timeline import TimelineStep
from autofinity.model.topology import Topology
from autofinity.ports import (
    Action,
    BindThreads,
    Interval,
    Machine,
    MovePages,
    Outcome,
    Process,
    RunRequest,
    Sensors,
)
from autofinity.runtime.look_nodes import LookNodes
from autofinity.runtime.look_series import LookSeries, look_of
from autofinity.sim.machine import SimMachine

MOST_LOOKS = 32
"""Looks of a run on a page, which shows many runs."""
COUNTED = (
    *("instructions", "cycles", "cpu_clocks_halted"),
    *("dram_reads_local", "dram_reads_remote", "llc_misses"),
)
"""Events of each look; reads by node of the memory, too."""


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A simulated run, and its looks in order of time."""

    run: MechanismRun
    looks: tuple[TimelineStep, ...]
    moved: bool
    """Whether threads were bound or pages placed or moved, from the start or later."""

    @property
    def threads(self) -> tuple[int, ...]:
        """Numbers of the threads on record."""
        return tuple(sorted({number for look in self.looks for number in look.counts}))


def watched_run[State](
    machine: Machine,
    request: RunRequest,
    recipe: Recipe[State],
    seed: int,
    watch: Watch[State] = tuple,
) -> WatchedRun:
    """Run to the end. Raises as `run_mechanism`."""
    watching = _Watching(machine)
    run = run_mechanism(watching, request, recipe, seed, watch)
    process = watching.process
    return WatchedRun(run, process.series.looks(), process.moved)


class _Watching(MachineAround[Machine]):
    """`ports.Machine`: a machine whose processes keep a series of looks."""

    process: _Watched

    def start(
        self, request: RunRequest, placement: Placement | None, sensors: Sensors, seed: int = 0
    ) -> _Watched:
        """As the machine, with more sensors."""
        counters = tuple(dict.fromkeys((*sensors.counters, *COUNTED)))
        more = replace(sensors, counters=counters, reads_by_node=True)
        process = self._machine.start(request, placement, more, seed)
        self.process = _Watched(process, self.topology, request, placement)
        return self.process


class _Watched:
    """`ports.Process`: a process that keeps a series of looks."""

    def __init__(
        self,
        process: Process,
        topology: Topology,
        request: RunRequest,
        placement: Placement | None,
    ) -> None:
        self._process = process
        self._nodes = LookNodes(topology)
        self._alive = tuple((thread, thread) for thread in range(request.threads))
        self._place = _text(placement)
        self.series = LookSeries(MOST_LOOKS, COUNTED)
        self.moved = placement is not None or request.pages != FIRST_TOUCH

    def advance(self, duration_ns: int) -> Interval:
        """As the process; reads by node are for the series alone."""
        interval = self._process.advance(duration_ns)
        if interval.end_ns > interval.start_ns:
            look = self._nodes.added(look_of(self._alive, interval), interval)
            self.series.add(look, self._place)
        return replace(interval, reads_by_node=())

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """As the process. Notes where threads are bound."""
        outcome = self._process.apply(actions)
        for action in actions:
            if isinstance(action, BindThreads):
                self._place = _text(action.placement)
            if isinstance(action, BindThreads | MovePages):
                self.moved = self.moved or outcome.done > 0
        return outcome


def _text(placement: Placement | None) -> str:
    """The CPUs of each thread; empty where the operating system moves the threads."""
    return "" if placement is None else " ".join(map(format_cpu_list, placement.masks))


@dataclass(frozen=True, slots=True)
class WatchMechanism:
    """A run of a comparison, made once more and watched: a task for a pool."""

    under: UnderMechanism
    cpus: tuple[int, ...]
    """Where each thread was last in the run of the comparison: recipes are distinguished by it."""
    in_real_time: bool = False
    """Whether the run is in real time, for as long as it stands for."""

    @property
    def label(self) -> str:
        """Name of the run for people."""
        return self.under.label

    @property
    def traces(self) -> tuple[str, ...]:
        """Folders of the program's traces."""
        return self.under.traces

    @property
    def hands_out(self) -> bool:
        """False: the run is made as a whole."""
        return False

    def work(self, common: SharedByMechanisms, folders: Mapping[str, str]) -> WatchedRun:
        """The run; of several recipes that of the fastest, among those that end on the same CPUs.
        Raises as the run of the comparison.
        """
        request, recipes = self.under.prepared(common, folders, in_real_time=self.in_real_time)
        runs = [self._watched(common.conditions.machine, request, each) for each in recipes]
        return min(runs, key=lambda each: (tuple(each.run.cpus) != self.cpus, each.run.time_s))

    def _watched(self, machine: Machine, request: RunRequest, recipe: Recipe[Any]) -> WatchedRun:
        seed = self.under.seed
        if not self.in_real_time or not isinstance(machine, SimMachine):
            return watched_run(machine, request, recipe, seed)
        lasting = self.under.lasting_machine(machine, request, recipe)
        return watched_run(lasting, request, recipe, seed, pages_follow(lasting, recipe))


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """A program under the operating system and under a mechanism, both watched."""

    program: str
    before: WatchedRun
    after: WatchedRun


type Series = Mapping[str, BeforeAfter | str]
"""By mechanism: the runs, or the reason why there are none."""
