"""The Machine port over the simulator: a `program` is a trace directory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from autofinity._core import sim as core
from autofinity._core import trace as traces
from autofinity.model.errors import CapabilityError, PlacementError, SimulationError
from autofinity.model.placement import FIRST_TOUCH, PagePlacement, Placement
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import BindThreads, Pool, RunRequest, Sensors
from autofinity.sim.detecting import native_detectors
from autofinity.sim.doubtful import remedy
from autofinity.sim.events import EVENTS
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.process import SimProcess
from autofinity.sim.pu_choice import choose_pus, shares
from autofinity.sim.repeated_windows import RepeatedWindows
from autofinity.sim.replay import load_program, pus_of_streams, workers_of
from autofinity.sim.sampled import Precision, SampledProgram, replay_sampled, timed_window
from autofinity.sim.sampled_process import SampledProcess
from autofinity.sim.sampled_window import Pages
from autofinity.sim.spec import MachineSpec
from autofinity.sim.together import (
    ProgramRun,
    Scheduler,
    prepare_together,
    start_together,
)
from autofinity.sim.touched_memory import TouchedMemory
from autofinity.sim.window_sum import RegionEstimate, TimedWindow
from autofinity.sim.window_task import WindowTask


class SimMachine:
    """A simulated machine. Safe to use from several threads; keeps the last trace in memory."""

    def __init__(
        self,
        spec: MachineSpec,
        precision: Precision | None = None,
        notice: Callable[[str], None] = lambda _: None,
        pool: Pool | None = None,
    ) -> None:
        """`precision`: precision of replays of sampled traces.

        `notice` is called once for each trace where the precision is not reached. Windows of
        sampled traces are replayed in the pool; None: in the thread that advances the process.
        """
        self.spec = spec
        self._native = machine_model(spec)
        self._precision = precision or Precision()
        self._notice = notice
        self._pool = pool
        self._told: set[str] = set()
        self._lock = threading.Lock()
        self._program: tuple[tuple[str, int], core.Program | SampledProgram] | None = None

    def __reduce__(self) -> tuple[type[SimMachine], tuple[MachineSpec, Precision]]:
        """A copy on another machine, which replays by itself."""
        return SimMachine, (self.spec, self._precision)

    @staticmethod
    def preset(name: str) -> SimMachine:
        """The shipped machine `name` (or a preset file)."""
        return SimMachine(load_preset(name))

    @property
    def topology(self) -> Topology:
        """Topology of the machine."""
        return self.spec.topology

    @property
    def clock_hz(self) -> float:
        """Clock of the cores."""
        return self.spec.clock_hz

    def events(self) -> Mapping[str, str]:
        """All events of the simulated PMU."""
        return EVENTS

    def start(
        self, request: RunRequest, placement: Placement | None, sensors: Sensors, seed: int = 0
    ) -> SimProcess | SampledProcess | RepeatedWindows:
        """Start the replay of the trace directory `request.program`.

        Without a placement the operating system's scheduler (its random choices depend on `seed`)
        moves the threads between all allowed PUs; where threads share fewer PUs than there are
        threads, it moves them within their masks. A sampled trace that runs once is replayed window
        by window in one placement; one that is repeated is played on where its threads are moved.

        Raises `CapabilityError` for an unknown counter, detectors that sense the same, and requests
        that a sampled trace does not support; `TraceError`, `PlacementError`, `SimulationError`.
        """
        self._check(sensors)
        if placement is not None and len(placement.masks) != request.threads:
            raise PlacementError(
                f"got {len(placement.masks)} masks for {request.threads} threads; expected one each"
            )
        if traces.is_sampled(request.program):
            return self._start_sampled(request, placement, sensors, seed)
        if request.beside:
            return self._start_beside(request, placement, sensors, seed)
        if placement is None:
            return self._start_scheduled(request, self.topology.allowed, sensors, seed)
        if shares(placement):
            together = frozenset[OsIndex]().union(*placement.masks)
            process = self._start_scheduled(request, together, sensors, seed)
            process.apply([BindThreads(placement)])
            return process
        cpus = choose_pus(placement, self.topology)
        program = self._load(request.program)
        workers = workers_of(request.program, request.threads)
        pus = pus_of_streams(self.topology, program.streams, cpus, workers)
        simulation = core.Simulation(
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
        return SimProcess(simulation, self.spec, workers, sensors)

    def _start_sampled(
        self, request: RunRequest, placement: Placement | None, sensors: Sensors, seed: int
    ) -> SampledProcess | RepeatedWindows:
        if placement is None or request.beside:
            raise CapabilityError(
                f"{request.program} is a sampled trace, which is replayed by itself, with its "
                "threads bound; capture the program with --whole"
            )
        cpus = choose_pus(placement, self.topology)
        program = self._load_sampled(request.program)
        workers = workers_of(request.program, request.threads)
        pages = Pages(request.pages.policy, nodes=request.pages.nodes)

        def replay(cpus: Sequence[OsIndex], pages: Pages = pages) -> RegionEstimate:
            return self._replayed(request.program, program, cpus, workers, pages, seed)

        if request.repeats == 1:
            return SampledProcess(lambda: replay(cpus), self.spec, workers, sensors)
        if pages != Pages():
            raise CapabilityError(
                f"{request.program} is a sampled trace, whose pages go to the node of their first "
                "touch where its region is repeated; capture the program with --whole"
            )
        pus = pus_of_streams(self.topology, program.streams, cpus, workers)
        nodes = [self._native.home_of_node[self.topology.pus[pu].node] for pu in pus]
        return RepeatedWindows(
            lambda cpus, nodes: replay(cpus, Pages(nodes=nodes)),
            self.spec,
            TouchedMemory(program.pages, nodes, self.spec.page_bytes),
            workers,
            sensors,
            cpus,
            request.repeats,
        )

    def _replayed(
        self,
        trace: str,
        program: SampledProgram,
        cpus: Sequence[OsIndex],
        workers: Sequence[int],
        pages: Pages,
        seed: int,
    ) -> RegionEstimate:
        """The region of a sampled trace, in the pool if there is one."""
        pus = pus_of_streams(self.topology, program.streams, cpus, workers)
        pool = self._pool

        def in_pool(numbers: Sequence[int]) -> list[TimedWindow]:
            assert pool is not None
            tasks = [WindowTask(trace, n, tuple(pus), seed, pages) for n in numbers]
            begun = [pool.submit(self, task) for task in tasks]
            return [future.result().result for future in begun]

        whole = replay_sampled(
            self.spec,
            program,
            pus,
            seed=seed,
            pages=pages,
            precision=self._precision,
            timed=None if pool is None else in_pool,
        )
        self._tell_error(trace, whole)
        return whole

    def timed_window(self, task: WindowTask, trace: str) -> TimedWindow:
        """One window of the sampled trace in the folder `trace`; the task says which, and how.

        Raises `TraceError`, `SimulationError`.
        """
        program = self._load_sampled(trace)
        return timed_window(
            self.spec, self._native, program, task.number, task.pus, task.seed, task.pages
        )

    def _tell_error(self, trace: str, whole: RegionEstimate) -> None:
        wanted = self._precision.error
        with self._lock:
            if whole.error <= wanted or trace in self._told:
                return
            self._told.add(trace)
        doubt = remedy(whole.error)
        self._notice(
            f"{Path(trace).name}: all {len(whole.windows)} windows give a standard error of "
            f"{100 * whole.error:.2g} %, and {100 * wanted:.2g} % was asked for; other placements "
            "may have such errors, too" + (f"; {doubt}" if doubt else "")
        )

    def _start_scheduled(
        self, request: RunRequest, cpus: frozenset[OsIndex], sensors: Sensors, seed: int
    ) -> SimProcess:
        program = self._load(request.program)
        workers = workers_of(request.program, request.threads)
        usable = tuple(sorted(cpus & self.topology.allowed))
        run = ProgramRun(request.program, usable, workers)
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
        return SimProcess(simulation, self.spec, workers, sensors, scheduled=True)

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
        pages: PagePlacement = FIRST_TOUCH,
    ) -> SimProcess:
        """Start programs together; the threads of the process are the workers of all, in order.

        For the arguments see `autofinity.sim.together`; raises the errors of `start`.
        """
        self._check(sensors)
        program = prepare_together(runs)
        simulation, workers = start_together(
            self.spec,
            program,
            runs,
            machine=self._native,
            scheduler=scheduler,
            pages=pages,
            seed=seed,
            detectors=sensors.detectors,
        )
        everyone = [worker for each in workers for worker in each]
        scheduled = scheduler == "os"
        return SimProcess(simulation, self.spec, everyone, sensors, scheduled=scheduled)

    def _check(self, sensors: Sensors) -> None:
        unknown = [name for name in sensors.counters if name not in EVENTS]
        if unknown:
            raise CapabilityError(
                f"unknown counter {', '.join(unknown)}; {self.spec.name} counts: "
                + ", ".join(EVENTS)
            )

    def _load(self, directory: str) -> core.Program:
        loaded = self._kept(directory, load_program)
        assert isinstance(loaded, core.Program)
        return loaded

    def _load_sampled(self, directory: str) -> SampledProgram:
        loaded = self._kept(directory, SampledProgram)
        assert isinstance(loaded, SampledProgram)
        return loaded

    def _kept(
        self, directory: str, load: Callable[[str], core.Program | SampledProgram]
    ) -> core.Program | SampledProgram:
        """The prepared trace of a directory. The last one is kept: affinities of one program follow
        each other.
        """
        meta = Path(directory) / "meta.json"
        key = (os.path.realpath(directory), meta.stat().st_mtime_ns if meta.exists() else 0)
        with self._lock:
            if self._program is None or self._program[0] != key:
                self._program = None  # release the old one before the new one is loaded
                self._program = (key, load(directory))
            return self._program[1]
