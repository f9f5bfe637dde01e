"""`ports.Process` on a sampled trace whose region is repeated, and whose threads and pages move.

    threads or pages move ─► windows are replayed where they are now ─► the region is played on

Each place that threads and pages come to has a course of its own: how far the region is, and what
it has counted, at every moment of a repeat in this place. A move leads from one course to the same
point of the next. Windows begin with warm caches, so a move costs what it takes to fill the
last-level caches that threads came to, all at once and from the memory that is farthest away. Not
all lines are asked for again, so that most moves cost less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from autofinity.model.counters import CounterSample
from autofinity.model.errors import CapabilityError, PlacementError, SimulationError
from autofinity.model.memory import MOVED_BYTES_PER_S, MemoryByNode
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex
from autofinity.ports import Action, Interval, MovePages, Outcome, Sensors, ThreadEvent
from autofinity.sim.carried_out import carried_out
from autofinity.sim.energy import dram_j, energy_j
from autofinity.sim.likeness import Floats
from autofinity.sim.pu_choice import choose_pus
from autofinity.sim.record import Record
from autofinity.sim.result import EVENT_INDEX
from autofinity.sim.spec import LINE_BYTES, MachineSpec
from autofinity.sim.touched_memory import TouchedMemory
from autofinity.sim.window_sum import RegionEstimate

type Replay = Callable[[Sequence[OsIndex], Mapping[int, int]], RegionEstimate]
"""PU of each worker, and node of each page → the region there."""

_MOVING_NS, _MOVING = 60e6, 0.25
"""Pages that follow threads move look by look, and windows are replayed once they have come to rest
for this time, or once this share of them has moved."""
_RUNS, _HALTED = EVENT_INDEX["cycles"], EVENT_INDEX["cpu_clocks_halted"]


class RepeatedWindows:
    """A region of interest that is repeated. Threads are the trace's workers."""

    def __init__(
        self,
        replay: Replay,
        spec: MachineSpec,
        memory: TouchedMemory,
        workers: Sequence[int],
        sensors: Sensors,
        cpus: Sequence[OsIndex],
        repeats: int,
    ) -> None:
        """`replay` is called at the first `advance` after each move. Raises `CapabilityError` for
        detectors and for reads by node, `SimulationError` for less than one repeat.
        """
        if repeats < 1:
            raise SimulationError(f"got {repeats} repeats of the region, expected at least 1")
        if sensors.detectors or sensors.reads_by_node:
            raise CapabilityError(
                "windows of a sampled trace show counters only: no detector, and no reads by node; "
                "capture the program with --whole"
            )
        self._replay = replay
        self._spec = spec
        self._memory = memory
        self._workers = list(workers)
        self._counters = sensors.counters
        self._cpus = tuple(cpus)
        self._ran_on = self._cpus
        """PU of each thread when it last ran."""
        self._repeats = repeats
        self._course: Record | None = None
        self._moved = 0
        """Pages that have moved since windows were replayed."""
        self._rests_ns = 0.0
        """Time from which on these are taken for at rest."""
        self._stopped_ns = 0.0
        """Time for which the program does nothing from now on."""
        self._spent_ns: dict[str, int] = {}
        self._done = 0.0
        """Repeats of the region."""
        self._now_ns = 0.0

    def advance(self, duration_ns: int) -> Interval:
        """Let the program run for `duration_ns`, or to the end of its repeats.

        Raises `SimulationError` for a duration of 0 or less, and as replays do.
        """
        if duration_ns <= 0:
            raise SimulationError(f"got a duration of {duration_ns} ns, expected more than 0")
        course, start_ns = self._course_for(duration_ns), self._now_ns
        self._stopped_ns += refill_ns(self._spec, self._ran_on, self._cpus)
        self._ran_on = self._cpus
        stopped_ns = min(self._stopped_ns, duration_ns)
        self._stopped_ns -= stopped_ns
        from_ns, end_ns = course.when(self._done), course.when(self._repeats)
        # In this order a program that stops for all of the time stays exactly where it is.
        until_ns = min(from_ns + (duration_ns - stopped_ns), end_ns)
        _, before = course.until(from_ns)
        done, sums = course.until(until_ns)
        first = self._now_ns == 0.0
        ended = until_ns >= end_ns
        if ended:
            self._done = float(self._repeats)
        elif until_ns > from_ns:
            self._done = max(self._done, done)
        self._now_ns += stopped_ns + until_ns - from_ns
        return self._interval(course, sums - before, start_ns, ended=ended, first=first)

    def _course_for(self, duration_ns: int) -> Record:
        """The course here, or while pages move the one of a short time ago."""
        some = self._moved < _MOVING * self._memory.n_pages
        moving = some and self._now_ns + duration_ns < self._rests_ns
        if self._course is None or (self._moved and not moving):
            whole = self._replay(self._cpus, self._memory.nodes_by_page())
            self._course, self._moved = _record_of(whole, self._workers, self._counters), 0
        return self._course

    def _interval(
        self, course: Record, sums: Floats, start_ns: float, *, ended: bool, first: bool
    ) -> Interval:
        start, end = round(start_ns), round(self._now_ns)
        threads = range(len(self._workers))
        events = tuple(ThreadEvent("begin", t, t, start) for t in threads) if first else ()
        if ended:
            events += tuple(ThreadEvent("end", t, t, end) for t in threads)
        machine = dict(zip(EVENT_INDEX, sums[-len(EVENT_INDEX) :].tolist(), strict=True))
        own = np.rint(sums[: -len(EVENT_INDEX)]).astype(np.int64).reshape(len(threads), -1)
        prices, spent_ns = self._spec.energy, self._spent_ns
        self._spent_ns = {}
        return Interval(
            start,
            end,
            tuple(
                CounterSample(
                    tid=thread,
                    start_ns=start,
                    end_ns=end,
                    counts=dict(zip(self._counters, counts, strict=True)),
                    enabled_ns=end - start,
                    running_ns=end - start,
                )
                for thread, counts in enumerate(own.tolist())
            ),
            events,
            progress=self._done / self._repeats,
            ended=ended,
            energy_j=energy_j(self._spec, machine, (end - start) / 1e9),
            dram_energy_j=dram_j(prices, machine) if prices is not None else math.nan,
            cpus=self._cpus,
            runnable=0 if ended else course.runnable_at(course.when(self._done)),
            resident_bytes=float(self._memory.total_bytes),
            overhead_ns=spent_ns,
        )

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Bind threads, move pages and spend time now; costs as `SimProcess.apply`, but that all
        threads share the time that one spends, as barriers share it.

        Raises `PlacementError`, and `SimulationError` for a node without memory or an unknown
        thread.
        """
        return carried_out(actions, self._bind, self._move, self._spend)

    def memory(self) -> MemoryByNode:
        """Memory of all pages that the program touches."""
        return self._memory.by_node(self._spec.topology.n_nodes)

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        """Numbers of the pages on a logical node, some at a time."""
        return self._memory.pages_on(node, one_in)

    def _spend(self, kind: str, duration_ns: int, thread: int) -> None:
        if not 0 <= thread < len(self._workers):
            raise SimulationError(f"got thread {thread}; there are {len(self._workers)}")
        self._stopped_ns += duration_ns / len(self._workers)
        self._spent_ns[kind] = self._spent_ns.get(kind, 0) + duration_ns

    def _bind(self, placement: Placement) -> int:
        if len(placement.masks) != len(self._workers):
            raise PlacementError(
                f"got {len(placement.masks)} masks for {len(self._workers)} threads"
            )
        cpus = choose_pus(placement, self._spec.topology, self._cpus)
        if cpus != self._cpus:
            self._cpus, self._course = cpus, None
        return len(cpus)

    def _move(self, action: MovePages) -> tuple[int, int]:
        for node in set(action.nodes) - set(self._spec.home_nodes):
            raise SimulationError(f"no node {node} with memory to move pages to")
        moved = self._memory.move(action.pages, action.nodes)
        if moved and self._course is not None:
            # Less than a repeat: so nobody takes the old course for that of two repeats.
            self._moved += moved
            self._rests_ns = self._now_ns + min(_MOVING_NS, self._course.length_ns / 2)
        return moved, round(moved * self._spec.page_bytes / MOVED_BYTES_PER_S * 1e9)


def refill_ns(spec: MachineSpec, before: Sequence[OsIndex], after: Sequence[OsIndex]) -> float:
    """Time in which threads that move fill the last-level caches that they come to."""
    pus, bandwidth = spec.topology.by_os_index, spec.bandwidth
    come = [
        pus[cpu].llc for old, cpu in zip(before, after, strict=True) if pus[old].llc != pus[cpu].llc
    ]
    if not come:
        return 0.0
    filled_bytes = spec.llc.size_bytes * len(set(come))
    core_gbs = LINE_BYTES * spec.core.misses_in_flight / max(spec.latency.dram)
    path_gbs = bandwidth.fabric_gbs or math.inf
    each = max(spec.llc.size_bytes / min(path_gbs, come.count(llc) * core_gbs) for llc in set(come))
    # Pages may all be on one node.
    return max(each, filled_bytes / (max(bandwidth.memory_gbs) or math.inf))


def _record_of(whole: RegionEstimate, workers: Sequence[int], counters: Sequence[str]) -> Record:
    """A repeat in one place. Sums are the counts of each worker, worker by worker, then all events
    of all streams.
    """
    columns = [EVENT_INDEX[name] for name in counters]
    course, stretch = whole.course, whole.course.stretch
    work = np.bincount(stretch, course.share, minlength=len(whole.windows))
    with np.errstate(divide="ignore", invalid="ignore"):
        of_stretch = np.where(
            whole.stretch_ns[stretch] > 0,
            course.ns / whole.stretch_ns[stretch],
            np.where(work[stretch] > 0, course.share / work[stretch], 0.0),
        )
    own = whole.counts[:, workers][:, :, columns].reshape(len(whole.windows), -1)
    counts = np.hstack([own, whole.counts.sum(axis=1)])
    runs, halted = (whole.counts[:, workers, each] for each in (_RUNS, _HALTED))
    at_work = np.rint((runs / np.maximum(runs + halted, 1.0)).sum(axis=1)).astype(np.int64)
    return Record(
        _from_zero(course.ns),
        np.append(_from_zero(course.share)[:-1], 1.0),
        _from_zero(of_stretch[:, None] * counts[stretch]),
        np.append(at_work[stretch], at_work[stretch][-1:]),
    )


def _from_zero(parts: Floats) -> Floats:
    """Sums of the parts before each mark."""
    sums: Floats = np.concatenate([np.zeros((1, *parts.shape[1:])), np.cumsum(parts, axis=0)])
    return sums
