"""Execution time on the simulated machine."""

from autofinity.papers.bars import Bars
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.tlb.paper import PAPER

FIGURE = MechanismFigure(
    PAPER, "11", "time in Simics", "6.4", Bars("time", ("compact", "tlb")), machine="tlb-simulated"
)
