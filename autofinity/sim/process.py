"""`ports.Process` on a replay: step it, read it, bind its threads and move its pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from autofinity._core import sim as core
from autofinity.model.counters import CounterSample
from autofinity.model.errors import PlacementError, SimulationError
from autofinity.model.memory import MemoryByNode
from autofinity.model.placement import Placement
from autofinity.model.sharing import process_and_page
from autofinity.model.topology import OsIndex
from autofinity.ports import Action, Interval, MovePages, Outcome, Sensors, ThreadEvent
from autofinity.sim.carried_out import carried_out
from autofinity.sim.detecting import Senses
from autofinity.sim.energy import dram_j, energy_j
from autofinity.sim.pu_choice import choose_pus, shares
from autofinity.sim.result import EVENT_INDEX
from autofinity.sim.spec import MachineSpec
from autofinity.sim.touched_memory import some_at_a_time

_FAULTS = EVENT_INDEX["page_faults"]


class _Reads:
    """Lines that threads read from memory, by logical node."""

    def __init__(self, simulation: core.Simulation, workers: Sequence[int]) -> None:
        self._simulation = simulation
        self._workers = list(workers)
        self._before = self._now()

    def since_last(self) -> tuple[tuple[int, ...], ...]:
        """Lines by thread and node since the last call."""
        now, before = self._now(), self._before
        self._before = now
        return tuple(tuple(each) for each in (now - before).tolist())

    def _now(self) -> npt.NDArray[np.int64]:
        return self._simulation.reads_by_node()[self._workers].astype(np.int64)


class SimProcess:
    """A replay in progress. Threads are the trace's workers, numbered in creation order.

    The result of `advance` covers the workers only: helper streams (a main thread that waits) run
    on the first worker's PU and are no threads of the placement.
    """

    def __init__(
        self,
        simulation: core.Simulation,
        spec: MachineSpec,
        workers: Sequence[int],
        sensors: Sensors,
        *,
        scheduled: bool = False,
    ) -> None:
        """`scheduled`: a scheduler moves those threads that are not bound."""
        self._scheduled = scheduled
        self._simulation = simulation
        self._spec = spec
        self._topology = spec.topology
        self._position = {pu.os_index: index for index, pu in enumerate(spec.topology.pus)}
        self._workers = tuple(workers)
        self._everyone = frozenset(workers)
        self._counters = sensors.counters
        self._columns = [EVENT_INDEX[name] for name in sensors.counters]
        self._reads = _Reads(simulation, self._workers) if sensors.reads_by_node else None
        self._senses = Senses(sensors.detectors, spec.page_bytes, spec.topology)
        self._spent_ns: dict[str, int] = {}
        self._before: list[list[int]] | None = None
        self._energy_j = self._dram_j = 0.0

    def advance(self, duration_ns: int) -> Interval:
        """Step `duration_ns` of simulated time (or to the end of the region of interest).

        Raises `SimulationError` for a duration of 0 or less.
        """
        if duration_ns <= 0:
            raise SimulationError(f"got a duration of {duration_ns} ns, expected more than 0")
        start_ns = self._simulation.elapsed_ns
        first = self._before is None
        ended = self._simulation.advance(duration_ns)
        end_ns = self._simulation.elapsed_ns
        totals = self._simulation.totals()
        energy, dram = self._energy_since(totals, end_ns)
        threads = range(len(self._workers))
        events = tuple(ThreadEvent("begin", t, t, start_ns) for t in threads) if first else ()
        if ended:
            events += tuple(ThreadEvent("end", t, t, end_ns) for t in threads)
        return Interval(
            start_ns,
            end_ns,
            self._samples(totals, start_ns, end_ns),
            events,
            progress=self._simulation.progress,
            ended=ended,
            energy_j=energy,
            dram_energy_j=dram,
            sharing=self._senses.sharing(self._simulation),
            pages=self._senses.pages(self._simulation),
            cpus=self._cpus,
            triggers=self._senses.triggers(self._simulation),
            detection_accesses=self._senses.accesses(self._simulation),
            runnable=len(self._everyone.intersection(self._simulation.runnable)),
            reads_by_node=self._reads.since_last() if self._reads is not None else (),
            resident_bytes=float(self._spec.page_bytes * totals[:, _FAULTS].sum()),
            overhead_ns=self._take_overhead(),
        )

    @property
    def _cpus(self) -> tuple[OsIndex, ...]:
        """PU where each thread runs."""
        pus = self._topology.pus
        return tuple(pus[self._simulation.pu_of(worker)].os_index for worker in self._workers)

    def _samples(
        self, totals: npt.NDArray[np.uint64], start_ns: int, end_ns: int
    ) -> tuple[CounterSample, ...]:
        """Counts of each worker since the last call; `totals` has one row for each stream."""
        counted: list[list[int]] = totals[list(self._workers)][:, self._columns].tolist()
        before = self._before or [[0] * len(self._columns) for _ in self._workers]
        self._before = counted
        # A burst that another core interrupts is counted again: a count can shrink by a few.
        return tuple(
            CounterSample(
                tid=thread,
                start_ns=start_ns,
                end_ns=end_ns,
                counts={
                    name: max(0, new - old)
                    for name, new, old in zip(self._counters, now, then, strict=True)
                },
                enabled_ns=end_ns - start_ns,
                running_ns=end_ns - start_ns,
            )
            for thread, (now, then) in enumerate(zip(counted, before, strict=True))
        )

    def _energy_since(self, totals: npt.NDArray[np.uint64], end_ns: int) -> tuple[float, float]:
        """Joules of the whole machine since the last call, and of its memory alone."""
        whole = dict(zip(EVENT_INDEX, totals.sum(axis=0).tolist(), strict=True))
        before, self._energy_j = self._energy_j, energy_j(self._spec, whole, end_ns / 1e9)
        if self._spec.energy is None:
            return self._energy_j - before, math.nan
        dram_before, self._dram_j = self._dram_j, dram_j(self._spec.energy, whole)
        return self._energy_j - before, self._dram_j - dram_before

    def _take_overhead(self) -> dict[str, int]:
        spent, self._spent_ns = self._spent_ns, {}
        for kind, time_ns in self._simulation.take_overhead_ns().items():
            spent[kind] = spent.get(kind, 0) + time_ns
        return spent

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Bind threads, move pages and spend time now (`carried_out`).

        Threads on cores whose TLBs had the pages pay for the interrupts themselves. All these times
        are in the next interval's `overhead_ns`.

        Raises `PlacementError`, and `SimulationError` for a node without memory or an unknown
        thread.
        """
        return carried_out(actions, self._bind, self._move, self._spend)

    def memory(self) -> MemoryByNode:
        """Memory of all pages that were touched, those of all programs together."""
        _, nodes = self._simulation.touched_pages()
        count = np.bincount(nodes, minlength=self._topology.n_nodes)
        return MemoryByNode(tuple((count * self._spec.page_bytes).tolist()))

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        """Numbers of the touched pages on a logical node, some at a time."""
        pages, nodes = self._simulation.touched_pages()  # in the order of first touches
        found: list[int] = np.sort(pages[nodes == node]).tolist()
        return some_at_a_time(found, one_in)

    def _spend(self, kind: str, duration_ns: int, thread: int) -> None:
        if not 0 <= thread < len(self._workers):
            raise SimulationError(f"got thread {thread}; there are {len(self._workers)}")
        self._simulation.spend(self._workers[thread], duration_ns)
        self._spent_ns[kind] = self._spent_ns.get(kind, 0) + duration_ns

    def _bind(self, placement: Placement) -> int:
        if len(placement.masks) != len(self._workers):
            raise PlacementError(
                f"got {len(placement.masks)} masks for {len(self._workers)} threads"
            )
        if self._scheduled and shares(placement):
            for worker, mask in zip(self._workers, placement.masks, strict=True):
                usable = sorted(mask & self._topology.allowed)
                self._simulation.confine(worker, [self._position[cpu] for cpu in usable])
            return len(self._workers)
        cpus = choose_pus(placement, self._topology, self._cpus)
        for worker, cpu in zip(self._workers, cpus, strict=True):
            self._simulation.bind(worker, self._position[cpu], stay=True)
        return len(self._workers)

    def _move(self, action: MovePages) -> tuple[int, int]:
        """Move pages; the core identifies a larger page by any of its 4 KiB parts, and moves it
        whole.
        """
        moved, cost_ns = 0, 0
        for page, node in zip(action.pages, action.nodes, strict=True):
            if page < 0:
                raise SimulationError(f"got page {page}; expected an address over 4096")
            process, number = process_and_page(page)
            ns = self._simulation.move_page(number, node, process)
            moved += ns > 0
            cost_ns += ns
        return moved, cost_ns
