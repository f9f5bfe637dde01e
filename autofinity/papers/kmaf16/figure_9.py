"""Gain and cost of more page faults: while pages stay, and while they follow; and what threads are
seen to share by few of them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autofinity.detect.scaled import faults_of_pages
from autofinity.evaluation.comparison import MechanismCase
from autofinity.evaluation.watched_sharing import watched
from autofinity.model.sharing import SharingMatrix
from autofinity.papers.figure import AnyFigure
from autofinity.papers.kmaf16.paper import PAPER
from autofinity.papers.matrices import DrawnMatrices
from autofinity.papers.mechanism_figure import MechanismFigure, Runs
from autofinity.papers.placed import placed
from autofinity.papers.values import LABELS, mean, values
from autofinity.report.chart import Chart


@dataclass(frozen=True, slots=True)
class FaultRates:
    """Time against the number of extra page faults, in % of the pages."""

    mechanism: str
    oracle: str
    percents: tuple[float, ...]

    def data(self, runs: Runs) -> dict[float, list[MechanismCase]]:
        """By percent; those of the oracle, which has no faults, are in the first only."""
        first, *others = self.percents
        asked = {first: (self.mechanism, self.oracle)} | dict.fromkeys(others, (self.mechanism,))
        return {
            percent: runs.cases(names, faults_per_page=percent / 100)
            for percent, names in asked.items()
        }

    def draw(
        self,
        figure: AnyFigure,
        by_percent: Mapping[float, Sequence[MechanismCase]],
        on: str,
    ) -> Chart:
        """Against the operating system's at each rate; the oracle's is a level line."""
        means = {
            percent: {name: mean(own, "time") for name, own in values(cases, "time").items()}
            for percent, cases in by_percent.items()
        }
        oracle = [found[self.oracle] for found in means.values() if self.oracle in found]
        return Chart(
            f"{figure.title}, {on}",
            "extra page faults, % of the pages",
            LABELS["time"],
            tuple(f"{percent:g}" for percent in means),
            {
                self.mechanism: tuple(
                    found.get(self.mechanism, math.nan) for found in means.values()
                ),
                self.oracle: tuple(oracle[:1] or [math.nan]) * len(means),
            },
            kind="lines",
        )


@dataclass(frozen=True, slots=True)
class FaultMatrices(DrawnMatrices):
    """Sharing that kMAF sees in a run by its first faults on each page, which the program makes by
    itself, and by some extra ones, in % of the pages.
    """

    percents: tuple[float, ...]

    def data(self, runs: Runs) -> dict[str, SharingMatrix]:
        """By program and percent."""
        found = {}
        for program in placed(runs):
            whole = program.whole_trace()
            for percent in self.percents:
                detector = functools.partial(faults_of_pages, percent / 100)
                seen = watched(*program.where, detector, whole)
                found[f"{program.name}, {percent:g} % more faults"] = seen.sharing
        return found


FIGURES = (
    MechanismFigure(
        PAPER,
        "9a",
        "extra page faults, threads mapped only",
        "6.4",
        FaultRates("kmaf16-threads", "oracle-threads", (0, 10, 20, 100, 1000, 10_000)),
    ),
    MechanismFigure(
        PAPER,
        "9a-matrices",
        "sharing matrices by extra page faults",
        "6.4",
        FaultMatrices((0, 10, 20)),
        size="small",
        programs=("stencil",),
    ),
    MechanismFigure(
        PAPER,
        "9b",
        "extra page faults, threads and pages mapped",
        "6.4",
        FaultRates("kmaf16", "oracle-trace", (0, 200, 1000, 2000, 4000, 10_000, 40_000)),
    ),
)
