"""Which behaviours the programs show: in the paper 64 in all, 18 of c_lu, 15 of half of them."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.coverage import ProgramCoverage, covered_by
from autofinity.learning.leeway_hints import hints_on
from autofinity.papers.cc13.figure_9 import BASE
from autofinity.papers.cc13.paper import PAPER
from autofinity.papers.figure import AnyFigure, Figure
from autofinity.papers.observed import Observed
from autofinity.report.chart import Chart


class Coverage:
    """Behaviours of each program, and of it and all before it."""

    def data(self, observed: Observed) -> list[ProgramCoverage]:
        """By counters and bins of the paper's way."""
        table = observed.rows(observed.threads)
        hints_of = hints_on(BestMatches(observed.topology()), BASE.leeway)
        return covered_by(table, observed.settings_on(BASE, table.counters), hints_of)[1]

    def draw(self, figure: AnyFigure, covered: Sequence[ProgramCoverage], on: str) -> Chart:
        """Two lines."""
        return Chart(
            f"Figure 10: {figure.title}",
            "programs, those with fewest behaviours first",
            "distinct discretised samples",
            tuple(each.program for each in covered),
            {
                "of the program": tuple(float(each.behaviours) for each in covered),
                "cumulative": tuple(float(each.cumulative) for each in covered),
            },
            kind="lines",
        )


FIGURE = Figure(PAPER, "10", "behaviours that the programs show", "3.5", Coverage())
