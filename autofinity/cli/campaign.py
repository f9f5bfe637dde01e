"""From a suite to observations of a machine: what `profile`, `train` and `evaluate` do first.

    suite ─► traces (captured once, kept) ─► profile ─► observations (kept run by run)

Everything is in one work folder, and whatever is complete there is not done again:
`traces/PROGRAM-SIZE-THREADSt/` and `observations/MACHINE/` (`MACHINE-20us/` for another sample
period than the default, `MACHINE-2M-pages/` for a page size asked for: different ones are never
mixed).
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autofinity import __version__
from autofinity.cli.progress import progress
from autofinity.evaluation.times import times_of
from autofinity.model.affinity import Affinity
from autofinity.model.errors import LearningError
from autofinity.model.observation import Workload
from autofinity.profiling.campaign import (
    Cell,
    Failure,
    ReadyProgram,
    Target,
    in_order,
    plan,
    plan_baselines,
    plan_switches,
    profile,
)
from autofinity.profiling.estimate import expected, probes
from autofinity.profiling.sampling import Run
from autofinity.profiling.search import to_try
from autofinity.profiling.selection import select
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import ObservationStore
from autofinity.trace.manifest import Suite

DEFAULT_PERIOD_US = 500.0
"""Simulated. The paper samples for 10 s of some 100 s runs; a `small` input runs 5 to 30 ms."""


HOST_PERIOD_US = 100_000.0
"""On the machine at hand, where `--size large` runs for seconds."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be observed, and where it is kept."""

    machine: str
    suite: Suite
    programs: tuple[str, ...]
    """Empty for all of the suite."""
    size: str
    threads: tuple[int, ...]
    jobs: int
    work: Path
    affinities: str = "hints"
    seed: int = 1
    """Of the draw of affinities."""
    page_seeds: int = 1
    period_us: float | None = None
    """None: the backend's own."""
    quiet: bool = False
    latencies: str | None = None
    """For a machine that is only a topology: a file or a preset."""
    page_size: str | None = None
    """One of `PAGE_SIZES`; None: the machine's own."""
    twin: bool = False
    """Simulate the machine at hand instead of running programs on it."""
    baselines: bool = False
    """Also run what policies are compared with, and switches (`profiling.placements`)."""
    search: int = 0
    """Affinities that may be added to the selected ones near the best of them, of each program."""
    certify: tuple[str, ...] = ()
    """Programs to run in all affinities, whatever is selected."""


def gather(wanted: Wanted) -> ObservationTable:
    """Observations of every wanted program, in every selected affinity, at every thread count.

    Programs that cannot be captured or replayed are named on stderr and left out. Raises
    `LearningError` when nothing is left.
    """
    campaign = _prepare(wanted)
    _tell_cost(campaign, wanted)
    failures = _run(campaign, campaign.cells, wanted, "profile")
    if wanted.search:
        failures += _search(campaign, wanted)
    _tell(failures)
    table = only(campaign.store.read(), {program.workload for program in campaign.programs})
    if not len(table):
        raise LearningError(
            f"no observations on {wanted.machine}: all {len(campaign.cells)} runs failed, see above"
        )
    return table


def estimate(wanted: Wanted) -> dict[int, tuple[int, float]]:
    """Runs that `gather` has left to make and their CPU seconds, by thread count.

    Captures what is not captured yet, and runs each program once. What a search adds is counted in
    full. Raises as `gather` does.
    """
    return _cost(_prepare(wanted), wanted)


@dataclass(frozen=True, slots=True)
class _Campaign:
    """What `gather` runs, and where it keeps it."""

    target: Target
    programs: list[ReadyProgram]
    cells: list[Cell]
    store: ObservationStore


