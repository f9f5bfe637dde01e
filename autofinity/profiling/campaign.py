"""Many programs, placed in many ways: plan, skip existing runs, run on all cores, store each run at
once.

    plan ──► cells ──► worker threads (the native core leaves the interpreter's lock) ──► sink

A cell is one program, placed in one way, with one seed. Each finished cell is written before the
next one starts, so an interruption loses at most the cells in flight.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from autofinity.affinity.enumerate import place
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import DISTRIBUTED, Affinity
from autofinity.model.errors import AutofinityError
from autofinity.model.observation import Observation, PlacedBy, Workload
from autofinity.model.topology import Topology
from autofinity.ports import Machine, RunRequest, Sink
from autofinity.profiling.placements import (
    PROBE,
    SEEDS,
    SWITCH_AFTER,
    baseline_affinity,
    bound,
    placement_of,
    shared,
)
from autofinity.profiling.sampling import Run, Switch, observe
from autofinity.profiling.selection import best_matches


@dataclass(frozen=True, slots=True)
class ReadyProgram:
    """A program that can be run: its name and the request that starts it on a machine."""

    name: str
    input: str
    threads: int
    request: RunRequest
    origin: str = ""
    """Origin of its runs, such as the trace's digest: when it changes, the runs are stale."""
    sampled: bool = False
    """Whether the program runs in windows, so that its threads stay where they are bound."""
    computing: int = 0
    """Number of its threads that compute, where it differs from the requested number (`threads`);
    0: it is equal."""
    room: int = 0
    """Number of cores for these threads, which share cores where there are fewer cores than
    threads."""

    @property
    def workload(self) -> Workload:
        """Workload that its runs belong to."""
        return Workload(self.name, self.input, self.threads)

    @property
    def running(self) -> int:
        """Number of threads that a machine is asked to run: all that compute."""
        return self.computing or self.threads

    @property
    def placed(self) -> int:
        """Number of threads that cores are chosen for, as in the program's affinities."""
        return self.room or self.threads


@dataclass(frozen=True, slots=True)
class Target:
    """The machine to profile on, and the sampling there."""

    machine: Machine
    name: str
    backend: str
    clock_hz: float
    period_ns: int
    version: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One run to make."""

    program: ReadyProgram
    run: Run


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that gave no observations, and the reason."""

    run: Run
    reason: str


def plan(
    programs: Iterable[ReadyProgram],
    affinities: Mapping[int, Sequence[Affinity]],
    seeds: Sequence[int],
) -> list[Cell]:
    """Cells of all affinities of each program's placed thread count, one program after the
    other.
    """
    return [
        Cell(program, Run(program.name, program.input, program.threads, affinity, seed))
        for program in programs
        for affinity in affinities[program.placed]
        for seed in seeds
    ]


def plan_baselines(topology: Topology, programs: Iterable[ReadyProgram]) -> list[Cell]:
    """Cells of the baselines: every baseline with each of its seeds.

    A sampled program has no baseline under the operating system.
    """
    return [
        Cell(
            program,
            Run(
                program.name,
                program.input,
                program.threads,
                baseline_affinity(topology, program.placed, placement, seed),
                seed,
                placement,
            ),
        )
        for program in programs
        for placement, seeds in SEEDS.items()
        for seed in range(1, 1 + seeds)
        if not (program.sampled and placement == "os")
    ]


def plan_switches(topology: Topology, programs: Iterable[ReadyProgram]) -> list[Cell]:
    """Cells that begin distributed and switch to the best match of each other hint.

    They switch at once and by way of a second look. A sampled program has none: its threads stay
    where they are.
    """
    found = []
    for program in programs:
        if program.sampled:
            continue
        start, probe = (
            get_affinity(topology, program.placed, hint).affinity for hint in (DISTRIBUTED, PROBE)
        )
        ways: dict[PlacedBy, Affinity] = {"switched": start}
        if probe != start:
            ways["probed"] = probe
        for placement, last in ways.items():
            for affinity in best_matches(topology, program.placed):
                if affinity != last:
                    found.append(Cell(program, Run(*program.workload, affinity, 1, placement)))
    return found


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """The same cells, all cells of a program in a row, so that one trace at a time is in memory."""
    number: dict[str, int] = {}
    for cell in (cells := list(cells)):
        number.setdefault(cell.program.request.program, len(number))
    return sorted(cells, key=lambda cell: number[cell.program.request.program])


def profile(
    target: Target,
    cells: Sequence[Cell],
    sink: Sink,
    workers: int,
    report: Callable[[Run, float | None], None] = lambda run, cpu_s: None,
) -> list[Failure]:
    """Run the cells that the sink lacks; return those that failed.

    `report(run, cpu_s)` is called in this thread for every cell, with the CPU seconds of its run
    here; None for a run that was there before. An interruption (`KeyboardInterrupt`) lets running
    cells finish and stores them.
    """
    done = sink.done()
    todo = []
    for cell in cells:
        if cell.run.key in done:
            report(cell.run, None)
        else:
            todo.append(cell)
    failures: list[Failure] = []
    queue = deque(todo)
    running: dict[Future[_Done], Run] = {}
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            while True:
                while queue and len(running) < workers:
                    cell = queue.popleft()
                    running[pool.submit(_run, target, cell)] = cell.run
                if not running:
                    return failures
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    run = running.pop(future)
                    report(run, _keep(future, run, sink, failures))
        except KeyboardInterrupt:
            for future, run in running.items():
                _keep(future, run, sink, failures)
            raise


def _switches_of(topology: Topology, program: ReadyProgram, run: Run) -> tuple[Switch, ...]:
    if run.placement not in ("switched", "probed"):
        return ()
    threads = program.running
    chosen = shared(bound(place(topology, run.affinity).cpus), threads)
    if run.placement == "switched":
        return (Switch(SWITCH_AFTER, chosen),)
    probe = shared(bound(get_affinity(topology, program.placed, PROBE).cpus), threads)
    return (Switch(SWITCH_AFTER, probe), Switch(2 * SWITCH_AFTER, chosen))


@dataclass(frozen=True, slots=True)
class _Done:
    """Result of a cell from a worker thread."""

    observations: list[Observation]
    cpu_s: float


def _run(target: Target, cell: Cell) -> _Done:
    run, program = cell.run, cell.program
    started = time.thread_time()
    placement = placement_of(
        target.machine.topology, run.placement, run.affinity, program.placed, run.seed
    )
    observations = observe(
        target.machine,
        target.name,
        target.backend,
        target.clock_hz,
        replace(program.request, threads=program.running),
        run,
        placement if placement is None else shared(placement, program.running),
        target.period_ns,
        target.version,
        _switches_of(target.machine.topology, program, run),
        room=program.room,
    )
    return _Done(observations, time.thread_time() - started)


def _keep(future: Future[_Done], run: Run, sink: Sink, failures: list[Failure]) -> float:
    """Store the result of a run and return its CPU seconds; a failed run stops no others."""
    try:
        done = future.result()
    except AutofinityError as error:
        failures.append(Failure(run, str(error)))
        return 0.0
    sink.write(done.observations)
    return done.cpu_s
