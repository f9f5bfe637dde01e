"""Who shares with whom, by comparing TLBs."""

from autofinity.papers.matrices import SharingMatrices
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.tlb.paper import PAPER

FIGURE = MechanismFigure(PAPER, "10", "sharing matrices by TLBs", "6.3", SharingMatrices("tlb"))
