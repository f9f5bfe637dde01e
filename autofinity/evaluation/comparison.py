"""Comparison of mechanisms: each mechanism on every program with every seed.

    program ─► os (its time sets the papers' clock) ─► all other mechanisms ─► cases

Stored runs are not repeated, and each run is stored as soon as it is finished.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from statistics import fmean

from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.mechanism_run import run_mechanism
from autofinity.mechanisms.recipe import NS_PER_S, Setting, WholeTrace
from autofinity.mechanisms.registry import BASELINE, Entry
from autofinity.model.affinity import Hint
from autofinity.model.errors import AutofinityError
from autofinity.model.facts import FactsOf, no_facts
from autofinity.model.mechanism_run import MechanismRun
from autofinity.model.policy import RulePolicy
from autofinity.policy.on_machine import on_machine
from autofinity.ports import Machine, Sensors
from autofinity.profiling.campaign import ReadyProgram
from autofinity.profiling.placements import bound, shared
from autofinity.profiling.sampling import behaviour_of
from autofinity.store.mechanism_runs import MechanismRuns, RunName

_WHOLE_RUN_NS = 10**13


@dataclass(frozen=True, slots=True)
class Comparison:
    """Machine, options and seeds of a comparison."""

    machine: Machine
    clock_hz: float
    policy: RulePolicy | None
    whole_trace: Callable[[ReadyProgram], WholeTrace]
    seeds: tuple[int, ...]
    repeats: int
    """Number of times that each region of interest runs."""
    paper_s: float
    """Seconds of a paper's run that a whole run stands for (see `mechanism_run`)."""
    fault_share_per_s: float
    """Share of the touched pages, per second of a paper's run (see `Setting`)."""
    made_of: Callable[[ReadyProgram], str]
    """Digest of everything that the runs of a program are made of."""
    facts_of: FactsOf = no_facts
    """Facts of the machine, for a policy that asks for them."""

    def policy_for(self, program: ReadyProgram) -> RulePolicy | None:
        """The policy, for as many threads as cores are chosen for."""
        policy = self.policy
        return policy and on_machine(policy, self.facts_of(program.placed))


@dataclass(frozen=True, slots=True)
class MechanismCase:
    """One program under one mechanism with one seed: the run, or the reason why there is none."""

    program: str
    mechanism: str
    seed: int
    run: MechanismRun | None
    reason: str = ""


def compare(
    comparison: Comparison,
    programs: Iterable[ReadyProgram],
    entries: Sequence[Entry],
    runs: MechanismRuns,
    workers: int,
    report: Callable[[str], None] = lambda label: None,
) -> list[MechanismCase]:
    """All cases. `report` is called for each case, with its label.

    A program without a time under the operating system is then left out. An interruption
    (`KeyboardInterrupt`) lets running cells finish and stores them.
    """
    kept = dict(runs.read())
    cases: list[MechanismCase] = []
    baseline = [entry for entry in entries if entry.name == BASELINE]
    others = [entry for entry in entries if entry.name != BASELINE]
    with ThreadPoolExecutor(max_workers=workers) as pool:
        for program in programs:
            compared = _ComparedProgram(comparison, program, kept, runs)
            first = list(compared.cases(baseline, NS_PER_S, pool, report))
            cases += first
            times_s = [case.run.time_s for case in first if case.run is not None]
            if times_s:
                paper_second_ns = round(fmean(times_s) * NS_PER_S / comparison.paper_s)
                cases += compared.cases(others, paper_second_ns, pool, report)
            else:
                for _ in range(len(others) * len(comparison.seeds)):
                    report(f"{program.name} left out")
    return cases


class _ComparedProgram:
    """One program, and its data that all mechanisms share."""

    def __init__(
        self,
        comparison: Comparison,
        program: ReadyProgram,
        kept: Mapping[RunName, MechanismRun],
        runs: MechanismRuns,
    ) -> None:
        self._comparison = comparison
        self._program = program
        self._kept = kept
        self._runs = runs
        self._made_of = comparison.made_of(program)
        self._lock = threading.Lock()
        self._trace: WholeTrace | None = None
        self._samples: dict[Hint, Mapping[str, float]] = {}

    def cases(
        self,
        entries: Sequence[Entry],
        paper_second_ns: int,
        pool: ThreadPoolExecutor,
        report: Callable[[str], None],
    ) -> Iterator[MechanismCase]:
        """One case for each entry and seed, in the order in which they finish."""
        running: dict[Future[MechanismRun], RunName] = {}
        for entry in entries:
            made_of = " ".join(filter(None, (self._made_of, entry.mapped_by)))
            for seed in self._comparison.seeds:
                name = RunName(*self._program.workload, entry.name, seed, made_of)
                if name in self._kept:
                    report(f"{name.program} {name.mechanism}")
                    yield _case(name, self._kept[name])
                else:
                    running[pool.submit(self._run, entry, seed, paper_second_ns)] = name
        try:
            for future in as_completed(running):
                yield self._finish(running.pop(future), future, report)
        except BaseException:
            for future in running:
                future.cancel()
            raise

    def _finish(
        self, name: RunName, future: Future[MechanismRun], report: Callable[[str], None]
    ) -> MechanismCase:
        report(f"{name.program} {name.mechanism}")
        try:
            run = future.result()
        except AutofinityError as error:
            return _case(name, None, str(error))
        self._runs.write(name, run)
        return _case(name, run)

    def _run(self, entry: Entry, seed: int, paper_second_ns: int) -> MechanismRun:
        """The fastest of the entry's recipes."""
        comparison = self._comparison
        setting = Setting(
            topology=comparison.machine.topology,
            threads=self._program.running,
            room=self._program.room,
            clock_hz=comparison.clock_hz,
            seed=seed,
            paper_second_ns=paper_second_ns,
            fault_share_per_s=comparison.fault_share_per_s,
            policy=comparison.policy_for(self._program),
            sample=self._sample,
            whole_trace=self._whole_trace,
        )
        request = replace(
            self._program.request, threads=self._program.running, repeats=comparison.repeats
        )
        return min(
            (
                run_mechanism(comparison.machine, request, recipe, seed)
                for recipe in entry.make(setting)
            ),
            key=lambda run: run.time_s,
        )

    def _whole_trace(self) -> WholeTrace:
        with self._lock:
            if self._trace is None:
                self._trace = self._comparison.whole_trace(self._program)
            return self._trace

    def _sample(self, hint: Hint) -> Mapping[str, float]:
        """Sample of a whole run in the best match of the hint: counters per thread and second."""
        with self._lock:
            if hint not in self._samples:
                machine, program = self._comparison.machine, self._program
                assert self._comparison.policy is not None
                sensors = Sensors(self._comparison.policy.counters)
                cores = get_affinity(machine.topology, program.placed, hint)
                process = machine.start(
                    replace(program.request, threads=program.running),
                    shared(bound(cores.cpus), program.running),
                    sensors,
                    seed=1,
                )
                interval = process.advance(_WHOLE_RUN_NS)
                self._samples[hint] = behaviour_of(interval, program.placed).values
            return self._samples[hint]


def _case(name: RunName, run: MechanismRun | None, reason: str = "") -> MechanismCase:
    return MechanismCase(name.program, name.mechanism, name.seed, run, reason)
