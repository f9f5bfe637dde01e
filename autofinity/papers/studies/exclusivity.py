"""How exclusively pages belong to one node: on average, and page by page."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.model.sharing import NumaVectors
from autofinity.model.sharing_metrics import average_exclusivity, page_exclusivity
from autofinity.papers.figure import AnyFigure
from autofinity.papers.mechanism_figure import Runs
from autofinity.papers.studies.beside import MEAN
from autofinity.papers.studies.beside import PAPER as PAPERS
from autofinity.papers.studies.placed import placed
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
