"""Mechanisms on some MiB in runs that stand for a minute: what `paper_headlines.py` compares.

A region of a solver, a step or two over data that exceed TLBs and the caches of a node, is
repeated. All last-level caches together hold most of these data (docs/papers.md). The run
stands for a minute, and each operation of a mechanism is made as often as in the minute: 20 faults
a page, 600 mappings. Quantities are of the minute (`evaluation/in_minute.py`): the places that the
mechanism chose at their pace, and its operations at their full price. `autofinity` and `unified`
run for as long (`evaluation/real_minute.py`).

Runs are kept in a file, and used again while the code that they depend on is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

from minute_runs import Kept

from autofinity.evaluation.in_minute import PaperClock, ran_for_long
from autofinity.evaluation.real_minute import in_real_time, lasting_machine, pages_follow
from autofinity.mechanisms.recipe import NS_PER_S, Recipe, Setting, Start, WholeTrace
from autofinity.mechanisms.registry import BASELINE, MECHANISMS
from autofinity.model.mechanism_run import MechanismRun, Ran, fastest
from autofinity.model.placement import FIRST_TOUCH, PagePlacement
from autofinity.model.topology import OsIndex, Topology
from autofinity.own_code import digest_of_code
from autofinity.papers.mechanism_figure import pus_of
from autofinity.policy.on_machine import on_machine
from autofinity.ports import Action, Interval, Sensors
from autofinity.profiling.campaign import ReadyProgram
from autofinity.reporter import SILENT
from autofinity.sim.machine import SimMachine
from autofinity.sim.preset import load_preset
from autofinity.sim.speeds import facts_of_machine
from autofinity.store.mechanism_runs import MechanismRuns, RunName
from autofinity.trace.manifest import Suite, load_suite
from autofinity.workflow.capture import capture
from autofinity.workflow.compare import DECIDES, trace_of
from autofinity.workflow.crewed import with_crew
from autofinity.workflow.policies import policy_for
from autofinity.workflow.wanted import Wanted

ROOT = Path(__file__).resolve().parents[2]
MINUTE_S = 60.0
FAULTS_PER_PAGE = 20.0
"""kMAF'16, section 6.4 and table 5."""
REPEATS = 6
INPUT = "study"
type Filled = Literal["in parallel", "by the main thread", "in turn"]
"""Who touched the data first: their threads, as in all programs of this project. The others are
experiments: one thread, on whose node all pages are when the region begins, or the pages are on all
nodes in turn."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A machine with a thread on each PU, and programs with inputs that exceed a node's caches."""

    machine: str
    inputs: Mapping[str, str]
    """Arguments of each program."""
    threads: int = 0
    """0: one for each PU."""
    filled: Filled = "in parallel"
    faults_per_page: float = FAULTS_PER_PAGE
    repeats: int = REPEATS

    @property
    def count(self) -> int:
        """Threads of each program."""
        return self.threads or pus_of(self.machine)


