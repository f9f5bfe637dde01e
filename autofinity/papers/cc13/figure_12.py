"""Interesting cases at all thread counts, learned at one. In the paper 12 of 15 are wins."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.evaluation.cases import Case, inputs_to_name
from autofinity.model.errors import LearningError
from autofinity.papers.cc13.paper import PAPER
from autofinity.papers.cc13.unseen import NOTE, SHOWN, judged
from autofinity.papers.figure import AnyFigure, Figure
from autofinity.papers.observed import Observed
from autofinity.report.chart import Chart
from autofinity.report.evaluation_table import mark


class InterestingCases:
    """Those whose packed and spread times differ by a fifth."""

    def data(self, observed: Observed) -> list[Case]:
        """All cases that can be judged."""
        return judged(observed, None)

    def draw(self, figure: AnyFigure, cases: Sequence[Case], on: str) -> Chart:
        """Three bars each; ✓ within 1 % of the better static policy.

        Raises `LearningError` when none is interesting.
        """
        chosen = [case for case in cases if case.interesting]
        if not chosen:
            raise LearningError(
                f"none of {len(cases)} cases is interesting: there is nothing to show"
            )
        return Chart(
            f"Figure 12: {figure.title} on {on}",
            "program and threads",
            "ms of the region of interest",
            tuple(
                f"{case.workload.program}/{case.workload.threads}{of}"
                for case, of in zip(chosen, inputs_to_name(chosen), strict=True)
            ),
            {column: tuple(case.roi_s[column] * 1e3 for case in chosen) for column in SHOWN},
            log=True,
            marks=tuple(mark(case) for case in chosen),
        )


FIGURE = Figure(PAPER, "12", "interesting cases", "3.6", InterestingCases(), note=NOTE)
