"""The wanted runs: planned on their machine, and made where they do not exist yet."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from autofinity import __version__
from autofinity.model.observation import Workload
from autofinity.own_code import digest_of_code
from autofinity.ports import Pool
from autofinity.profiling.campaign import (
    Cell,
    Failure,
    ReadyProgram,
    in_order,
    plan,
    plan_baselines,
    plan_switches,
    profile,
)
from autofinity.profiling.selection import check_size, select
from autofinity.profiling.target import Target
from autofinity.reporter import Reporter
from autofinity.sim.sampled import Precision
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import ObservationStore
from autofinity.workflow.backends import machine_topology, simulated
from autofinity.workflow.capture import capture
from autofinity.workflow.crewed import with_crew
from autofinity.workflow.wanted import (
    DEFAULT_PERIOD_US,
    HOST_PERIOD_US,
    Wanted,
    observations_folder,
)

_DECIDES = ("affinity", "model", "profiling", "sim", "ports.py")
"""Code that simulated runs depend on, beside the native core: after an edit of it, they are made
again, so that no two versions of the simulator are compared with each other."""


@dataclass(frozen=True, slots=True)
class PlannedRuns:
    """Runs to make, and the store for their results."""

    target: Target
    programs: list[ReadyProgram]
    cells: list[Cell]
    store: ObservationStore
    pool: Pool

    def make(
        self,
        cells: Sequence[Cell],
        title: str,
        reporter: Reporter,
        cpu_s: dict[Workload, float] | None = None,
    ) -> list[Failure]:
        """Make these runs; return those that failed.

        `cpu_s` gets the CPU seconds of one run of each program.
        """

        def report(cell: Cell, took_s: float | None) -> None:
            if took_s is None:
                done.found()
            else:
                done.step(cell.label)
            if cpu_s is not None and took_s:
                cpu_s[cell.run.workload] = took_s

        with reporter.progress(title, len(cells)) as done:
            return profile(self.target, cells, self.store, self.pool, report)

    def observed(self) -> ObservationTable:
        """Observations of the programs; the folder may hold more."""
        import numpy as np

        asked = {program.workload for program in self.programs}
        table = self.store.read()
        keys = zip(table.program.text(), table.input.text(), table.threads.tolist(), strict=True)
        return table.take(np.fromiter((key in asked for key in keys), dtype=bool, count=len(table)))


def check_affinities(wanted: Wanted) -> None:
    """Raise `UsageError` for an unknown machine, and where fewer affinities are wanted than hints
    have best matches, before anything is captured.
    """
    topology = machine_topology(wanted.machine)
    if wanted.affinities not in ("all", "hints", "screen"):
        for threads in wanted.threads:
            check_size(topology, threads, wanted.affinities)


def planned(wanted: Wanted, pool: Pool, reporter: Reporter) -> PlannedRuns:
    """Make the programs ready and plan their runs; stored runs that are stale are deleted.

    Raises `CapabilityError` for the present machine without a PMU, `LearningError` when no program
    can be run on it, and the errors of `simulated` and `capture`.
    """
    check_affinities(wanted)
    if wanted.native:
        target, programs, made_by = _on_host(wanted, reporter)
    else:
        target, programs, made_by = _in_simulation(wanted, pool if wanted.on else None, reporter)
    topology = target.machine.topology
    affinities = {
        threads: select(topology, threads, wanted.affinities, wanted.seed)
        for threads in dict.fromkeys(program.placed for program in programs)
    }
    seeds = range(1, 1 + wanted.page_seeds)
    cells = plan([p for p in programs if p.name not in wanted.certify], affinities, seeds)
    certified = [p for p in programs if p.name in wanted.certify]
    if certified:
        everything = {
            threads: select(topology, threads, "all", wanted.seed)
            for threads in dict.fromkeys(program.placed for program in certified)
        }
        cells += plan(certified, everything, seeds)
    if wanted.baselines:
        cells += plan_baselines(topology, programs)
        cells += plan_switches(topology, programs)
        sampled = sorted({program.name for program in programs if program.sampled})
        if sampled:
            reporter.notice(
                f"{', '.join(sampled)}: sampled, so not run under the OS's scheduler or switched"
            )
    store = ObservationStore(observations_folder(wanted))
    stale = store.expect({p.workload: f"{p.origin} {made_by}" for p in programs})
    if stale:
        reporter.notice(
            f"{stale} kept files of runs are of other programs, another machine or another "
            "autofinity: these runs are made again"
        )
    return PlannedRuns(target, programs, in_order(cells), store, pool)


def _in_simulation(
    wanted: Wanted, windows: Pool | None, reporter: Reporter
) -> tuple[Target, list[ReadyProgram], str]:
    """The simulated machine, captured programs, and a digest of everything that affects their
    times. `windows`: the pool of `SimMachine`.
    """
    precision = Precision(error=wanted.error)
    machine = simulated(
        wanted.machine,
        wanted.latencies,
        wanted.page_size,
        precision=precision,
        pool=windows,
        reporter=reporter,
    )
    target = Target(
        machine=machine,
        name=wanted.machine,
        backend="sim",
        clock_hz=machine.clock_hz,
        period_ns=round((wanted.period_us or DEFAULT_PERIOD_US) * 1000),
        version=__version__,
    )
    programs = [
        with_crew(machine.spec, program, reporter)
        for threads in wanted.threads
        for program in capture(wanted, threads, reporter, sample="auto")
    ]
    made_by = f"{__version__} {digest_of_code(*_DECIDES).hex()} {machine.spec!r}"
    if any(program.sampled for program in programs):
        made_by += f" {precision!r}"
    return target, programs, hashlib.sha256(made_by.encode()).hexdigest()


def _on_host(wanted: Wanted, reporter: Reporter) -> tuple[Target, list[ReadyProgram], str]:
    """The present machine, and programs built for it."""
    from autofinity.linux.host_machine import host_machine
    from autofinity.workflow.host_programs import host_programs

    machine = host_machine({})  # check that this machine counts anything before anything is built
    programs, conditions = host_programs(wanted, reporter)
    target = Target(
        machine=host_machine(conditions),
        name=wanted.machine,
        backend="linux",
        clock_hz=machine.clock_hz,
        period_ns=round((wanted.period_us or HOST_PERIOD_US) * 1000),
        version=__version__,
    )
    return target, programs, f"{machine.topology.model} {target.period_ns} ns"
