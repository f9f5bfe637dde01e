"""Comparison of mechanisms: each mechanism on every program with every seed.

    program ─► os (its time sets the papers' clock) ─► all other mechanisms ─► cases

Stored runs are not repeated, and each run is stored as soon as it is finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, replace
from statistics import fmean

from autofinity.evaluation.under_mechanism import Conditions, SharedByMechanisms, UnderMechanism
from autofinity.mechanisms.recipe import NS_PER_S
from autofinity.mechanisms.registry import BASELINE, Entry
from autofinity.model.errors import AutofinityError, ClusterError
from autofinity.model.facts import FactsOf, no_facts
from autofinity.model.mechanism_run import MechanismRun, Ran
from autofinity.policy.on_machine import on_machine
from autofinity.ports import Done, Pool
from autofinity.profiling.campaign import ReadyProgram
from autofinity.store.mechanism_runs import MechanismRuns, RunName


@dataclass(frozen=True, slots=True)
class Comparison:
    """Conditions and seeds of a comparison."""

    conditions: Conditions
    seeds: tuple[int, ...]
    made_of: Callable[[ReadyProgram], str]
    """Digest of everything that the runs of a program are made of."""
    facts_of: FactsOf = no_facts
    """Facts of the machine, for a policy that asks for them."""

    def conditions_for(self, program: ReadyProgram) -> Conditions:
        """The conditions, with the policy for as many threads as cores are chosen for."""
        policy = self.conditions.policy
        if policy is None:
            return self.conditions
        return replace(self.conditions, policy=on_machine(policy, self.facts_of(program.placed)))


@dataclass(frozen=True, slots=True)
class MechanismCase:
    """One program under one mechanism with one seed: the run, or the reason why there is none."""

    program: str
    mechanism: str
    seed: int
    run: MechanismRun | None
    reason: str = ""
    minute: MechanismRun | None = None
    """The run that `run` stands for; None where unknown."""

    @property
    def in_real_time(self) -> bool:
        """Whether the run takes as long as the run that it stands for."""
        if self.run is None or self.minute is None:
            return False
        return self.run.time_s == self.minute.time_s  # a NaN energy equals no other


def minutes(cases: Iterable[MechanismCase]) -> list[MechanismCase]:
    """The cases of which the run that they stand for is known, with it as their run."""
    return [replace(case, run=case.minute) for case in cases if case.minute is not None]


def shown(cases: Sequence[MechanismCase]) -> list[MechanismCase]:
    """The cases as people read them, failed ones among them: with the run that they stand for as
    their run where any of these is known, else as they were simulated.
    """
    if not minutes(cases):
        return list(cases)
    return [
        replace(case, run=case.minute)
        for case in cases
        if case.minute is not None or case.run is None
    ]


def as_simulated(cases: Iterable[MechanismCase]) -> list[MechanismCase]:
    """The cases with the runs that were simulated; those that ran for as long as they stand for are
    left out.
    """
    return [case for case in cases if not case.in_real_time]


def compare(
    comparison: Comparison,
    programs: Iterable[ReadyProgram],
    entries: Sequence[Entry],
    runs: MechanismRuns,
    pool: Pool,
    report: Callable[[str], None] = lambda label: None,
) -> list[MechanismCase]:
    """All cases. `report` is called for each case, with its label.

    A program without a time under the operating system is then left out. Raises `ClusterError` when
    the pool cannot go on.
    """
    kept = dict(runs.read())
    cases: list[MechanismCase] = []
    baseline = [entry for entry in entries if entry.name == BASELINE]
    others = [entry for entry in entries if entry.name != BASELINE]
    for program in programs:
        compared = _ComparedProgram(comparison, program, kept, runs, pool)
        first = list(compared.cases(baseline, None, report))
        cases += first
        paper_second_ns = second_of(first, comparison.conditions.paper_s)
        if paper_second_ns is not None:
            cases += compared.cases(others, paper_second_ns, report)
        else:
            for _ in range(len(others) * len(comparison.seeds)):
                report(f"{program.name} left out")
    return cases


def second_of(baseline: Iterable[MechanismCase], paper_s: float) -> int | None:
    """Nanoseconds of a simulated run that stand for a second of a run of `paper_s`, from the
    program's runs under the operating system; None where none completed.
    """
    times_s = [case.run.time_s for case in baseline if case.run is not None]
    return round(fmean(times_s) * NS_PER_S / paper_s) if times_s else None


class _ComparedProgram:
    """The cases of one program: those of stored runs, and those of runs that a pool makes."""

    def __init__(
        self,
        comparison: Comparison,
        program: ReadyProgram,
        kept: Mapping[RunName, Ran],
        runs: MechanismRuns,
        pool: Pool,
    ) -> None:
        self._program = program
        self._seeds = comparison.seeds
        self._kept = kept
        self._runs = runs
        self._pool = pool
        self._made_of = comparison.made_of(program)
        self._shared = SharedByMechanisms(comparison.conditions_for(program))

    def cases(
        self, entries: Sequence[Entry], paper_second_ns: int | None, report: Callable[[str], None]
    ) -> Iterator[MechanismCase]:
        """One case for each entry and seed, in the order in which they finish."""
        running: dict[Future[Done[Ran]], RunName] = {}
        # With other seeds the system's mean time is another, and so is the work of a minute.
        second = "" if paper_second_ns is None else f"{paper_second_ns} ns"
        for entry in entries:
            made_of = " ".join(filter(None, (self._made_of, entry.mapped_by, second)))
            for seed in self._seeds:
                name = RunName(*self._program.workload, entry.name, seed, made_of)
                if name in self._kept:
                    report(f"{name.program} {name.mechanism}")
                    yield _case(name, self._kept[name])
                else:
                    task = UnderMechanism(
                        self._program, entry, entry.mapped_by, seed, paper_second_ns
                    )
                    running[self._pool.submit(self._shared, task)] = name
        try:
            for future in as_completed(running):
                yield self._finish(running.pop(future), future, report)
        except BaseException:
            for future in running:
                future.cancel()
            raise

    def _finish(
        self, name: RunName, future: Future[Done[Ran]], report: Callable[[str], None]
    ) -> MechanismCase:
        report(f"{name.program} {name.mechanism}")
        try:
            ran = future.result().result
        except ClusterError:
            raise
        except AutofinityError as error:
            return _case(name, None, str(error))
        self._runs.write(name, ran)
        return _case(name, ran)


def _case(name: RunName, ran: Ran | None, reason: str = "") -> MechanismCase:
    run, minute = (ran.run, ran.minute) if ran else (None, None)
    return MechanismCase(name.program, name.mechanism, name.seed, run, reason, minute)
