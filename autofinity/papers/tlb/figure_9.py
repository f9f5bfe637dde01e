"""Who shares with whom in both phases of producers and consumers, and in between."""

from __future__ import annotations

from autofinity.evaluation.watched_sharing import watched_over_time
from autofinity.mechanisms.sharing_aware import added, nothing
from autofinity.model.sharing import SharingMatrix
from autofinity.papers.matrices import DrawnMatrices
from autofinity.papers.mechanism_figure import MechanismFigure, Runs
from autofinity.papers.placed import placed
from autofinity.papers.tlb.paper import PAPER, TWO_PHASES

LOOKS = 400
"""At the run."""
PARTS = {
    "first phase": (0.05, 0.24),
    "second phase": (0.3, 0.49),
    "transition": (0.2, 0.3),
    "whole run": (0.0, 1.0),
}
"""Shares of the work from and to."""


class Phases(DrawnMatrices):
    """The matrix of each part of the program's run, by TLB matching."""

    def data(self, runs: Runs) -> dict[str, SharingMatrix]:
        """By part."""
        (program,) = placed(runs)
        looks = watched_over_time(*program.where, "tlb", LOOKS)
        found = dict.fromkeys(PARTS, nothing(runs.threads))
        for name, (begin, end) in PARTS.items():
            for progress, sharing in looks:
                if begin < progress <= end:
                    found[name] = added(found[name], sharing)
        return found


FIGURE = MechanismFigure(
    PAPER,
    "9",
    "producers and consumers in two phases",
    "6.2",
    Phases(),
    programs=("prodcons",),
    own_input=TWO_PHASES,
)
