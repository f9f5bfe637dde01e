"""How exclusively each page of 4 KiB belongs to one node."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.model.sharing import NumaVectors
from autofinity.model.sharing_metrics import page_exclusivity
from autofinity.papers.figure import AnyFigure
from autofinity.papers.kmaf14.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure, Runs
from autofinity.papers.placed import placed
from autofinity.report.chart import Chart


class ExclusivityShares:
    """Share of each program's pages by their exclusivity, rounded to 10 %."""

    def data(self, runs: Runs) -> dict[str, NumaVectors]:
        """Accesses of the nodes to each page, by program."""
        return {each.name: each.whole_trace(4096).pages for each in placed(runs)}

    def draw(self, figure: AnyFigure, found: Mapping[str, NumaVectors], on: str) -> Chart:
        """A series for each tenth that some page has."""
        counts = {
            program: [round(10 * page_exclusivity(vector)) for vector in vectors.pages.values()]
            for program, vectors in found.items()
        }
        return Chart(
            f"{figure.title}, {on}",
            "program",
            "% of the pages",
            tuple(found),
            {
                f"{10 * tenth} %": tuple(
                    100 * own.count(tenth) / max(1, len(own)) for own in counts.values()
                )
                for tenth in range(1, 11)
                if any(tenth in own for own in counts.values())
            },
        )


FIGURE = MechanismFigure(PAPER, "2", "page exclusivity, 4 KiB pages", "2.3.2", ExclusivityShares())
