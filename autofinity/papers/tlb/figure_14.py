"""How many translations no TLB has, and what the mechanism itself takes."""

from autofinity.papers.bars import Bars
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.tlb.paper import PAPER

FIGURES = (
    MechanismFigure(PAPER, "14a", "TLB miss rate", "6.6", Bars("tlb_miss_rate", ("os", "tlb"))),
    MechanismFigure(PAPER, "14b", "overhead", "6.6", Bars("overhead", ("tlb",))),
)
