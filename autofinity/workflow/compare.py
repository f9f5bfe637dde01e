"""Comparison of mechanisms on the same programs and machine, for `compare` and figures."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from autofinity.detect.whole_trace import whole_trace
from autofinity.evaluation.comparison import Comparison, MechanismCase, compare
from autofinity.evaluation.under_mechanism import Conditions
from autofinity.mechanisms.kmaf16 import faults_per_page
from autofinity.mechanisms.recipe import WholeTrace
from autofinity.mechanisms.registry import Entry
from autofinity.model.errors import UsageError
from autofinity.own_code import digest_of_code
from autofinity.ports import Pool
from autofinity.profiling.campaign import ReadyProgram
from autofinity.reporter import SILENT, Reporter
from autofinity.sim.machine import SimMachine
from autofinity.sim.replay import workers_of
from autofinity.sim.speeds import facts_of_machine
from autofinity.sim.together import ProgramRun, prepare_together
from autofinity.store.mechanism_runs import MechanismRuns
from autofinity.workflow.backends import simulated
from autofinity.workflow.capture import capture
from autofinity.workflow.crewed import with_crew
from autofinity.workflow.policies import named_policy, policy_for
from autofinity.workflow.pools import pool_for
from autofinity.workflow.wanted import Wanted, observations_folder

RESULTS = "mechanisms.jsonl"
BESIDE = "+"
"""Separator between the names of programs that run side by side."""
DECIDES = (
    *("affinity", "detect", "mapping", "mechanisms", "model", "policy", "profiling", "runtime"),
    *("sim", "workflow/compare.py", "evaluation/comparison.py", "evaluation/mechanism_run.py"),
    *("evaluation/under_mechanism.py", "evaluation/course.py", "evaluation/in_minute.py"),
    *("evaluation/lasting.py", "evaluation/lasting_samples.py", "evaluation/real_minute.py"),
    *("evaluation/repeat_record.py", "evaluation/decider_notes.py"),
    "evaluation/machine_around.py",
    "ports.py",
)
"""Code that a run depends on, beside the native core: after an edit of it, runs are repeated."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Machine, programs and length of a comparison of mechanisms.

    `wanted.programs` may hold names such as `lu+sor`: programs side by side, each with
    `wanted.threads` threads. Raises `UsageError` for an impossible number.
    """

    wanted: Wanted
    seeds: int
    repeats: int
    paper_s: float
    faults_per_page: float | None = None
    """That kMAF and SPCD make in the whole run. Default: `kmaf16.faults_per_page`."""
    policy: str | None = None
    """Policy for `autofinity` and `unified`: a file, or the name of a shipped one. Default: the
    machine's."""

    def __post_init__(self) -> None:
        if len(self.wanted.threads) != 1:
            counts = ", ".join(map(str, self.wanted.threads)) or "none"
            raise UsageError(f"threads {counts}: expected one count")
        if min(self.seeds, self.repeats) < 1 or not 0 < self.paper_s < math.inf:
            raise UsageError(
                f"seeds {self.seeds}, repeats {self.repeats}, paper_s {self.paper_s}: expected at "
                "least 1, and seconds"
            )

    @property
    def fault_share_per_s(self) -> float:
        """Share of the touched pages that fault, per second of a paper's run."""
        if self.faults_per_page is not None:
            return self.faults_per_page / self.paper_s
        return faults_per_page(self.repeats, self.paper_s) / self.paper_s

    @property
    def threads(self) -> int:
        """Number of threads of each program."""
        return self.wanted.threads[0]


def compared(
    asked: Asked, entries: Sequence[Entry], reporter: Reporter = SILENT
) -> list[MechanismCase]:
    """All cases, by mechanism in the order of `entries`, then program, then seed. Stored runs are
    not repeated.

    Raises `UsageError` for the present machine and for programs side by side with repeats, and the
    errors of `pool_for` and of capturing.
    """
    if asked.wanted.machine == "host":
        raise UsageError("--machine host: mechanisms are compared on simulated machines only")
    with pool_for(asked.wanted, reporter) as pool:
        return _compared(asked, entries, pool, reporter)


def machine_of(asked: Asked, reporter: Reporter) -> SimMachine:
    """The simulated machine."""
    wanted = asked.wanted
    return simulated(wanted.machine, wanted.latencies, wanted.page_size, reporter=reporter)


