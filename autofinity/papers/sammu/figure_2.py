"""Who shares with whom, as SAMMU sees it."""

from autofinity.papers.matrices import SharingMatrices
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.sammu.paper import PAPER

FIGURE = MechanismFigure(PAPER, "2", "sharing matrices", "4.2", SharingMatrices("sammu"))
