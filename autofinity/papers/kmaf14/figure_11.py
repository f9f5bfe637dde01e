"""Gain of each half of the mechanism alone."""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import less
from autofinity.papers.kmaf14.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(
    PAPER,
    "11",
    "thread or data affinity only",
    "5.3",
    Bars("time", ("kmaf14-threads", "kmaf14-pages", "kmaf14")),
    {"kmaf14-threads": less(6.4), "kmaf14-pages": less(2.0), "kmaf14": less(13.8)},
)