def _prepare(wanted: Wanted) -> _Campaign:
    """Make the programs ready and plan their runs."""
    target, programs, made_by = _on_host(wanted) if _is_native(wanted) else _in_simulation(wanted)
    machine = target.machine
    affinities = {
        threads: select(machine.topology, threads, wanted.affinities, wanted.seed)
        for threads in wanted.threads
    }
    seeds = range(1, 1 + wanted.page_seeds)
    cells = plan([s for s in programs if s.name not in wanted.certify], affinities, seeds)
    certified = [s for s in programs if s.name in wanted.certify]
    if certified:
        everything = {
            threads: select(machine.topology, threads, "all", wanted.seed)
            for threads in wanted.threads
        }
        cells += plan(certified, everything, seeds)
    if wanted.baselines:
        cells += plan_baselines(machine.topology, programs)
        cells += plan_switches(machine.topology, programs)
    store = ObservationStore(observations_folder(wanted))
    store.expect({s.workload: f"{s.origin} {made_by}" for s in programs})
    return _Campaign(target, programs, in_order(cells), store)


def _is_native(wanted: Wanted) -> bool:
    """Whether programs run on the machine at hand itself."""
    return wanted.machine == "host" and wanted.latencies is None and not wanted.twin


def _in_simulation(wanted: Wanted) -> tuple[Target, list[ReadyProgram], str]:
    """The simulated machine, captured programs, and a digest of what makes their times."""
    from autofinity.cli.backends import simulated

    machine = simulated(wanted.machine, wanted.latencies, wanted.page_size, twin=wanted.twin)
    target = Target(
        machine=machine,
        name=wanted.machine,
        backend="sim",
        clock_hz=machine.clock_hz,
        period_ns=round((wanted.period_us or DEFAULT_PERIOD_US) * 1000),
        version=__version__,
    )
    programs = [program for threads in wanted.threads for program in capture(wanted, threads)]
    return target, programs, hashlib.sha256(f"{__version__} {machine.spec!r}".encode()).hexdigest()


def _on_host(wanted: Wanted) -> tuple[Target, list[ReadyProgram], str]:
    """The machine at hand, and programs built for it. Raises `CapabilityError` without a PMU."""
    from autofinity.cli.host_programs import host_subjects
    from autofinity.linux.host_machine import host_machine

    machine = host_machine({})  # before anything is built: is anything counted here?
    programs, conditions = host_subjects(
        wanted.suite, wanted.programs, wanted.threads, wanted.size, wanted.work
    )
    target = Target(
        machine=host_machine(conditions),
        name=wanted.machine,
        backend="linux",
        clock_hz=machine.clock_hz,
        period_ns=round((wanted.period_us or HOST_PERIOD_US) * 1000),
        version=__version__,
    )
    return target, programs, machine.topology.model


def _run(
    campaign: _Campaign,
    cells: Sequence[Cell],
    wanted: Wanted,
    title: str,
    cpu_s: dict[Workload, float] | None = None,
) -> list[Failure]:
    """Make these runs under a progress bar, and note what each program's took."""

    def report(run: Run, took_s: float | None) -> None:
        if took_s is None:
            bar.found()
        else:
            bar.step(_label(run))
        if cpu_s is not None and took_s:
            cpu_s[run.workload] = took_s

    jobs = 1 if _is_native(wanted) else wanted.jobs  # a run has the machine to itself
    with progress(title, len(cells), wanted.quiet) as bar:
        return profile(campaign.target, cells, campaign.store, jobs, report)


def _cost(campaign: _Campaign, wanted: Wanted) -> dict[int, tuple[int, float]]:
    """CPU seconds of what is left, by thread count; programs with much left are run once."""
    cpu_s: dict[Workload, float] = {}
    first = probes(campaign.cells, campaign.store.done())
    _run(campaign, first, wanted, "estimate", cpu_s)
    left = expected(campaign.cells, campaign.store.done(), cpu_s)
    for threads in wanted.threads if wanted.search else ():
        runs, total_s = left.get(threads, (0, 0.0))
        took = [s for (_, _, of), s in cpu_s.items() if of == threads]
        more = wanted.search * wanted.page_seeds
        left[threads] = (runs + more * len(took), total_s + more * sum(took))
    return left


