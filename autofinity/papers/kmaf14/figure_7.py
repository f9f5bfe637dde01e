"""Execution time, kMAF beside static mappings and the oracle."""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import less
from autofinity.papers.kmaf14.paper import MECHANISMS, PAPER
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(
    PAPER,
    "7",
    "execution time",
    "5.1",
    Bars("time", MECHANISMS),
    {"compact": less(3.2), "random": less(1.2), "kmaf14": less(13.8), "oracle-trace": less(15.3)},
)
