"""One program under one mechanism, as a task for a pool."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.in_minute import PaperClock, ran_for_long
from autofinity.evaluation.mechanism_run import run_mechanism
from autofinity.evaluation.real_minute import (
    LastingMachine,
    in_real_time,
    lasting_machine,
    pages_follow,
)
from autofinity.mechanisms.recipe import NS_PER_S, Recipe, Setting, WholeTrace
from autofinity.mechanisms.registry import Entry
from autofinity.model.affinity import Hint
from autofinity.model.errors import ClusterError
from autofinity.model.mechanism_run import MechanismRun, Ran, fastest
from autofinity.model.policy import RulePolicy
from autofinity.ports import Machine, RunRequest, Sensors
from autofinity.profiling.campaign import ReadyProgram
from autofinity.profiling.placements import bound, shared
from autofinity.profiling.sampling import behaviour_of
from autofinity.sim.machine import SimMachine

_WHOLE_RUN_NS = 10**13


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions of all runs of a program: the machine, the policy and the length of runs."""

    machine: Machine
    clock_hz: float
    policy: RulePolicy | None
    whole_trace: Callable[[ReadyProgram], WholeTrace]
    """A function at the top of a module, or a partial of one: pools may pickle it."""
    repeats: int
    """Number of times that each region of interest runs."""
    paper_s: float
    """Seconds of a paper's run that a whole run stands for (see `mechanism_run`)."""
    fault_share_per_s: float
    """Share of the touched pages, per second of a paper's run (see `Setting`)."""


class SharedByMechanisms:
    """Data that all mechanisms need to run one program; facts of the program are kept."""

    def __init__(self, conditions: Conditions) -> None:
        """The policy is for the program's thread count."""
        self.conditions = conditions
        self._lock = threading.Lock()
        self._trace: WholeTrace | None = None
        self._samples: dict[Hint, Mapping[str, float]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        """A copy on another machine finds out by itself what is known of the program."""
        return SharedByMechanisms, (self.conditions,)

    def whole_trace(self, program: ReadyProgram) -> WholeTrace:
        """All that the program does."""
        with self._lock:
            if self._trace is None:
                self._trace = self.conditions.whole_trace(program)
            return self._trace

    def sample(self, program: ReadyProgram, hint: Hint) -> Mapping[str, float]:
        """Sample of a whole run in the best match of the hint: counters per thread and second."""
        with self._lock:
            if hint not in self._samples:
                machine, policy = self.conditions.machine, self.conditions.policy
                assert policy is not None
                cores = get_affinity(machine.topology, program.placed, hint)
                process = machine.start(
                    replace(program.request, threads=program.running),
                    shared(bound(cores.cpus), program.running),
                    Sensors(policy.counters),
                    seed=1,
                )
                interval = process.advance(_WHOLE_RUN_NS)
                self._samples[hint] = behaviour_of(interval, program.placed).values
            return self._samples[hint]


@dataclass(frozen=True, slots=True)
class UnderMechanism:
    """A program, a mechanism and a seed."""

    program: ReadyProgram
    entry: Entry
    mapped_by: str
    """`Entry.mapped_by` where the run is asked for: its result counts as made by this mapper."""
    seed: int
    paper_second_ns: int | None
    """As in `Setting`; None for the baseline, by which it is found."""

    @property
    def label(self) -> str:
        """Name of the run for people."""
        return f"{self.program.name} {self.entry.name}"

    @property
    def traces(self) -> tuple[str, ...]:
        """Folders of the program's traces."""
        return self.program.traces

    @property
    def hands_out(self) -> bool:
        """False: the run is made as a whole."""
        return False

    def work(self, common: SharedByMechanisms, folders: Mapping[str, str]) -> Ran:
        """Runs of the fastest of the entry's recipes. Raises the errors of `run_mechanism`, and
        `ClusterError` where another mapper is installed.
        """
        conditions = common.conditions
        if conditions.repeats > 1 and isinstance(conditions.machine, SimMachine):
            ran = self._for_long(common, folders, conditions.machine)
        else:
            request, recipes = self.prepared(common, folders)
            machine = conditions.machine
            ran = [Ran(run_mechanism(machine, request, recipe, self.seed)) for recipe in recipes]
        return fastest(ran)

    def prepared(
        self, common: SharedByMechanisms, folders: Mapping[str, str], *, in_real_time: bool = False
    ) -> tuple[RunRequest, tuple[Recipe[Any], ...]]:
        """The run to ask for, and the entry's recipes. Raises `ClusterError` as `work`."""
        if self.entry.mapped_by != self.mapped_by:
            raise ClusterError(
                f"{self.entry.name} is mapped by {self.entry.mapped_by} on a worker, and by "
                f"{self.mapped_by} here; install SCOTCH on all machines or on none"
            )
        program, conditions = self.program.at(folders), common.conditions
        setting = Setting(
            topology=conditions.machine.topology,
            threads=program.running,
            room=program.room,
            clock_hz=conditions.clock_hz,
            seed=self.seed,
            paper_second_ns=NS_PER_S if in_real_time else self.paper_second_ns or NS_PER_S,
            fault_share_per_s=conditions.fault_share_per_s,
            policy=conditions.policy,
            sample=lambda hint: common.sample(program, hint),
            whole_trace=lambda: common.whole_trace(program),
        )
        request = replace(program.request, threads=program.running, repeats=conditions.repeats)
        return request, self.entry.make(setting)

    def _for_long(
        self, common: SharedByMechanisms, folders: Mapping[str, str], machine: SimMachine
    ) -> list[Ran]:
        """Runs that stand for longer ones, or are as long."""
        if self.entry.in_real_time:
            request, recipes = self.prepared(common, folders, in_real_time=True)
            runs = [self._in_real_time(machine, request, recipe) for recipe in recipes]
            return [Ran(run, run) for run in runs]  # they stand for themselves
        request, recipes = self.prepared(common, folders)
        clock = PaperClock(common.conditions.paper_s, self.paper_second_ns)
        mapping_ns = self.entry.takes_ns(request.threads)
        return [
            ran_for_long(machine, request, recipe, mapping_ns, clock, self.seed)
            for recipe in recipes
        ]

    def _in_real_time(
        self, machine: SimMachine, request: RunRequest, recipe: Recipe[Any]
    ) -> MechanismRun:
        lasting = self.lasting_machine(machine, request, recipe)
        return in_real_time(lasting, request, recipe, self.seed, pages_follow(lasting, recipe))

    def lasting_machine(
        self, machine: SimMachine, request: RunRequest, recipe: Recipe[Any]
    ) -> LastingMachine:
        """A machine on which the program runs for as long as its run under the operating system
        stands for.
        """
        assert self.paper_second_ns is not None  # only the baseline has none
        repeats = request.repeats * NS_PER_S / self.paper_second_ns
        return lasting_machine(machine, request, recipe, repeats, self.seed)
