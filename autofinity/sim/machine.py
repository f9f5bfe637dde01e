"""The Machine port over the simulator: a `program` is a trace directory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from autofinity._core import sim as core
from autofinity.model.counters import CounterSample
from autofinity.model.errors import CapabilityError, PlacementError, SimulationError
from autofinity.model.placement import FIRST_TOUCH, PagePlacement, Placement
from autofinity.model.sharing import process_and_page
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import (
    Action,
    BindThreads,
    Interval,
    MovePages,
    Outcome,
    RunRequest,
    Sensors,
    SpendTime,
    ThreadEvent,
)
from autofinity.sim.detecting import Senses, native_detectors
from autofinity.sim.energy import energy_j
from autofinity.sim.events import EVENTS
from autofinity.sim.native import native_machine
from autofinity.sim.preset import load_preset
from autofinity.sim.private_stage import PrivateStages, Verdict
from autofinity.sim.replay import load_program, pus_of_streams, workers_of
from autofinity.sim.result import EVENT_INDEX
from autofinity.sim.spec import MachineSpec
from autofinity.sim.together import (
    ProgramRun,
    Scheduler,
    SharedPages,
    prepare_together,
    start_together,
)


def choose_pus(placement: Placement, topology: Topology) -> tuple[OsIndex, ...]:
    """One PU a thread: the lowest allowed one of its mask that no earlier thread has.

    A thread whose whole mask is taken shares the PU of its mask with fewest threads (the lowest of
    these). Raises `PlacementError` for a mask without an allowed PU.
    """
    load: dict[OsIndex, int] = {}
    chosen = []
    for thread, mask in enumerate(placement.masks):
        allowed = sorted(mask & topology.allowed)
        if not allowed:
            raise PlacementError(
                f"thread {thread} may run on {sorted(mask) or 'no PU'}; none of these is allowed "
                f"on {topology.name}"
            )
        cpu = min(allowed, key=lambda c: (load.get(c, 0), c))
        load[cpu] = load.get(cpu, 0) + 1
        chosen.append(cpu)
    return tuple(chosen)


class SimProcess:
    """A replay in progress. Threads are the trace's workers, numbered in creation order.

    What a call of `advance` returns covers the workers only: helper streams (a main thread that
    waits) run on the first worker's PU and are no threads of the placement.

    `full` replays the full stream: where the process is a replay of a private stage, it takes over
    as soon as an action or an error asks for more than the stage can tell.
    """

    def __init__(
        self,
        simulation: core.Simulation,
        spec: MachineSpec,
        workers: Sequence[int],
        sensors: Sensors,
        full: Callable[[], core.Simulation] | None = None,
    ) -> None:
        self._simulation = simulation
        self._full = full
        self._spec = spec
        self._topology = spec.topology
        self._position = {pu.os_index: index for index, pu in enumerate(spec.topology.pus)}
        self._workers = tuple(workers)
        self._counters = sensors.counters
        self._columns = [EVENT_INDEX[name] for name in sensors.counters]
        self._senses = Senses(sensors.detectors, spec.page_bytes)
        self._spent_ns: dict[str, int] = {}
        self._before: list[list[int]] | None = None
        self._energy_j = 0.0

    def advance(self, duration_ns: int) -> Interval:
        """Step `duration_ns` of simulated time (or to the end of the region of interest)."""
        if duration_ns <= 0:
            raise SimulationError(f"got a duration of {duration_ns} ns, expected more than 0")
        start_ns = self._simulation.elapsed_ns
        first = self._before is None
        ended = self._advance(duration_ns)
        end_ns = self._simulation.elapsed_ns
        everything = self._simulation.totals()
        totals: list[list[int]] = everything[list(self._workers)][:, self._columns].tolist()
        whole = dict(zip(EVENT_INDEX, everything.sum(axis=0).tolist(), strict=True))
        energy_before, self._energy_j = (
            self._energy_j,
            energy_j(self._spec, whole, end_ns / 1e9),
        )
        before = self._before or [[0] * len(self._columns) for _ in self._workers]
        self._before = totals
        # A run that another core interrupts is counted again: a count can shrink by a few.
        samples = tuple(
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
            for thread, (now, then) in enumerate(zip(totals, before, strict=True))
        )
        threads = range(len(self._workers))
        events = tuple(ThreadEvent("begin", t, t, start_ns) for t in threads) if first else ()
        if ended:
            events += tuple(ThreadEvent("end", t, t, end_ns) for t in threads)
        return Interval(
            start_ns,
            end_ns,
            samples,
            events,
            progress=self._simulation.progress,
            ended=ended,
            energy_j=self._energy_j - energy_before,
            sharing=self._senses.sharing(self._simulation),
            pages=self._senses.pages(self._simulation),
            cpus=tuple(
                self._topology.pus[self._simulation.pu_of(worker)].os_index
                for worker in self._workers
            ),
            triggers=self._senses.triggers(self._simulation),
            overhead_ns=self._take_overhead(),
        )

    def _take_overhead(self) -> dict[str, int]:
        spent, self._spent_ns = self._spent_ns, {}
        for kind, time_ns in self._simulation.take_overhead_ns().items():
            spent[kind] = spent.get(kind, 0) + time_ns
        return spent

    def _advance(self, duration_ns: int) -> bool:
        try:
            return self._simulation.advance(duration_ns)
        except SimulationError:
            # A private stage has no names for the trace's events; the full stream has.
            if not self._take_full_stream():
                raise
            return self._simulation.advance(duration_ns)

    def _take_full_stream(self) -> bool:
        """Go on from here with the full stream; False when it is there already."""
        if self._full is None:
            return False
        elapsed_ns = self._simulation.elapsed_ns
        self._simulation = self._full()
        self._full = None
        if elapsed_ns > 0:
            self._simulation.advance(elapsed_ns)
        return True

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Bind threads, move pages and spend time now.

        `cost_ns` is the time that copying the pages took. A thread that is named in `MovePages`
        pays for it; otherwise it was one outside the program. Threads on cores whose TLBs had the
        pages pay for the interrupts themselves. All of it is in the next interval's `overhead_ns`.

        Raises `PlacementError`, `SimulationError` for a node without memory or no such thread.
        """
        if actions:
            self._take_full_stream()
        done, cost_ns = 0, 0
        reasons: list[str] = []
        skipped = 0
        for action in actions:
            if isinstance(action, BindThreads):
                done += self._bind(action.placement)
            elif isinstance(action, SpendTime):
                self._spend(action.kind, action.duration_ns, action.thread)
                done += 1
            else:
                moved, cost = self._move(action)
                done += moved
                cost_ns += cost
                if action.thread is not None:
                    self._spend("page copy", cost, action.thread)
                if moved < len(action.pages):
                    skipped += len(action.pages) - moved
                    reasons.append("pages that were untouched or there already did not move")
        return Outcome(done, skipped, tuple(dict.fromkeys(reasons)), cost_ns)

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
        for worker, cpu in zip(self._workers, choose_pus(placement, self._topology), strict=True):
            self._simulation.bind(worker, self._position[cpu], stay=True)
        return len(self._workers)

    def _move(self, action: MovePages) -> tuple[int, int]:
        """The core knows a larger page by any 4 KiB of it, and moves it whole."""
        moved, cost_ns = 0, 0
        for page, node in zip(action.pages, action.nodes, strict=True):
            if page < 0:
                raise SimulationError(f"got page {page}; expected an address over 4096")
            process, number = process_and_page(page)
            ns = self._simulation.move_page(number, node, process)
            moved += ns > 0
            cost_ns += ns
        return moved, cost_ns


