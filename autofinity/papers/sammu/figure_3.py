"""Execution time, beside related work and the oracle."""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import less
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.sammu.paper import MECHANISMS, PAPER, REPEATS, SIZE

FIGURE = MechanismFigure(
    PAPER,
    "3",
    "execution time",
    "4.2",
    Bars("time", MECHANISMS),
    {"sammu": less(13.1)},
    size=SIZE,
    repeats=REPEATS,
)
