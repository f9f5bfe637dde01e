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
    """The first program with itself and with each other one: time until both have ended, against
    one after the other under the operating system.
    """

    mechanisms: tuple[str, ...]

    def data(self, runs: Runs) -> list[MechanismCase]:
        """Runs of each program alone and of each pair, which cannot be repeated."""
        first, *_ = names = runs.names
        programs = (*names, *(f"{first}+{name}" for name in names))
        return runs.cases(self.mechanisms, programs=programs, repeats=1)

    def draw(self, figure: AnyFigure, cases: Sequence[MechanismCase], on: str) -> Chart:
        """Times of each pair, one after the other and at once, by mechanism."""
        times = times_s(cases)
        together_of = dict.fromkeys(case.program for case in cases if "+" in case.program)
        pairs = [tuple(names.split("+")) for names in together_of]

        def in_turn(mechanism: str, pair: Sequence[str]) -> float:
            return sum(times.get(mechanism, {}).get(program, math.nan) for program in pair)

        def together(mechanism: str, pair: Sequence[str]) -> float:
            return times.get(mechanism, {}).get("+".join(pair), math.nan)

        ways = {"one after the other": in_turn, "at once": together}
        return Chart(
            f"{figure.title}, {on}",
            "programs",
            "time / OS, one after the other",
            tuple(f"{'+'.join(pair)} {way}" for pair in pairs for way in ways),
            {
                mechanism: tuple(
                    time(mechanism, pair) / in_turn(BASELINE, pair)
                    for pair in pairs
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
    SideBySide(("compact", "numa-balancing", "kmaf16")),
    size="small",
    programs=("stencil", "pricer"),
)
