"""All that TLB matching changes, and how often it moves threads: means over programs."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.evaluation.comparison import MechanismCase
from autofinity.papers.beside import beside
from autofinity.papers.figure import AnyFigure
from autofinity.papers.mechanism_figure import MechanismFigure, Runs
from autofinity.papers.tlb.paper import PAPER, TABLE_II
from autofinity.papers.values import mean, values
from autofinity.report.chart import Chart


class Quantities:
    """All rows of the table under `tlb`: ratios to the operating system's, and counts."""

    def data(self, runs: Runs) -> list[MechanismCase]:
        """Runs of all programs."""
        return runs.cases(("tlb",))

    def draw(self, figure: AnyFigure, cases: Sequence[MechanismCase], on: str) -> Chart:
        """Means over programs."""
        found = {name: mean(values(cases, name).get("tlb", {}), name) for name in figure.numbers}
        return beside(figure, found, on, "quantity", "ratio to the OS's; a count")


FIGURE = MechanismFigure(PAPER, "t2", "results of the TLB mechanism", "6.4", Quantities(), TABLE_II)
