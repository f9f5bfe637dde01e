"""Small and large pages, under the operating system and under kMAF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autofinity.evaluation.comparison import MechanismCase
from autofinity.mechanisms.registry import BASELINE
from autofinity.papers.beside import beside
from autofinity.papers.changes import faster
from autofinity.papers.figure import AnyFigure
from autofinity.papers.kmaf16.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure, Runs
from autofinity.papers.values import mean, times_s
from autofinity.report.chart import Chart

SMALL, LARGE = "4K", "2M"


class PageSizes:
    """Time with each size of pages, against the operating system's with small ones."""

    def data(self, runs: Runs) -> dict[str, list[MechanismCase]]:
        """By size of the pages."""
        return {size: runs.cases(("kmaf16",), page_size=size) for size in (SMALL, LARGE)}

    def draw(
        self,
        figure: AnyFigure,
        by_size: Mapping[str, Sequence[MechanismCase]],
        on: str,
    ) -> Chart:
        """Means over programs."""
        small_s = times_s(by_size[SMALL]).get(BASELINE, {})
        found = {}
        for size, cases in by_size.items():
            for mechanism, own_s in times_s(cases).items():
                ratios = {name: own_s[name] / small_s[name] for name in own_s if name in small_s}
                found[f"{mechanism} {size}"] = mean(ratios, "time")
        return beside(figure, found, on, "mechanism, size of pages", "time / OS with 4K")


FIGURE = MechanismFigure(
    PAPER,
    "10",
    "small and large pages",
    "6.5",
    PageSizes(),
    {"os 2M": faster(36), "kmaf16 4K": faster(71), "kmaf16 2M": faster(89)},
)
