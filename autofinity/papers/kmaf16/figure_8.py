"""Two programs one after the other and at the same time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.evaluation.comparison import MechanismCase
from autofinity.mechanisms.registry import BASELINE
from autofinity.papers.figure import AnyFigure
from autofinity.papers.kmaf16.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure, Runs
from autofinity.papers.values import times_s
from autofinity.report.chart import Chart


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Time until both have ended, against one after the other under the operating system."""

    pairs: tuple[tuple[str, str], ...]
    mechanisms: tuple[str, ...]

    def data(self, runs: Runs) -> list[MechanismCase]:
        """Runs of each program alone and of each pair, which cannot be repeated."""
        alone = dict.fromkeys(program for pair in self.pairs for program in pair)
        programs = (*alone, *map("+".join, self.pairs))
        return runs.cases(self.mechanisms, programs=programs, repeats=1)

    def draw(self, figure: AnyFigure, cases: Sequence[MechanismCase], on: str) -> Chart:
        """Times of each pair, one after the other and at once, by mechanism."""
        times = times_s(cases)

        def in_turn(mechanism: str, pair: tuple[str, str]) -> float:
            return sum(times.get(mechanism, {}).get(program, math.nan) for program in pair)

        def together(mechanism: str, pair: tuple[str, str]) -> float:
            return times.get(mechanism, {}).get("+".join(pair), math.nan)

        ways = {"one after the other": in_turn, "at once": together}
        return Chart(
            f"{figure.title}, {on}",
            "programs",
            "time / OS, one after the other",
            tuple(f"{'+'.join(pair)} {way}" for pair in self.pairs for way in ways),
            {
                mechanism: tuple(
                    time(mechanism, pair) / in_turn(BASELINE, pair)
                    for pair in self.pairs
                    for time in ways.values()
                )
                for mechanism in (BASELINE, *self.mechanisms)
            },
        )


FIGURE = MechanismFigure(
    PAPER,
    "8",
    "several applications",
    "6.3",
    SideBySide(
        (("stencil", "stencil"), ("stencil", "pricer")), ("compact", "numa-balancing", "kmaf16")
    ),
    size="small",
)
