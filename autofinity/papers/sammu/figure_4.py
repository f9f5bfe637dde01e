"""Misses of the last-level caches per thousand instructions, and traffic between the sockets."""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import less
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.sammu.paper import MECHANISMS, PAPER

FIGURES = (
    MechanismFigure(PAPER, "4a", "L3 MPKI", "4.2", Bars("mpki", MECHANISMS), {"sammu": less(30.6)}),
    MechanismFigure(
        PAPER, "4b", "interchip traffic", "4.2", Bars("traffic", MECHANISMS), {"sammu": less(39.0)}
    ),
)
