"""All programs at the thread count that was learned with.

In the paper 7 of 9 sensitive programs get what suits them, and the mean is 96 % of the oracle's.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.evaluation.cases import Case, inputs_to_name
from autofinity.evaluation.times import geometric_mean
from autofinity.model.errors import LearningError
from autofinity.papers.cc13.paper import PAPER
from autofinity.papers.cc13.unseen import NOTE, SHOWN, judged
from autofinity.papers.figure import AnyFigure, Figure
from autofinity.papers.observed import Observed
from autofinity.report.chart import Chart


class OneThreadCount:
    """Packed, spread and the policy's choice for every program."""

    def data(self, observed: Observed) -> list[Case]:
        """Raises `LearningError` when none could be judged."""
        cases = judged(observed, observed.threads)
        if not cases:
            raise LearningError(f"no case with {observed.threads} threads was judged; profile some")
        return cases

    def draw(self, figure: AnyFigure, cases: Sequence[Case], on: str) -> Chart:
        """Three bars for each program, and for the mean; all cases have one thread count."""
        inputs = inputs_to_name(cases)
        names = [f"{case.workload.program}{of}" for case, of in zip(cases, inputs, strict=True)]
        bars = {
            column: (
                *(case.roi_s[column] * 1e3 for case in cases),
                geometric_mean(case.roi_s[column] for case in cases) * 1e3,
            )
            for column in SHOWN
        }
        return Chart(
            f"Figure 11: {cases[0].workload.threads} threads on {on}",
            "program",
            "ms of the region of interest",
            (*names, "geometric mean"),
            bars,
            log=True,
        )


FIGURE = Figure(PAPER, "11", "programs not seen before", "3.6", OneThreadCount(), note=NOTE)
