"""One program under one mechanism, as a task for a pool."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.in_minute import PaperClock, ran_for_long
from autofinity.evaluation.mechanism_run import run_mechanism
from autofinity.mechanisms.recipe import NS_PER_S, Recipe, Setting, WholeTrace
from autofinity.mechanisms.registry import Entry
from autofinity.model.affinity import Hint
from autofinity.model.errors import ClusterError
from autofinity.model.mechanism_run import Ran, fastest
from autofinity.model.policy import RulePolicy
from autofinity.ports import Machine, RunRequest, Sensors
from autofinity.profiling.campaign import ReadyProgram
from autofinity.profiling.placements import bound, shared
from autofinity.profiling.sampling import behaviour_of
from autofinity.sim.machine import SimMachine

_WHOLE_RUN_NS = 10**13


class SharedByMechanisms:
    """Data that all mechanisms need to run one program; facts of the program are kept."""

    def __init__(
        self,
        machine: Machine,
        clock_hz: float,
        policy: RulePolicy | None,
        whole_trace: Callable[[ReadyProgram], WholeTrace],
        repeats: int,
        paper_s: float,
        fault_share_per_s: float,
    ) -> None:
        """For the arguments see `Comparison`; `policy` is for the program's thread count."""
        self._asked = machine, clock_hz, policy, whole_trace, repeats, paper_s, fault_share_per_s
        self.machine = machine
        self.clock_hz = clock_hz
        self.policy = policy
        self.repeats = repeats
        self.paper_s = paper_s
        self.fault_share_per_s = fault_share_per_s
        self._trace_of = whole_trace
        self._lock = threading.Lock()
        self._trace: WholeTrace | None = None
        self._samples: dict[Hint, Mapping[str, float]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        """A copy on another machine finds out by itself what is known of the program."""
        return SharedByMechanisms, self._asked

    def whole_trace(self, program: ReadyProgram) -> WholeTrace:
        """All that the program does."""
        with self._lock:
            if self._trace is None:
                self._trace = self._trace_of(program)
            return self._trace

    def sample(self, program: ReadyProgram, hint: Hint) -> Mapping[str, float]:
        """Sample of a whole run in the best match of the hint: counters per thread and second."""
        with self._lock:
            if hint not in self._samples:
                assert self.policy is not None
                cores = get_affinity(self.machine.topology, program.placed, hint)
                process = self.machine.start(
                    replace(program.request, threads=program.running),
                    shared(bound(cores.cpus), program.running),
                    Sensors(self.policy.counters),
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
        if self.entry.mapped_by != self.mapped_by:
            raise ClusterError(
                f"{self.entry.name} is mapped by {self.entry.mapped_by} on a worker, and by "
                f"{self.mapped_by} here; install SCOTCH on all machines or on none"
            )
        program = self.program.at(folders)
        setting = Setting(
            topology=common.machine.topology,
            threads=program.running,
            room=program.room,
            clock_hz=common.clock_hz,
            seed=self.seed,
            paper_second_ns=self.paper_second_ns or NS_PER_S,
            fault_share_per_s=common.fault_share_per_s,
            policy=common.policy,
            sample=lambda hint: common.sample(program, hint),
            whole_trace=lambda: common.whole_trace(program),
        )
        request = replace(program.request, threads=program.running, repeats=common.repeats)
        return fastest([self._ran(common, request, recipe) for recipe in self.entry.make(setting)])

    def _ran(self, common: SharedByMechanisms, request: RunRequest, recipe: Recipe[Any]) -> Ran:
        machine = common.machine
        if request.repeats == 1 or not isinstance(machine, SimMachine):
            return Ran(run_mechanism(machine, request, recipe, self.seed))
        mapping_ns = self.entry.takes_ns(request.threads)
        clock = PaperClock(common.paper_s, self.paper_second_ns)
        return ran_for_long(machine, request, recipe, mapping_ns, clock, self.seed)
