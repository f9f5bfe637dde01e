"""Energy on the Xeon."""

from autofinity.papers.bars import Bars
from autofinity.papers.kmaf16.paper import MECHANISMS, PAPER
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(PAPER, "7", "energy on the Xeon", "6.2", Bars("energy", MECHANISMS))
