"""Who shares with whom in each program."""

from autofinity.papers.kmaf14.paper import PAPER
from autofinity.papers.matrices import SharingMatrices
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(PAPER, "4", "sharing matrices", "2.3.2", SharingMatrices("trace"))
