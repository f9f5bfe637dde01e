"""Overhead of the mechanism itself."""

from autofinity.papers.bars import Bars
from autofinity.papers.kmaf14.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(
    PAPER, "12", "overhead", "5.4", Bars("cpu_time", ("kmaf14",)), {"kmaf14": 1.8}
)
