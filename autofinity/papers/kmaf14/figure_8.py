"""Misses of the last-level caches."""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import less
from autofinity.papers.kmaf14.paper import MECHANISMS, PAPER
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(
    PAPER, "8", "L3 misses", "5.1", Bars("llc_misses", MECHANISMS), {"kmaf14": less(11.1)}
)
