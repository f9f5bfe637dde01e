"""Energy of the processors."""

from autofinity.papers.bars import Bars
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.tlb.paper import MECHANISMS, PAPER, TABLE_II

FIGURE = MechanismFigure(
    PAPER, "13", "energy", "6.5", Bars("energy", MECHANISMS), {"tlb": TABLE_II["energy"]}
)
