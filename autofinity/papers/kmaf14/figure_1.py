"""How exclusively pages belong to one node, by the size of the pages."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.model.sharing import NumaVectors
from autofinity.model.sharing_metrics import average_exclusivity
from autofinity.papers.beside import MEAN
from autofinity.papers.beside import PAPER as PAPERS
from autofinity.papers.figure import AnyFigure
from autofinity.papers.kmaf14.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure, Runs
from autofinity.papers.placed import placed
from autofinity.report.chart import Chart


class Exclusivity:
    """Average exclusivity (equation 4) of each program's pages."""

    def data(self, runs: Runs) -> dict[int, dict[str, NumaVectors]]:
        """Accesses of the nodes to each page, by bytes of a page and program."""
        programs = placed(runs)
        return {
            page_bytes: {each.name: each.whole_trace(page_bytes).pages for each in programs}
            for page_bytes in (4096, 2 << 20)
        }

    def draw(
        self,
        figure: AnyFigure,
        by_size: Mapping[int, Mapping[str, NumaVectors]],
        on: str,
    ) -> Chart:
        """Each program and the mean, in %."""
        programs = list(next(iter(by_size.values())))
        series = {}
        for page_bytes, vectors in by_size.items():
            name = f"{page_bytes // 1024} KiB"
            own = [100 * average_exclusivity(vectors[program]) for program in programs]
            series[name] = (*own, sum(own) / len(own), figure.numbers[name])
        return Chart(
            f"{figure.title}, {on}",
            "program",
            "average exclusivity, %",
            (*programs, MEAN, PAPERS),
            series,
        )


FIGURE = MechanismFigure(
    PAPER,
    "1",
    "average exclusivity by page size",
    "2.3.2",
    Exclusivity(),
    {"4 KiB": 83.6, "2048 KiB": 78.3},
)
