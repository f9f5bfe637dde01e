"""One program, placed once: run the program to its end and make an observation of every sample
period.

The loop is the same for every machine behind the port: `advance` steps the simulator and sleeps on
Linux.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autofinity.model.affinity import Affinity
from autofinity.model.counters import Behaviour
from autofinity.model.errors import SimulationError
from autofinity.model.observation import Observation, PlacedBy, Workload
from autofinity.model.placement import Placement
from autofinity.ports import BindThreads, Interval, Machine, RunKey, RunRequest, Sensors
from autofinity.profiling.target import Target

NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Run:
    """A program in a placement: one cell of a profiling campaign."""

    program: str
    input: str
    threads: int
    affinity: Affinity
    seed: int
    placement: PlacedBy = "affinity"

    @property
    def workload(self) -> Workload:
        """Workload that the run belongs to."""
        return Workload(self.program, self.input, self.threads)

    @property
    def key(self) -> RunKey:
        """Key of the run, as in `Sink.done`."""
        affinity = str(self.affinity)
        return (self.program, self.input, self.threads, self.placement, affinity, self.seed)


@dataclass(frozen=True, slots=True)
class Switch:
    """New binding of the threads in the middle of a run."""

    after_periods: int
    placement: Placement


def behaviour_of(interval: Interval, threads: int) -> Behaviour:
    """Counts per thread and second (paper, section 3.1), and the ratios that carry over.

    Counts of all threads are summed before the division by `threads`, so a waiting thread lowers
    the rates.
    """
    seconds = (interval.end_ns - interval.start_ns) / NS_PER_S
    totals: dict[str, float] = {}
    for sample in interval.samples:
        for event in sample.counts:
            totals[event] = totals.get(event, 0.0) + sample.scaled(event)
    scale = 1.0 / (threads * seconds) if seconds > 0 else float("nan")
    return Behaviour({event: count * scale for event, count in totals.items()})


def performance_of(behaviour: Behaviour, clock_hz: float) -> float:
    """Instructions per elapsed cycle and thread: the default metric.

    Cycles are elapsed, not unhalted, ones: a thread that waits makes no progress, and the metric
    has to fall with the rate at which the program advances (the paper calls the metric instructions
    per second).
    """
    return behaviour["instructions"] / clock_hz


def intervals(
    machine: Machine,
    request: RunRequest,
    placement: Placement | None,
    period_ns: int,
    seed: int,
    switches: Sequence[Switch] = (),
) -> Iterator[Interval]:
    """Every full sample period of the region of interest, then the last, shorter period."""
    process = machine.start(request, placement, Sensors(tuple(machine.events())), seed)
    for number in itertools.count(1):
        interval = process.advance(period_ns)
        yield interval
        if interval.ended:
            return
        for switch in switches:
            if number == switch.after_periods:
                process.apply([BindThreads(switch.placement)])


def observe(
    target: Target,
    request: RunRequest,
    run: Run,
    placement: Placement | None,
    switches: Sequence[Switch] = (),
    *,
    room: int = 0,
) -> list[Observation]:
    """Run once in a placement; return one observation for each sample period.

    Counts are per thread, for as many threads as there is `room` for; 0: for all threads.

    The last period is kept only when it is at least half a period long: shorter ones are noise.
    Raises `SimulationError` when the program ended before one period was over.
    """
    period_ns = target.period_ns
    seen: list[tuple[Interval, Behaviour]] = []
    start_ns: int | None = None
    end_ns = 0
    energy_j = 0.0
    for interval in intervals(target.machine, request, placement, period_ns, run.seed, switches):
        start_ns = interval.start_ns if start_ns is None else start_ns
        end_ns = interval.end_ns
        energy_j += interval.energy_j
        if interval.end_ns - interval.start_ns >= period_ns // 2:
            seen.append((interval, behaviour_of(interval, room or run.threads)))
    if not seen or start_ns is None:
        raise SimulationError(
            f"the program ended before one sample period of {period_ns / 1e6:.3f} ms was over; use "
            "a larger input or a shorter --period"
        )
    roi_s = (end_ns - start_ns) / NS_PER_S
    return [
        Observation(
            program=run.program,
            input=run.input,
            threads=run.threads,
            affinity=run.affinity,
            sample=index,
            progress=_middle(seen, index),
            behaviour=behaviour,
            performance=performance_of(behaviour, target.clock_hz),
            roi_s=roi_s,
            machine=target.name,
            backend=target.backend,
            seed=run.seed,
            version=target.version,
            energy_j=None if math.isnan(energy_j) else energy_j,
            placement=run.placement,
        )
        for index, (_, behaviour) in enumerate(seen)
    ]


def _middle(seen: list[tuple[Interval, Behaviour]], index: int) -> float:
    """Share of the ROI's work done at the middle of period `index`."""
    before = seen[index - 1][0].progress if index else 0.0
    return (before + seen[index][0].progress) / 2
