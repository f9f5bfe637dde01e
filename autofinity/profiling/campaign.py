"""Many programs under many affinities: plan, skip what is there, run on all cores, keep at once.

    plan ──► cells ──► worker threads (the native core leaves the interpreter's lock) ──► sink

A cell is one program in one affinity with one seed. Each finished cell is written before the next
one starts, so an interruption loses at most the cells in flight.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from autofinity.affinity.enumerate import place
from autofinity.model.affinity import Affinity
from autofinity.model.errors import AutofinityError
from autofinity.model.observation import Observation
from autofinity.ports import Machine, RunRequest, Sink
from autofinity.profiling.sampling import Run, observe


@dataclass(frozen=True, slots=True)
class Subject:
    """A program to profile: what it is called and how the machine starts it."""

    program: str
    input: str
    threads: int
    request: RunRequest
    origin: str = ""
    """What its runs are made of, such as the trace's digest: when it changes, they are stale."""


@dataclass(frozen=True, slots=True)
class Target:
    """The machine to profile on, and how samples are taken there."""

    machine: Machine
    name: str
    backend: str
    clock_hz: float
    period_ns: int
    version: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One run to make."""

    subject: Subject
    run: Run


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that gave no observations, and why."""

    run: Run
    reason: str


def plan(
    subjects: Iterable[Subject], affinities: Mapping[int, Sequence[Affinity]], seeds: Sequence[int]
) -> list[Cell]:
    """All cells, one program after the other (so that one trace at a time is in memory).

    `affinities` are those of each thread count.
    """
    return [
        Cell(subject, Run(subject.program, subject.input, subject.threads, affinity, seed))
        for subject in subjects
        for affinity in affinities[subject.threads]
        for seed in seeds
    ]


def profile(
    target: Target,
    cells: Sequence[Cell],
    sink: Sink,
    workers: int,
    report: Callable[[Run, bool], None] = lambda run, fresh: None,
) -> list[Failure]:
    """Run the cells that the sink lacks; returns those that failed.

    `report(run, fresh)` is called in this thread for every cell: `fresh` is false for one that was
    there before. An interruption (`KeyboardInterrupt`) lets running cells finish and keeps them.
    """
    done = sink.done()
    todo = []
    for cell in cells:
        if cell.run.key in done:
            report(cell.run, False)
        else:
            todo.append(cell)
    failures: list[Failure] = []
    queue = deque(todo)
    running: dict[Future[list[Observation]], Run] = {}
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
                    _keep(future, run, sink, failures)
                    report(run, True)
        except KeyboardInterrupt:
            for future, run in running.items():
                _keep(future, run, sink, failures)
            raise


def _run(target: Target, cell: Cell) -> list[Observation]:
    cores = place(target.machine.topology, cell.run.affinity)
    return observe(
        target.machine,
        target.name,
        target.backend,
        target.clock_hz,
        cell.subject.request,
        cell.run,
        cores,
        target.period_ns,
        target.version,
    )


def _keep(future: Future[list[Observation]], run: Run, sink: Sink, failures: list[Failure]) -> None:
    """Write what came of a run; a run that failed does not stop the others."""
    try:
        observations = future.result()
    except AutofinityError as error:
        failures.append(Failure(run, str(error)))
        return
    sink.write(observations)
