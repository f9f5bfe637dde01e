"""Many programs, placed in many ways: plan, skip existing runs, run on all cores, store each run at
once.

    plan ──► cells ──► pool: threads here, or workers on other machines ──► sink

A cell is one program, placed in one way, with one seed. Each finished cell is written before the
next one starts, so an interruption loses at most the cells in flight.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace

from autofinity.affinity.enumerate import place
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import SPREAD, Affinity
from autofinity.model.errors import AutofinityError, ClusterError
from autofinity.model.observation import Observation, PlacedBy, Workload
from autofinity.model.topology import Topology
from autofinity.ports import Done, Pool, RunRequest, Sink
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
from autofinity.profiling.target import Target

_SLOTS_S = 1.0
"""Longest time until new workers of a pool get something to do."""


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

    @property
    def traces(self) -> tuple[str, ...]:
        """Folders of its traces, where it is captured."""
        return (self.request.program, *self.request.beside)

    def at(self, folders: Mapping[str, str]) -> ReadyProgram:
        """The program with its traces in other folders, by their present ones."""
        program, *beside = (folders[trace] for trace in self.traces)
        return replace(self, request=replace(self.request, program=program, beside=tuple(beside)))


@dataclass(frozen=True, slots=True)
class Cell:
    """One run to make: a task of a pool."""

    program: ReadyProgram
    run: Run

    @property
    def label(self) -> str:
        """Name of the run for people."""
        run = self.run
        if run.placement == "affinity":
            return f"{run.program} {run.affinity}"
        return f"{run.program} {run.placement} {run.affinity}".rstrip()

    @property
    def traces(self) -> tuple[str, ...]:
        """Folders of the program's traces."""
        return self.program.traces

    @property
    def hands_out(self) -> bool:
        """Whether the machine gives its windows to the pool, one by one."""
        return self.program.sampled

    def work(self, target: Target, folders: Mapping[str, str]) -> list[Observation]:
        """Make the run. Raises the errors of `observe`."""
        machine, run, program = target.machine, self.run, self.program.at(folders)
        placement = placement_of(
            machine.topology, run.placement, run.affinity, program.placed, run.seed
        )
        return observe(
            target,
            replace(program.request, threads=program.running),
            run,
            placement if placement is None else shared(placement, program.running),
            _switches_of(machine.topology, program, run),
            room=program.room,
        )


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
    """Cells that begin spread and switch to the best match of each other hint.

    They switch at once and by way of a second look. A sampled program has none: its threads stay
    where they are.
    """
    found = []
    for program in programs:
        if program.sampled:
            continue
        start, probe = (
            get_affinity(topology, program.placed, hint).affinity for hint in (SPREAD, PROBE)
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
    pool: Pool,
    report: Callable[[Cell, float | None], None] = lambda cell, cpu_s: None,
) -> list[Failure]:
    """Run the cells that the sink lacks; return those that failed.

    `report(cell, cpu_s)` is called in this thread for every cell, with the CPU seconds of its run;
    None for a run that was there before. An interruption (`KeyboardInterrupt`) lets running cells
    finish and stores them. Raises `ClusterError` when the pool cannot go on.
    """
    done = sink.done()
    todo = []
    for cell in cells:
        if cell.run.key in done:
            report(cell, None)
        else:
            todo.append(cell)
    failures: list[Failure] = []
    queue = deque(todo)
    running: dict[Future[Done[list[Observation]]], Cell] = {}
    try:
        while True:
            while queue and len(running) < pool.slots():
                cell = queue.popleft()
                running[pool.submit(target, cell)] = cell
            if not running:
                return failures
            finished, _ = wait(running, _SLOTS_S, return_when=FIRST_COMPLETED)
            for future in finished:
                cell = running.pop(future)
                report(cell, _keep(future, cell.run, sink, failures))
    except KeyboardInterrupt:
        for future, cell in running.items():
            _keep(future, cell.run, sink, failures)
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


def _keep(
    future: Future[Done[list[Observation]]], run: Run, sink: Sink, failures: list[Failure]
) -> float:
    """Store the result of a run and return its CPU seconds; a failed run stops no others."""
    try:
        done = future.result()
    except ClusterError:
        raise
    except AutofinityError as error:
        failures.append(Failure(run, str(error)))
        return 0.0
    sink.write(done.result)
    return done.cpu_s
