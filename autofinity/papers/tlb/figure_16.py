"""Execution time, beside Azimi's and Autopin's."""

from autofinity.papers.bars import Bars
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.tlb.paper import PAPER, TABLE_II

FIGURE = MechanismFigure(
    PAPER,
    "16",
    "execution time beside related work",
    "6.7",
    Bars("time", ("tlb", "azimi", "autopin")),
    {"tlb": TABLE_II["time"]},
)
