"""A sampled trace, and its replay in one placement: windows are timed until the error is small.

Windows are independent, and the result is the same for any number of workers: the results of
earlier batches decide each batch. Any first few windows of the order represent the region as well
as that number can.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from autofinity._core import sim as core
from autofinity._core import trace as traces
from autofinity.free_memory import free_bytes
from autofinity.model.errors import SimulationError, TraceError
from autofinity.model.topology import OsIndex
from autofinity.sim.likeness import Intervals, covering_order, streams_at_work
from autofinity.sim.native import machine_model
from autofinity.sim.replay import pus_of_streams
from autofinity.sim.result import EVENT_INDEX, SimResult
from autofinity.sim.sampled_window import Pages, WindowResult, replay_window
from autofinity.sim.skeleton import Skeleton
from autofinity.sim.spec import MachineSpec
from autofinity.sim.window_sum import (
    RegionEstimate,
    RegionWork,
    TimedWindow,
    WorkLine,
    estimate,
)

AHEAD = 400_000
"""Work within which every thread of a capture that can go on is active: eight threads that may be
50,000 accesses ahead of each other (`CaptureRequest.ahead`) take turns on fewer cores."""
KEPT_BYTES = 5 << 29
"""Most bytes of prepared windows that stay in memory for the next placement, at most a quarter of
what is free. The first windows stay: all placements take windows in the same order, so that the
latest one would be the last to come again."""


type EachWindow = Callable[[Sequence[int]], list[TimedWindow]]
"""Numbers of windows → the windows, timed, in this order."""


@dataclass(frozen=True, slots=True)
class Precision:
    """Number of windows that are timed."""

    error: float = 0.01
    """Relative standard error of the time below which no more windows are taken."""
    at_least: int = 16
    """Least number of windows that are timed, where there are so many."""
    jobs: int = 1
    """Number of windows that are replayed side by side."""


class SampledProgram:
    """A sampled trace, read once. Safe to use from several threads; keeps prepared windows."""

    def __init__(self, directory: str | Path) -> None:
        """Raises `TraceError` for damaged files, `SimulationError` where there is no window."""
        self._trace = traces.read_sampled(str(directory))
        _require_region(self._trace, Path(directory))
        self._lock = threading.Lock()
        self._kept: dict[int, core.Program] = {}
        self._kept_bytes = 0
        self._most_bytes = min(KEPT_BYTES, free_bytes() // 4)
        self.region = _region_of(self._trace)
        events = self._trace.skeleton()
        self.skeleton = None if events is None else Skeleton(events, self._trace.interval_work)
        self.order = covering_order(self.region.intervals, self.region.window_work)
        """Numbers of the windows: any first few represent the region as well as that number can."""

    @property
    def streams(self) -> int:
        """Threads of the trace, helpers included."""
        return self._trace.streams

    @property
    def pages(self) -> dict[str, npt.NDArray[Any]]:
        """Runs of pages by first touch: `first_page` (of 4 KiB), `pages`, `stream`."""
        return self._trace.pages

    def window(self, number: int) -> core.Program:
        """A window, ready for any number of replays. Raises `TraceError`, `SimulationError`."""
        with self._lock:
            found = self._kept.get(number)
        if found is not None:
            return found
        made = core.Program.read_window(self._trace, number)
        with self._lock:
            if number not in self._kept and self._kept_bytes + made.size_bytes <= self._most_bytes:
                self._kept[number] = made
                self._kept_bytes += made.size_bytes
        return made


def _require_region(trace: traces.SampledTrace, directory: Path) -> None:
    if len(trace.windows["work_begin"]) == 0:
        raise SimulationError(
            "the sampled trace holds no window: its region of interest is too short to be sampled; "
            "capture it with --whole"
        )
    work = trace.meetings["work"]
    if len(work) < 2 or work[0] == work[-1] or len(trace.intervals["writes"]) == 0:
        raise TraceError(
            f"damaged trace: {directory / 'windows.afs'} at offset 0: the region of interest of "
            "these windows has no begin, no end or no work; capture the program again"
        )


def _region_of(trace: traces.SampledTrace) -> RegionWork:
    windows, meetings = trace.windows, trace.meetings
    work = np.concatenate([meetings["work"], windows["work_begin"], windows["work_end"]])
    done = np.concatenate(
        [meetings["instructions"], windows["instructions_begin"], windows["instructions_end"]]
    ).astype(np.float64)
    order = np.argsort(work, kind="stable")
    # Between two meetings the host decides which thread is ahead.
    met = WorkLine(meetings["work"].astype(np.float64), meetings["instructions"].astype(np.float64))
    edges = np.arange(len(trace.intervals["writes"]) + 1, dtype=np.float64) * trace.interval_work
    return RegionWork(
        WorkLine(work[order].astype(np.float64), np.maximum.accumulate(done[order], axis=0)),
        np.stack([windows["work_begin"], windows["work_end"]], axis=1).astype(np.float64),
        meetings["work"].astype(np.float64),
        meetings["met"].astype(np.float64),
        Intervals.of(
            float(trace.interval_work),
            trace.intervals["touches"].astype(np.float64),
            trace.intervals["writes"].astype(np.float64),
            trace.intervals["instructions"].astype(np.float64),
            streams_at_work(trace.intervals["who"], AHEAD / trace.interval_work),
            met.parts(edges),
        ),
    )


def timed_window(
    spec: MachineSpec,
    machine: core.MachineModel,
    program: SampledProgram,
    number: int,
    pus: Sequence[int],
    seed: int,
    pages: Pages,
) -> TimedWindow:
    """Replay one window; `machine`: from `machine_model(spec)`, others as for `replay_sampled`."""
    found = replay_window(machine, program.window(number), pus, seed=seed, pages=pages)
    return timed_by(spec, number, pus, found)


def timed_by(
    spec: MachineSpec, number: int, pus: Sequence[int], found: WindowResult
) -> TimedWindow:
    """The times of a window as its replay found them. `pus`: logical PU of each stream."""
    idle_ns = found.barrier_wait_ns + found.after_end_ns
    # Each kind of core counts its own clocks.
    ghz = np.array([spec.ghz_of(pu) for pu in pus])
    waiting_ns = found.totals[:, EVENT_INDEX["stall_cycles_sync"]] / ghz
    blocked_ns = np.maximum(waiting_ns - idle_ns, 0.0)
    return TimedWindow(number, found.time_ns, found.totals, idle_ns, blocked_ns)


def replay_sampled(
    spec: MachineSpec,
    program: SampledProgram,
    pus: Sequence[int],
    *,
    seed: int,
    pages: Pages | None,
    precision: Precision,
    timed: EachWindow | None = None,
) -> RegionEstimate:
    """Time windows in one placement until the error is small enough or all are timed, and add them
    up.

    `pus`: logical PU of each stream. `timed`: how windows are timed elsewhere; None: here, with
    `seed` and `pages`. Raises `TraceError`, `SimulationError`.
    """
    if timed is None:
        one = partial(
            timed_window,
            spec,
            machine_model(spec),
            program,
            pus=pus,
            seed=seed,
            pages=pages or Pages(),
        )
        timed = partial(_each, one, jobs=precision.jobs)
    found: list[TimedWindow] = []
    wanted = max(2, precision.at_least)
    while True:
        found += timed(program.order[len(found) : wanted])
        whole = estimate(program.region, found)
        if whole.error <= precision.error or len(found) == len(program.order):
            break
        wanted = 2 * len(found)
    if program.skeleton is None:
        return whole
    return whole.lasting(program.skeleton.roi_ns(spec, pus, whole))


def _each(
    timed: Callable[[int], TimedWindow], numbers: Sequence[int], jobs: int
) -> list[TimedWindow]:
    if jobs == 1:  # in this thread, whose CPU time is counted
        return [timed(number) for number in numbers]
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        return list(pool.map(timed, numbers))


def simulate_sampled(
    spec: MachineSpec,
    program: SampledProgram,
    cpus: Sequence[OsIndex],
    *,
    workers: Sequence[int],
    seed: int,
    pages: Pages | None = None,
    precision: Precision,
) -> SimResult:
    """Simulate as `autofinity.sim.replay.simulate` does; each window's stretch is a sample.

    `cpus`: PU (OS index) of each worker; other streams share the first. Raises `TraceError`,
    `PlacementError`, `SimulationError`.
    """
    pus = pus_of_streams(spec.topology, program.streams, cpus, workers)
    whole = replay_sampled(spec, program, pus, seed=seed, pages=pages, precision=precision)
    ends_ns = np.cumsum(whole.stretch_ns)
    times_ns = np.stack([ends_ns - whole.stretch_ns, ends_ns], axis=1)
    return SimResult(
        roi_ns=round(whole.roi_ns),
        totals=np.rint(whole.totals).astype(np.uint64),
        samples=np.rint(whole.counts).astype(np.uint64),
        times_ns=np.rint(times_ns).astype(np.uint64),
        progress=whole.progress,
        workers=tuple(workers),
        cpus=tuple(cpus),
        clock_hz=spec.clock_hz,
        error=whole.error,
        misfits=whole.misfits,
    )
