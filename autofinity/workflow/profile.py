"""From a suite to observations of a machine; also the first step of `train` and `evaluate`.

    suite ─► traces (captured once, stored) ─► runs ─► observations (stored run by run)

Everything is in one work folder, and complete parts are not repeated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from autofinity.evaluation.times import times_of
from autofinity.model.affinity import Affinity
from autofinity.model.errors import LearningError
from autofinity.model.observation import Workload
from autofinity.profiling.campaign import Cell, Failure
from autofinity.profiling.estimate import expected, probes
from autofinity.profiling.sampling import Run
from autofinity.profiling.search import to_try
from autofinity.profiling.selection import best_matches
from autofinity.profiling.thinning import thinned
from autofinity.reporter import SILENT, Reporter
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read, write_one
from autofinity.workflow.backends import machine_topology
from autofinity.workflow.observations import placed_counts
from autofinity.workflow.planned_runs import PlannedRuns, planned
from autofinity.workflow.pools import pool_for
from autofinity.workflow.wanted import Wanted

_LONG_S = 3600.0
type Cost = dict[int, tuple[int, float]]
"""Number of runs, and their CPU seconds, by thread count."""


def gather(wanted: Wanted, reporter: Reporter = SILENT) -> ObservationTable:
    """Observations of every wanted program, in every selected affinity, at every thread count.

    A notice names programs that cannot be captured or replayed; another gives the cost before the
    runs begin. Raises `LearningError` when nothing is left, and the errors of `pool_for` and
    `planned`; `ClusterError` when the pool cannot go on.
    """
    with pool_for(wanted, reporter) as pool:
        return _gathered(planned(wanted, pool, reporter), wanted, reporter)


def _gathered(runs: PlannedRuns, wanted: Wanted, reporter: Reporter) -> ObservationTable:
    cost = sorted(_cost(runs, wanted, reporter).items())
    for threads, (count, cpu_s) in cost:
        if cpu_s > 0:
            reporter.notice(f"{wanted.machine}, {threads} threads: {cost_text(count, cpu_s)}")
    long = long_work_text(sum(cpu_s for _, (_, cpu_s) in cost), runs.pool.slots())
    if long is not None:
        reporter.notice(long)
    failures = runs.make(runs.cells, "profile", reporter)
    if wanted.search:
        failures += _search(runs, wanted, reporter)
    _tell(failures, reporter)
    if not runs.store.done() or not len(table := runs.observed()):
        raise LearningError(
            f"no observations on {wanted.machine}: all {len(runs.cells)} runs failed, see above"
        )
    return table


def estimate(wanted: Wanted, reporter: Reporter = SILENT) -> Cost:
    """Runs that `gather` has left to make.

    Programs without a trace are captured, and each program is run once. Runs that a search adds are
    counted in full. Raises the errors of `gather`.
    """
    with pool_for(wanted, reporter) as pool:
        return _cost(planned(wanted, pool, reporter), wanted, reporter)


def cost_text(runs: int, cpu_s: float) -> str:
    """Text for a person: number and length of the runs left; NaN where no run was tried."""
    return f"up to {runs} more runs" + (
        ", of unknown length" if math.isnan(cpu_s) else f", about {cpu_s / 60:.1f} CPU minutes"
    )


def long_work_text(cpu_s: float, jobs: int) -> str | None:
    """Text for a person before more than an hour of work begins.

    None where the work takes less, or its length is not known (NaN): programs with few runs left
    are not tried beforehand.
    """
    wall_s = cpu_s / jobs
    if not wall_s > _LONG_S:
        return None
    return (
        f"about {wall_s / 3600:.1f} hours of profiling begin now ({cpu_s / 3600:.1f} CPU hours, "
        f"{jobs} at a time); an interrupted command resumes. To shorten: --jobs, fewer programs "
        "(-p), fewer thread counts, a smaller --size"
    )


def keep(
    table: ObservationTable,
    output: Path,
    *,
    machine: str,
    packed: bool = False,
    thin: Sequence[int] = (),
) -> ObservationTable:
    """Write all observations into one Parquet file, small if `packed`, and return the file's
    content.

    At the thread counts in `thin`, only runs in the hints' best matches keep their sample periods;
    other runs keep their mean. Raises `StoreError`.
    """
    if thin:
        topology = machine_topology(machine)
        table = thinned(
            table,
            {
                threads: [
                    match
                    for placed in placed_counts(table, threads)
                    for match in best_matches(topology, placed)
                ]
                for threads in thin
            },
        )
    write_one(table, output, packed=packed)
    return read(output)  # packing rounds


def _cost(runs: PlannedRuns, wanted: Wanted, reporter: Reporter) -> Cost:
    """Cost of the runs that are left; programs with many runs left are run once."""
    cpu_s: dict[Workload, float] = {}
    runs.make(probes(runs.cells, runs.store.done()), "estimate", reporter, cpu_s)
    left = expected(runs.cells, runs.store.done(), cpu_s)
    for threads in wanted.threads if wanted.search else ():
        count, total_s = left.get(threads, (0, 0.0))
        took = [s for workload, s in cpu_s.items() if workload.threads == threads]
        more = wanted.search * wanted.page_seeds
        left[threads] = (count + more * len(took), total_s + more * sum(took))
    return left


def _search(runs: PlannedRuns, wanted: Wanted, reporter: Reporter) -> list[Failure]:
    """Run neighbours of the best affinities until none is left to try, or enough were tried.

    The search begins with the selected affinities only, whatever else is stored: so an interrupted
    search takes the same way again, past the runs that it has made.
    """
    topology = runs.target.machine.topology
    known: dict[Workload, set[Affinity]] = {}
    for cell in runs.cells:
        if cell.run.placement == "affinity" and cell.run.program not in wanted.certify:
            known.setdefault(cell.program.workload, set()).add(cell.run.affinity)
    left = dict.fromkeys(known, wanted.search)
    failures: list[Failure] = []
    while True:
        times = times_of(runs.store.read()).roi_s
        added: dict[Workload, list[Affinity]] = {}
        for workload, some in known.items():
            roi_s = {a: s for a, s in times.get(workload, {}).items() if a in some}
            added[workload] = to_try(topology, roi_s, left[workload])
            some |= set(added[workload])
            left[workload] -= len(added[workload])
        cells = [
            Cell(program, Run(*program.workload, affinity, seed))
            for program in runs.programs
            for affinity in added.get(program.workload, ())
            for seed in range(1, 1 + wanted.page_seeds)
        ]
        if not cells:
            return failures
        failures += runs.make(cells, "search", reporter)


def _tell(failures: Sequence[Failure], reporter: Reporter) -> None:
    """Give a notice of each distinct reason, with the number of runs of each program."""
    by_reason: dict[str, Counter[str]] = {}
    for failure in failures:
        by_reason.setdefault(failure.reason, Counter())[failure.run.program] += 1
    for reason, programs in by_reason.items():
        whose = ", ".join(f"{program} {count}" for program, count in programs.items())
        reporter.notice(f"{programs.total()} runs failed ({whose}): {reason}")