def comparison_of(asked: Asked, machine: SimMachine, reporter: Reporter) -> Comparison:
    """Conditions and seeds of all runs."""
    wanted = asked.wanted
    policy = named_policy(asked.policy) if asked.policy else policy_for(wanted.machine, reporter)
    rates = f"{asked.repeats} {asked.paper_s} {asked.fault_share_per_s}"
    made_by = hashlib.sha256(
        digest_of_code(*DECIDES) + f"{machine.spec!r} {policy!r} {rates}".encode()
    ).hexdigest()[:16]
    return Comparison(
        Conditions(
            machine=machine,
            clock_hz=machine.clock_hz,
            policy=policy,
            whole_trace=partial(trace_of, machine.spec.page_bytes),
            repeats=asked.repeats,
            paper_s=asked.paper_s,
            fault_share_per_s=asked.fault_share_per_s,
        ),
        seeds=tuple(range(1, 1 + asked.seeds)),
        made_of=lambda ready: f"{ready.origin} {made_by}",
        facts_of=facts_of_machine(machine.spec),
    )


def ready_programs(asked: Asked, machine: SimMachine, reporter: Reporter) -> list[ReadyProgram]:
    """The programs, captured, alone or side by side, with their crews."""
    return [_crewed(machine, program, reporter) for program in _programs(asked, reporter)]


def _compared(
    asked: Asked, entries: Sequence[Entry], pool: Pool, reporter: Reporter
) -> list[MechanismCase]:
    machine = machine_of(asked, reporter)
    comparison = comparison_of(asked, machine, reporter)
    programs = ready_programs(asked, machine, reporter)
    for line in _mapped_by(entries):
        reporter.notice(line)
    runs = MechanismRuns(observations_folder(asked.wanted) / RESULTS)
    steps = len(programs) * len(entries) * asked.seeds
    with reporter.progress("compare", steps) as done:
        cases = compare(comparison, programs, entries, runs, pool, done.step)
    rank = {entry.name: number for number, entry in enumerate(entries)}
    place = {program.name: number for number, program in enumerate(programs)}
    return sorted(cases, key=lambda at: (rank[at.mechanism], place[at.program], at.seed))


def _mapped_by(entries: Sequence[Entry]) -> Iterator[str]:
    """A line for those whose mapper depends on what is installed."""
    for mapper in dict.fromkeys(entry.mapped_by for entry in entries if entry.mapped_by):
        names = ", ".join(entry.name for entry in entries if entry.mapped_by == mapper)
        yield f"{names}: threads are mapped by {mapper}"


def _programs(asked: Asked, reporter: Reporter) -> list[ReadyProgram]:
    """Programs alone, and programs side by side."""
    names = asked.wanted.programs
    some_beside = any(BESIDE in name for name in names)
    if some_beside and asked.repeats != 1:
        raise UsageError(
            f"--repeats {asked.repeats}: programs side by side run once; expected --repeats 1, and "
            "larger inputs where runs are too short"
        )
    parts = dict.fromkeys(part for name in names for part in name.split(BESIDE))
    alone = capture(replace(asked.wanted, programs=tuple(parts)), asked.threads, reporter)
    if not some_beside:
        return alone
    by_name = {program.name: program for program in alone}
    found = []
    for name in names:
        together = [by_name[part] for part in name.split(BESIDE) if part in by_name]
        if len(together) == name.count(BESIDE) + 1:
            found.append(_beside(together))
    return found


def _crewed(machine: SimMachine, program: ReadyProgram, reporter: Reporter) -> ReadyProgram:
    """A program with its crew; programs side by side are placed with the requested thread
    counts.
    """
    if program.request.beside:
        return program
    return with_crew(machine.spec, program, reporter)


def _beside(programs: Sequence[ReadyProgram]) -> ReadyProgram:
    """All programs as one; a single program is returned unchanged."""
    first, *others = programs
    if not others:
        return first
    threads = sum(program.threads for program in programs)
    beside = tuple(program.request.program for program in others)
    return ReadyProgram(
        BESIDE.join(program.name for program in programs),
        first.input,
        threads,
        replace(first.request, threads=threads, beside=beside),
        origin=BESIDE.join(program.origin for program in programs),
    )


def trace_of(page_bytes: int, ready: ReadyProgram) -> WholeTrace:
    """All that a captured program does, for oracles."""
    traces = (ready.request.program, *ready.request.beside)
    program = prepare_together([ProgramRun(trace, ()) for trace in traces])
    each = ready.running // len(traces)
    workers = [
        first + worker
        for trace, (first, _) in zip(traces, program.processes, strict=True)
        for worker in workers_of(trace, each)
    ]
    sharing, accesses = whole_trace(program, workers, page_bytes)
    return WholeTrace(sharing, accesses.pages, page_bytes)
