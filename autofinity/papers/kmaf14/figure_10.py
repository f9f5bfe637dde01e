"""Energy of the processors and memory."""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import less
from autofinity.papers.kmaf14.paper import MECHANISMS, PAPER
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(
    PAPER,
    "10",
    "energy",
    "5.2",
    Bars("energy", MECHANISMS),
    {"compact": less(4.1), "random": less(2.9), "kmaf14": less(9.3), "oracle-trace": less(11.1)},
)
