"""Who shares with whom, by counters of remote caches (Azimi)."""

from autofinity.papers.matrices import SharingMatrices
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.tlb.paper import PAPER

FIGURE = MechanismFigure(PAPER, "15", "sharing matrices by Azimi", "6.7", SharingMatrices("remote"))
