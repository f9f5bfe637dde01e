"""What a campaign will cost, from one run of each program: said before the hours begin.

Programs differ a hundredfold in what an access costs to replay, so nothing but a run tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from autofinity.model.observation import Workload
from autofinity.ports import RunKey
from autofinity.profiling.campaign import Cell

_FEWEST = 4
"""Cells of a program below which they are simply run."""


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
    """Runs left and their CPU seconds, by thread count; `cpu_s` is what one run of each took.

    Those without one are taken for the mean of the others.
    """
    mean = sum(cpu_s.values()) / len(cpu_s) if cpu_s else float("nan")
    found: dict[int, tuple[int, float]] = {}
    for cell in cells:
        if cell.run.key in done:
            continue
        runs, total_s = found.get(cell.run.threads, (0, 0.0))
        found[cell.run.threads] = (runs + 1, total_s + cpu_s.get(cell.program.workload, mean))
    return found
