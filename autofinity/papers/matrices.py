"""Sharing matrices of programs, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autofinity.detect.scaled import SCALED
from autofinity.evaluation.watched_sharing import watched
from autofinity.model.sharing import SharingMatrix
from autofinity.papers.figure import AnyFigure
from autofinity.papers.mechanism_figure import Runs
from autofinity.papers.placed import placed
from autofinity.report.matrix_figure import Matrices


class DrawnMatrices:
    """Draws matrices as they are, side by side."""

    __slots__ = ()

    def draw(self, figure: AnyFigure, found: Mapping[str, SharingMatrix], on: str) -> Matrices:
        """As they are."""
        return Matrices(f"{figure.title}, {on}", found)


@dataclass(frozen=True, slots=True)
class SharingMatrices(DrawnMatrices):
    """The matrix of each program as a source sees it: one of `detect.scaled.SCALED`, or "trace"."""

    source: str

    def data(self, runs: Runs) -> dict[str, SharingMatrix]:
        """By program."""
        found = {}
        for program in placed(runs):
            seen = program.whole_trace()
            if self.source != "trace":
                seen = watched(*program.where, SCALED[self.source], seen)
            found[program.name] = seen.sharing
        return found
