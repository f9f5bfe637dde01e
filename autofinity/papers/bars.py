"""A quantity of each program under each mechanism, the mean over programs, and the paper's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.evaluation.comparison import MechanismCase
from autofinity.mechanisms.registry import BASELINE
from autofinity.papers.beside import MEAN, PAPER
from autofinity.papers.figure import AnyFigure
from autofinity.papers.mechanism_figure import Runs
from autofinity.papers.values import LABELS, mean, values
from autofinity.report.chart import Chart


@dataclass(frozen=True, slots=True)
class Bars:
    """One of `LABELS`, for some mechanisms."""

    quantity: str
    mechanisms: tuple[str, ...]
    baseline: str = BASELINE
    """The denominator of ratios."""

    def data(self, runs: Runs) -> list[MechanismCase]:
        """Runs of all mechanisms and the baseline."""
        return runs.cases((self.baseline, *self.mechanisms))

    def draw(self, figure: AnyFigure, cases: Sequence[MechanismCase], on: str) -> Chart:
        """A group of bars for each program, one for the mean and one for the paper's."""
        found = values(cases, self.quantity, self.baseline)
        programs = list(dict.fromkeys(case.program for case in cases))
        paper = (PAPER,) if figure.numbers else ()
        against = "the OS" if self.baseline == BASELINE else self.baseline
        return Chart(
            f"{figure.title}, {on}",
            "program",
            LABELS[self.quantity].replace("the OS", against),
            (*programs, MEAN, *paper),
            {
                mechanism: (
                    *(found.get(mechanism, {}).get(program, math.nan) for program in programs),
                    mean(found.get(mechanism, {}), self.quantity),
                    *(figure.numbers.get(mechanism, math.nan) for _ in paper),
                )
                for mechanism in self.mechanisms
            },
        )