class SimMachine:
    """A simulated machine. Safe to use from several threads; keeps the last trace in memory.

    With `private_stage` a replay starts from what leaves the cores' own caches, found once for all
    placements and kept beside the trace, if the stage agrees with the full stream (see
    `PrivateStages`): cycles within about 2 %, counters within 5 %. Otherwise, and always without
    it, every access is replayed.
    """

    def __init__(
        self, spec: MachineSpec, skew_ns: float | None = None, *, private_stage: bool = False
    ) -> None:
        self.spec = spec
        self._native = native_machine(spec, skew_ns)
        self._stages = PrivateStages(spec, self._native) if private_stage else None
        self._lock = threading.Lock()
        self._program: tuple[tuple[str, int], core.Program] | None = None

    @staticmethod
    def preset(name: str, *, private_stage: bool = False) -> SimMachine:
        """The shipped machine `name` (or a preset file)."""
        return SimMachine(load_preset(name), private_stage=private_stage)

    @property
    def topology(self) -> Topology:
        """What it looks like."""
        return self.spec.topology

    @property
    def clock_hz(self) -> float:
        """Core clock."""
        return self.spec.clock_hz

    def events(self) -> Mapping[str, str]:
        """All events of the simulated PMU."""
        return EVENTS

    def counters_at_once(self) -> int:
        """As many as the real machine's PMU counts at once (the simulator counts all)."""
        return self.spec.pmu_counters

    def stage_verdicts(self) -> Sequence[Verdict]:
        """Which programs have been replayed from a private stage so far, and which could not."""
        return () if self._stages is None else self._stages.verdicts

    def start(
        self, request: RunRequest, placement: Placement | None, sensors: Sensors, seed: int = 0
    ) -> SimProcess:
        """Start the replay of the trace directory `request.program`.

        Without a placement the operating system's scheduler (its draws are those of `seed`) moves
        the threads between all allowed PUs.

        Raises `CapabilityError` for an unknown counter or detectors that sense the same,
        `TraceError`, `PlacementError`, `SimulationError`.
        """
        self._check(sensors)
        if placement is not None and len(placement.masks) != request.threads:
            raise PlacementError(
                f"got {len(placement.masks)} masks for {request.threads} threads; expected one each"
            )
        if request.beside:
            return self._start_beside(request, placement, sensors, seed)
        if placement is None:
            return self._start_unplaced(request, sensors, seed)
        cpus = choose_pus(placement, self.topology)
        program = self._load(request.program)
        workers = workers_of(request.program, request.threads)
        pus = pus_of_streams(self.topology, program.streams, cpus, workers)
        plain = request.repeats == 1 and request.pages == FIRST_TOUCH
        stages = self._stages if plain and not sensors.detectors else None
        trace = Path(request.program)
        stage = None if stages is None else stages.stage_of(trace, program, pus, workers, seed)

        def full() -> core.Simulation:
            return core.Simulation(
                self._native,
                program,
                pus,
                seed=seed,
                repeats=request.repeats,
                page_policy=request.pages.policy,
                page_table=dict(request.pages.nodes),
                detectors=native_detectors(sensors.detectors),
                threads=workers,
            )

        if stage is None:
            return SimProcess(full(), self.spec, workers, sensors)
        simulation = core.Simulation(self._native, stage, pus, seed=seed)
        return SimProcess(simulation, self.spec, workers, sensors, full)

    def _start_unplaced(self, request: RunRequest, sensors: Sensors, seed: int) -> SimProcess:
        program = self._load(request.program)
        workers = workers_of(request.program, request.threads)
        run = ProgramRun(request.program, tuple(sorted(self.topology.allowed)), workers)
        simulation, _ = start_together(
            self.spec,
            program,
            [run],
            machine=self._native,
            scheduler="os",
            seed=seed,
            repeats=request.repeats,
            pages=request.pages,
            detectors=sensors.detectors,
        )
        return SimProcess(simulation, self.spec, workers, sensors)

    def _start_beside(
        self, request: RunRequest, placement: Placement | None, sensors: Sensors, seed: int
    ) -> SimProcess:
        traces = (request.program, *request.beside)
        if request.threads % len(traces) or request.repeats != 1:
            raise SimulationError(
                f"got {request.threads} threads and {request.repeats} repeats for {len(traces)} "
                "programs side by side; expected as many threads each, and one run"
            )
        each = request.threads // len(traces)
        everywhere = tuple(sorted(self.topology.allowed))
        cpus = None if placement is None else choose_pus(placement, self.topology)
        runs = [
            ProgramRun(
                trace,
                everywhere if cpus is None else cpus[number * each : (number + 1) * each],
                workers_of(trace, each),
            )
            for number, trace in enumerate(traces)
        ]
        scheduler: Scheduler = "os" if placement is None else "bound"
        return self.start_several(runs, sensors, seed, scheduler=scheduler, pages=request.pages)

    def start_several(
        self,
        runs: Sequence[ProgramRun],
        sensors: Sensors,
        seed: int = 0,
        *,
        scheduler: Scheduler = "bound",
        restart: bool = False,
        shared: Sequence[SharedPages] = (),
        pages: PagePlacement = FIRST_TOUCH,
    ) -> SimProcess:
        """Start programs together; the threads of the process are the workers of all, in order.

        For the arguments see `autofinity.sim.together`; raises as `start` does.
        """
        self._check(sensors)
        program = prepare_together(runs, shared)
        simulation, workers = start_together(
            self.spec,
            program,
            runs,
            machine=self._native,
            scheduler=scheduler,
            restart=restart,
            pages=pages,
            seed=seed,
            detectors=sensors.detectors,
        )
        everyone = [worker for each in workers for worker in each]
        return SimProcess(simulation, self.spec, everyone, sensors)

    def _check(self, sensors: Sensors) -> None:
        unknown = [name for name in sensors.counters if name not in EVENTS]
        if unknown:
            raise CapabilityError(
                f"unknown counter {', '.join(unknown)}; {self.spec.name} counts: "
                + ", ".join(EVENTS)
            )

    def _load(self, directory: str) -> core.Program:
        """Affinities of one program follow each other: the last prepared trace is kept."""
        meta = Path(directory) / "meta.json"
        key = (str(Path(directory).resolve()), meta.stat().st_mtime_ns if meta.exists() else 0)
        with self._lock:
            if self._program is None or self._program[0] != key:
                self._program = None  # the old one goes before the new one comes
                self._program = (key, load_program(directory))
            return self._program[1]