def _tell_cost(campaign: _Campaign, wanted: Wanted) -> None:
    for threads, (runs, cpu_s) in sorted(_cost(campaign, wanted).items()):
        if cpu_s > 0 and not wanted.quiet:
            print(
                f"autofinity: {wanted.machine}, {threads} threads: up to {runs} runs, about "
                f"{cpu_s / 60:.1f} CPU minutes",
                file=sys.stderr,
            )


def _search(campaign: _Campaign, wanted: Wanted) -> list[Failure]:
    """Run neighbours of the best affinities until none is left to try, or enough were.

    Begins with the selected affinities only, whatever else is kept there: so a search that was
    interrupted takes the same way again, past the runs it has made.
    """
    topology = campaign.target.machine.topology
    known: dict[Workload, set[Affinity]] = {}
    for cell in campaign.cells:
        if cell.run.placement == "affinity" and cell.run.program not in wanted.certify:
            known.setdefault(cell.program.workload, set()).add(cell.run.affinity)
    left = dict.fromkeys(known, wanted.search)
    failures: list[Failure] = []
    while True:
        times = times_of(campaign.store.read()).roi_s
        added: dict[Workload, list[Affinity]] = {}
        for key, some in known.items():
            roi_s = {a: s for a, s in times.get(key, {}).items() if a in some}
            added[key] = to_try(topology, roi_s, left[key])
            some |= set(added[key])
            left[key] -= len(added[key])
        cells = [
            Cell(program, Run(*program.workload, affinity, seed))
            for program in campaign.programs
            for affinity in added.get(program.workload, ())
            for seed in range(1, 1 + wanted.page_seeds)
        ]
        if not cells:
            return failures
        failures += _run(campaign, cells, wanted, "search")


def capture(wanted: Wanted, threads: int) -> list[ReadyProgram]:
    """Traces of the wanted programs with `threads` threads, as programs for the simulator."""
    from autofinity.cli.capture import capture_traces
    from autofinity.ports import RunRequest

    traces = capture_traces(
        wanted.suite,
        wanted.programs,
        threads,
        wanted.size,
        wanted.work / "traces",
        quiet=wanted.quiet,
        keep_going=True,
    )
    return [
        ReadyProgram(
            trace.program,
            trace.input,
            trace.threads,
            RunRequest(program=str(trace.path), threads=trace.threads),
            origin=trace.digest,
        )
        for trace in traces
    ]


def observations_folder(wanted: Wanted) -> Path:
    """Where the observations of a machine are kept; its name may be a path or a description."""
    safe = "".join(c if c.isalnum() or c in "-._" else "_" for c in wanted.machine)
    if wanted.period_us not in (None, DEFAULT_PERIOD_US):
        safe += f"-{wanted.period_us:g}us"
    if wanted.page_size is not None:
        safe += f"-{wanted.page_size}-pages"
    if wanted.twin:
        safe += "-simulated"
    return wanted.work / "observations" / safe


def only(table: ObservationTable, asked: set[Workload]) -> ObservationTable:
    """The rows of the (program, input, threads) asked for; a folder may hold more."""
    import numpy as np

    keys = zip(table.program.text(), table.input.text(), table.threads.tolist(), strict=True)
    return table.take(np.fromiter((key in asked for key in keys), dtype=bool, count=len(table)))


def _label(run: Run) -> str:
    if run.placement == "affinity":
        return f"{run.program} {run.affinity}"
    return f"{run.program} {run.placement} {run.affinity}".rstrip()


def _tell(failures: list[Failure]) -> None:
    """One line for each distinct reason."""
    reasons: dict[tuple[str, str], int] = {}
    for failure in failures:
        key = (failure.run.program, failure.reason)
        reasons[key] = reasons.get(key, 0) + 1
    for (program, reason), count in reasons.items():
        print(f"autofinity: {program}: {count} runs failed: {reason}", file=sys.stderr)
