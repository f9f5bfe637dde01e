"""How much programs share, and how unevenly."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.model.sharing import SharingMatrix
from autofinity.model.sharing_metrics import (
    heterogeneity,
    heterogeneity_off_diagonal,
    normalised,
    sharing_amount,
)
from autofinity.papers.figure import AnyFigure
from autofinity.papers.kmaf14.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure, Runs
from autofinity.papers.placed import placed
from autofinity.report.chart import Chart


class SharingMetrics:
    """Heterogeneity and amount of sharing (equations 1 and 2) of each program."""

    def data(self, runs: Runs) -> dict[str, SharingMatrix]:
        """By program."""
        return {each.name: each.whole_trace().sharing for each in placed(runs)}

    def draw(self, figure: AnyFigure, found: Mapping[str, SharingMatrix], on: str) -> Chart:
        """Equation 1 of the normalised matrix, the same without the diagonal, and the amount over
        the largest program's.
        """
        matrices = {program: normalised(matrix) for program, matrix in found.items()}
        amounts = {program: sharing_amount(matrix) for program, matrix in found.items()}
        largest = max(amounts.values()) or 1.0
        return Chart(
            f"{figure.title}, {on}",
            "program",
            "heterogeneity x 100, amount in % of the largest",
            tuple(found),
            {
                "heterogeneity": tuple(100 * heterogeneity(m) for m in matrices.values()),
                "off the diagonal": tuple(
                    100 * heterogeneity_off_diagonal(m) for m in matrices.values()
                ),
                "amount": tuple(100 * amount / largest for amount in amounts.values()),
            },
        )


FIGURE = MechanismFigure(PAPER, "3", "sharing patterns", "2.3.2", SharingMetrics())
