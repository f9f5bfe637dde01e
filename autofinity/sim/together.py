"""Several programs on one simulated machine: one after the other, side by side, or repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from autofinity._core import sim as core
from autofinity._core import trace as traces
from autofinity.model.detection import Detector
from autofinity.model.placement import FIRST_TOUCH, PagePlacement
from autofinity.model.topology import OsIndex
from autofinity.sim.detecting import native_detectors
from autofinity.sim.native import machine_model
from autofinity.sim.replay import logical_pus, pus_of_streams, result_of, workers_of
from autofinity.sim.result import EVENT_INDEX, SimResult
from autofinity.sim.spec import MachineSpec

type Scheduler = Literal["bound", "os"]
"""Placement of threads: bound to the PU that they were given, or moved by the operating system's
scheduler."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """One program of a run: a trace, and the PUs and start of its threads.

    `cpus` are the PUs of its workers, one each. With more workers, and under the scheduler "os",
    they are all PUs that its threads may use. `workers` default to as many of the busiest streams
    as there are `cpus`.
    """

    trace: str | Path | traces.Trace
    cpus: tuple[OsIndex, ...]
    workers: tuple[int, ...] | None = None
    start_ns: float = 0.0
    after: bool = False
    """Begin when the program before this one has ended, whatever the value of `start_ns`."""


@dataclass(frozen=True, slots=True, eq=False)
class ProgramResult:
    """One program's region of interest. Times since the first region of the run began."""

    begin_ns: int
    end_ns: int
    totals: npt.NDArray[np.uint64]
    """Counts in the region, [streams of the program, events]."""
    workers: tuple[int, ...]

    @property
    def roi_ns(self) -> int:
        """Time of the region."""
        return self.end_ns - self.begin_ns

    def total(self, event: str) -> int:
        """Count of an event over the region and all streams."""
        column: npt.NDArray[Any] = self.totals[:, EVENT_INDEX[event]]
        return int(column.sum())


@dataclass(frozen=True, slots=True, eq=False)
class TogetherResult:
    """The whole run and each of its programs, in the order given."""

    whole: SimResult
    programs: tuple[ProgramResult, ...]


def prepare_together(runs: Sequence[ProgramRun]) -> core.Program:
    """Read the traces and make them ready for replay in address spaces of their own.

    Raises `TraceError`, and `SimulationError` for events that no replay could follow.
    """
    loaded = [
        run.trace if isinstance(run.trace, traces.Trace) else traces.read(str(run.trace))
        for run in runs
    ]
    return core.Program(loaded)


def start_together(
    spec: MachineSpec,
    program: core.Program,
    runs: Sequence[ProgramRun],
    *,
    machine: core.MachineModel | None = None,
    scheduler: Scheduler,
    restart: bool = False,
    repeats: int = 1,
    pages: PagePlacement = FIRST_TOUCH,
    detectors: Sequence[Detector] = (),
    sample_period_ns: float = 0,
    seed: int = 0,
) -> tuple[core.Simulation, list[tuple[int, ...]]]:
    """A replay of `runs`, prepared as `program`, and the workers of each by stream of the run.

    Args:
        spec: the machine.
        program: from `prepare_together`, with the same runs.
        runs: the programs.
        machine: from `machine_model(spec)`, to use it again.
        scheduler: placement of the threads; more workers than CPUs share these CPUs in any
            case.
        restart: programs that end early begin again, without counts, until the last has ended once.
        repeats: number of times that the region runs; more than one for a single program only.
        pages: nodes of pages on first touch; single nodes for a single program only.
        detectors: detectors to attach; the workers of all runs, in order, are their threads.
        sample_period_ns: simulated time between samples; 0 for one sample of the whole run.
        seed: random seed for the page colours and for the scheduler.

    Raises `CapabilityError` for detectors that sense the same, `SimulationError`,
    `PlacementError`.

    """
    pus: list[int] = []
    allowed: list[list[int]] = []
    workers_by_run = []
    for run, (first, streams) in zip(runs, program.processes, strict=True):
        workers = _workers(run, streams)
        workers_by_run.append(tuple(first + worker for worker in workers))
        if scheduler == "os" or len(workers) > len(run.cpus):
            usable = logical_pus(spec.topology, run.cpus)
            allowed += [usable] * streams
            pus += [usable[0]] * streams
        else:
            own = pus_of_streams(spec.topology, streams, run.cpus, workers)
            allowed += [[pu] for pu in own]
            pus += own
    moved = any(len(usable) > 1 for usable in allowed)
    simulation = core.Simulation(
        machine or machine_model(spec),
        program,
        pus,
        sample_period_ns=sample_period_ns,
        seed=seed,
        starts=[(run.start_ns, run.after) for run in runs],
        restart=restart,
        repeats=repeats,
        page_policy=pages.policy,
        page_table=dict(pages.nodes),
        os_pus=allowed if scheduler == "os" or moved else [],
        detectors=native_detectors(detectors),
        threads=[worker for each in workers_by_run for worker in each],
    )
    return simulation, workers_by_run


def simulate_together(
    spec: MachineSpec,
    runs: Sequence[ProgramRun],
    *,
    scheduler: Scheduler,
    restart: bool = False,
    sample_period_ns: float,
    seed: int,
    pages: PagePlacement = FIRST_TOUCH,
) -> TogetherResult:
    """Replay several programs to the end of the last one's region of interest.

    For the arguments and errors see `prepare_together` and `start_together`.
    """
    program = prepare_together(runs)
    simulation, workers = start_together(
        spec,
        program,
        runs,
        scheduler=scheduler,
        restart=restart,
        sample_period_ns=sample_period_ns,
        seed=seed,
        pages=pages,
    )
    simulation.run()
    everyone = [worker for each in workers for worker in each]
    cpus = [spec.topology.pus[simulation.pu_of(worker)].os_index for worker in everyone]
    totals = simulation.totals()
    programs = tuple(
        ProgramResult(begin, end, totals[first : first + streams], tuple(w - first for w in chosen))
        for (begin, end, _), (first, streams), chosen in zip(
            simulation.process_times_ns, program.processes, workers, strict=True
        )
    )
    return TogetherResult(result_of(simulation, cpus, everyone, spec.clock_hz), programs)


def _workers(run: ProgramRun, streams: int) -> tuple[int, ...]:
    if run.workers is not None:
        return run.workers
    if isinstance(run.trace, traces.Trace):
        return tuple(range(streams))[-len(run.cpus) :]
    return workers_of(run.trace, min(len(run.cpus), streams))
