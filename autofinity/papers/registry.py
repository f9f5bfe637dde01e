"""All figures by name: those of AutoFinity, which observations show, and those of mechanisms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autofinity.papers import cc13, kmaf14, kmaf16, sammu, tlb
from autofinity.papers.figure import Figure
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.observed import Observed

OF_OBSERVATIONS: Mapping[str, Figure[Observed, Any]] = {
    figure.name: figure for figure in cc13.FIGURES
}
OF_MECHANISMS: Mapping[str, MechanismFigure[Any]] = {
    figure.name: figure for paper in (kmaf14, kmaf16, sammu, tlb) for figure in paper.FIGURES
}
