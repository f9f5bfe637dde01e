"""Estimate of a campaign's cost, from one run of each program, before the long part begins.

Programs differ a hundredfold in the cost of replaying an access, so only a run gives an estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from autofinity.model.observation import Workload
from autofinity.ports import RunKey
from autofinity.profiling.campaign import Cell

_FEWEST = 4
"""Smallest number of cells of a program for an estimate; fewer cells are simply run."""


def probes(cells: Iterable[Cell], done: frozenset[RunKey]) -> list[Cell]:
    """The first cell of each program that has several left to run."""
    left: dict[Workload, list[Cell]] = {}
    for cell in cells:
        if cell.run.key not in done:
            left.setdefault(cell.program.workload, []).append(cell)
    return [some[0] for some in left.values() if len(some) >= _FEWEST]


def expected(
    cells: Sequence[Cell], done: frozenset[RunKey], cpu_s: Mapping[Workload, float]
) -> dict[int, tuple[int, float]]:
    """Runs left and their CPU seconds, by thread count; `cpu_s` has the cost of one run of each
    workload.

    Workloads without such a run get the mean of the others.
    """
    mean = sum(cpu_s.values()) / len(cpu_s) if cpu_s else float("nan")
    found: dict[int, tuple[int, float]] = {}
    for cell in cells:
        if cell.run.key in done:
            continue
        runs, total_s = found.get(cell.run.threads, (0, 0.0))
        found[cell.run.threads] = (runs + 1, total_s + cpu_s.get(cell.program.workload, mean))
    return found
