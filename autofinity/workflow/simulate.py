"""Captured programs replayed on a simulated machine: one, several, or one that a policy moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autofinity._core.trace import is_sampled
from autofinity.affinity.enumerate import place
from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.in_run import InRun, Sampling, run_in
from autofinity.model.affinity import SPREAD, Affinity, Hint
from autofinity.model.errors import UsageError
from autofinity.model.placement import PagePlacement
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.on_machine import on_machine
from autofinity.ports import RunRequest
from autofinity.sim.crew import Crew, crew_of
from autofinity.sim.machine import SimMachine
from autofinity.sim.replay import PagePolicy, load_program, simulate, workers_of
from autofinity.sim.result import SimResult
from autofinity.sim.sampled import Precision, SampledProgram, simulate_sampled
from autofinity.sim.sampled_window import Pages
from autofinity.sim.spec import MachineSpec
from autofinity.sim.speeds import facts_of_machine
from autofinity.sim.together import ProgramRun, TogetherResult, simulate_together
from autofinity.trace.meta import read_meta

DEFAULT_PERIOD_US = 500.0
"""Sample period in simulated microseconds."""


@dataclass(frozen=True, slots=True)
class Seats:
    """PUs of a program's threads: these CPUs, else those of the affinity, else those of the
    hint.
    """

    cpus: tuple[OsIndex, ...] = ()
    """CPUs, one for each thread."""
    affinity: Affinity | None = None
    hint: Hint = SPREAD

    def on(self, topology: Topology, threads: int) -> tuple[OsIndex, ...]:
        """CPU of each thread. Raises `UsageError` for another thread count, `PlacementError`."""
        if self.cpus:
            if len(self.cpus) != threads:
                raise UsageError(
                    f"got {len(self.cpus)} CPUs for {threads} threads; expected one each"
                )
            return self.cpus
        if self.affinity is None:
            return get_affinity(topology, threads, self.hint).cpus
        if self.affinity.threads != threads:
            raise UsageError(
                f"the affinity {self.affinity} has {self.affinity.threads} threads, the program "
                f"{threads}"
            )
        return place(topology, self.affinity).cpus


def simulate_trace(
    spec: MachineSpec,
    trace: Path,
    seats: Seats | None = None,
    *,
    threads: int | None = None,
    period_us: float = DEFAULT_PERIOD_US,
    seed: int = 0,
    pages: PagePolicy = "first_touch",
    precision: Precision | None = None,
) -> SimResult:
    """Simulate one program with its threads bound.

    `threads` is the number of placed threads, by default as many as there are CPUs in `seats`, or
    as the program had. Where the program had more threads than requested (`sim.crew`), all of these
    share the cores of as many as run at a time. The windows of a sampled trace are replayed with
    `precision`, and each window is a sample. Raises `UsageError`, `TraceError`, `PlacementError`,
    `SimulationError`.
    """
    seats = seats or Seats()
    check_run(seed, period_us)
    if threads is None and not seats.cpus:
        crew = placed_crew(spec, trace)
        if crew.shares:
            cpus = seats.on(spec.topology, crew.room)
            return simulate_shared(
                spec, trace, cpus, crew.computing, period_us=period_us, seed=seed, pages=pages
            )
        threads = crew.computing
    threads = threads or len(seats.cpus)
    if is_sampled(str(trace)):
        return simulate_sampled(
            spec,
            SampledProgram(trace),
            seats.on(spec.topology, threads),
            workers=workers_of(trace, threads),
            seed=seed,
            pages=Pages(pages),
            precision=precision or Precision(),
        )
    return simulate(
        spec,
        load_program(trace),
        seats.on(spec.topology, threads),
        workers=workers_of(trace, threads),
        sample_period_ns=period_us * 1000,
        seed=seed,
        page_policy=pages,
    )


def simulate_shared(
    spec: MachineSpec,
    trace: Path,
    cpus: Sequence[OsIndex],
    threads: int,
    *,
    period_us: float = DEFAULT_PERIOD_US,
    seed: int = 0,
    pages: PagePolicy = "first_touch",
) -> SimResult:
    """Simulate one program whose threads share CPUs, fewer than there are threads.

    Raises the errors of `simulate_trace`.
    """
    if pages == "bind":
        raise UsageError("pages of one node: expected a program whose threads have a core each")
    return simulate_together(
        spec,
        [ProgramRun(trace, tuple(cpus), workers_of(trace, threads))],
        scheduler="os",
        sample_period_ns=period_us * 1000,
        seed=seed,
        pages=PagePlacement(pages),
    ).whole


def simulate_policy(
    spec: MachineSpec,
    trace: Path,
    policy: RulePolicy,
    *,
    threads: int | None = None,
    period_us: float = DEFAULT_PERIOD_US,
    seed: int = 0,
) -> InRun:
    """Simulate one program that starts spread, is sampled, and is moved by the policy.
    `threads` is as in `simulate_trace`.

    Raises the errors of `run_in`, and `UsageError`.
    """
    check_run(seed, period_us)
    crew = placed_crew(spec, trace, threads)
    return run_in(
        SimMachine(spec),
        RunRequest(program=str(trace), threads=crew.computing),
        on_machine(policy, facts_of_machine(spec)(crew.room)),
        Sampling(round(period_us * 1000)),
        seed,
        crew.room,
    )


@dataclass(frozen=True, slots=True)
class Several:
    """Programs on one machine, and the start of each."""

    traces: Sequence[Path]
    starts_ns: Sequence[float] = ()
    """Start of each program; empty: all begin at once."""
    after: bool = False
    """Whether the programs run one after the other instead."""
    threads: int | None = None
    """Number of placed threads of each program. None: as many as it had, or as `simulate_trace`
    places."""

    def bound(self, spec: MachineSpec, hint: Hint = SPREAD) -> list[ProgramRun]:
        """Every program placed by the hint: beside the earlier programs as long as there is room.

        Programs that run one after the other, and those with too few CPUs left, choose from the
        whole machine. Raises `PlacementError`, and the errors of `crew_of`.
        """
        topology = spec.topology
        taken: frozenset[OsIndex] = frozenset()
        runs = []
        for number, trace in enumerate(self.traces):
            crew = placed_crew(spec, trace, self.threads)
            left = topology.allowed - taken
            roomy = not self.after and len(left) >= crew.room
            cpus = get_affinity(topology, crew.room, hint, left if roomy else None).cpus
            taken |= frozenset(cpus)
            runs.append(self._run(number, cpus, workers_of(trace, crew.computing)))
        return runs

    def unbound(self, topology: Topology, cpus: Sequence[OsIndex] = ()) -> list[ProgramRun]:
        """Every program on all of `cpus`, or of the machine, as the scheduler decides."""
        usable = tuple(cpus or sorted(topology.allowed))
        return [
            self._run(number, usable, workers_of(trace, threads_of(trace, self.threads)))
            for number, trace in enumerate(self.traces)
        ]

    def _run(
        self, number: int, cpus: tuple[OsIndex, ...], workers: tuple[int, ...] | None
    ) -> ProgramRun:
        start_ns = self.starts_ns[number] if self.starts_ns else 0.0
        after = self.after and number > 0
        return ProgramRun(self.traces[number], cpus, workers, start_ns, after=after)


def simulate_several(
    spec: MachineSpec,
    several: Several,
    *,
    hint: Hint = SPREAD,
    unbound: bool = False,
    cpus: Sequence[OsIndex] = (),
    restart: bool = False,
    period_us: float = DEFAULT_PERIOD_US,
    seed: int = 0,
) -> TogetherResult:
    """Simulate programs side by side, bound by the hint; `unbound`: a model of Linux's scheduler
    moves their threads, on all of `cpus` or of the machine.

    With `restart` programs begin again until the longest has ended. Raises the errors of
    `simulate_trace`.
    """
    check_run(seed, period_us)
    topology = spec.topology
    return simulate_together(
        spec,
        several.unbound(topology, cpus) if unbound else several.bound(spec, hint),
        scheduler="os" if unbound else "bound",
        restart=restart,
        sample_period_ns=period_us * 1000,
        seed=seed,
    )


def check_run(seed: int, period_us: float = DEFAULT_PERIOD_US) -> None:
    """Raise `UsageError` for a seed or a sample period that no replay accepts."""
    if not 0 <= seed < 1 << 64:
        raise UsageError(f"seed {seed}: expected a whole number from 0, below 2^64")
    if not 0 <= period_us < math.inf:
        raise UsageError(f"period_us {period_us}: expected microseconds, or 0 for no samples")


def placed_crew(spec: MachineSpec, trace: Path, given: int | None = None) -> Crew:
    """The threads that are placed: the given number, a core each, or those that compute in the
    trace.

    Raises the errors of `crew_of`.
    """
    if given is not None:
        return Crew(given, given, given)
    return crew_of(spec, trace, threads_of(trace))


def threads_of(trace: Path, given: int | None = None) -> int:
    """The given number of threads, or the number that the program was captured with. Raises
    `TraceError`.
    """
    return read_meta(trace).threads if given is None else given