class Minutes:
    """Runs on one ground, made when they are asked for."""

    def __init__(self, ground: Ground, work: Path) -> None:
        self.ground = ground
        self._spec = load_preset(ground.machine)
        self._work = work
        self._file = MechanismRuns(work / f"{ground.machine}.jsonl")
        self._kept = dict(self._file.read())
        self._policy = policy_for(ground.machine)
        made = f"{self._spec!r} {self._policy!r} {ground.repeats}"
        made += f" {ground.filled} {ground.faults_per_page} {MINUTE_S}"
        self._made_by = sha256(digest_of_code(*DECIDES) + made.encode()).hexdigest()[:16]
        self._machine = SimMachine(self._spec)
        self._programs: dict[str, ReadyProgram] = {}
        self._trace: tuple[str, WholeTrace] | None = None
        self._touched = Kept(work / "touched.jsonl")

    def program(self, name: str) -> ReadyProgram:
        """A program, captured."""
        if name not in self._programs:
            self._programs[name] = self._captured(name)
        return self._programs[name]

    def _captured(self, name: str) -> ReadyProgram:
        ground = self.ground
        wanted = Wanted(
            ground.machine,
            suite=_suite_of(name, ground.inputs[name]),
            programs=(name,),
            sizes=(INPUT,),
            threads=(ground.count,),
            jobs=1,
            work=self._work / ground.inputs[name].replace(" ", "-"),
        )
        (ready,) = capture(wanted, ground.count)
        return with_crew(self._spec, ready, SILENT)

    def touched_mib(self, name: str) -> float:
        """Memory that a program touches."""
        program = self.program(name)

        def found() -> float:
            trace = trace_of(self._spec.page_bytes, program)
            return len(trace.accesses) * trace.page_size_bytes / 2**20

        return self._touched(program.origin, found)

    def has(self, name: str, mechanism: str, seed: int = 1) -> bool:
        """Whether a run has been made."""
        return self._key(name, mechanism, seed) in self._kept

    def run(self, name: str, mechanism: str, seed: int = 1) -> MechanismRun:
        """A minute of a program under a mechanism; of several recipes the fastest."""
        minute = self._ran(name, mechanism, seed).minute
        assert minute is not None
        return minute

    def simulated_s(self, name: str) -> float:
        """Time of the run under the operating system that stands for the minute."""
        return self._ran(name, BASELINE, 1).run.time_s

    def _ran(self, name: str, mechanism: str, seed: int) -> Ran:
        key = self._key(name, mechanism, seed)
        if key not in self._kept:
            self._kept[key] = self._made(self.program(name), name, mechanism, seed)
            self._file.write(key, self._kept[key])
        return self._kept[key]

    def _key(self, name: str, mechanism: str, seed: int) -> RunName:
        program = self.program(name)
        arguments, made_of = self.ground.inputs[name], f"{program.origin} {self._made_by}"
        return RunName(name, arguments, program.running, mechanism, seed, made_of)

    def _made(self, program: ReadyProgram, name: str, mechanism: str, seed: int) -> Ran:
        second_ns = None
        if mechanism != BASELINE:
            base_s = self._ran(name, BASELINE, seed).run.time_s
            second_ns = round(base_s * NS_PER_S / MINUTE_S)
        entry = MECHANISMS[mechanism]
        machine = self._machine
        facts = facts_of_machine(self._spec)(program.placed)
        setting = Setting(
            topology=machine.topology,
            threads=program.running,
            room=program.room,
            clock_hz=machine.clock_hz,
            seed=seed,
            paper_second_ns=NS_PER_S if entry.in_real_time else second_ns or NS_PER_S,
            fault_share_per_s=self.ground.faults_per_page / MINUTE_S,
            policy=self._policy and on_machine(self._policy, facts),
            whole_trace=lambda: self._known(program),
        )
        request = replace(program.request, threads=program.running, repeats=self.ground.repeats)
        if entry.in_real_time:
            assert second_ns is not None  # only the baseline has none
            repeats = self.ground.repeats * NS_PER_S / second_ns
            (recipe,) = entry.make(setting)
            lasting = lasting_machine(machine, request, recipe, repeats, seed)
            run = in_real_time(lasting, request, recipe, seed, pages_follow(lasting, recipe))
            return Ran(run, run)  # it stands for itself
        pages = PagePlacement("interleave") if self.ground.filled == "in turn" else FIRST_TOUCH
        if self.ground.filled == "by the main thread":
            trace = self._known(program)
            pages = trace.placed(dict.fromkeys(trace.accesses, 0))
        mapping_ns, clock = entry.takes_ns(program.running), PaperClock(MINUTE_S, second_ns)
        return fastest(
            [
                ran_for_long(machine, request, _Begun(recipe, pages), mapping_ns, clock, seed)
                for recipe in entry.make(setting)
            ]
        )

    def _known(self, program: ReadyProgram) -> WholeTrace:
        """The whole trace of a program; that of the last one is kept."""
        if self._trace is None or self._trace[0] != program.origin:
            self._trace = program.origin, trace_of(self._spec.page_bytes, program)
        return self._trace[1]


@dataclass(frozen=True, slots=True)
class _Begun[State]:
    """A recipe that finds pages where they are."""

    recipe: Recipe[State]
    pages: PagePlacement

    @property
    def name(self) -> str:
        return self.recipe.name

    @property
    def start(self) -> Start:
        start = self.recipe.start
        return replace(start, pages=self.pages) if start.pages == FIRST_TOUCH else start

    @property
    def sensors(self) -> Sensors:
        return self.recipe.sensors

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> State:
        return self.recipe.begin(topology, available, threads)

    def period_ns(self, state: State) -> int:
        return self.recipe.period_ns(state)

    def step(self, state: State, interval: Interval) -> tuple[State, Sequence[Action]]:
        return self.recipe.step(state, interval)


def _suite_of(name: str, arguments: str) -> Suite:
    """The one program, with the one input."""
    for folder in ("solvers", "training"):
        suite = load_suite(ROOT / folder / "suite.toml")
        if name in suite.programs:
            program = replace(suite.programs[name], inputs={INPUT: arguments})
            return replace(suite, programs={name: program})
    raise KeyError(name)
