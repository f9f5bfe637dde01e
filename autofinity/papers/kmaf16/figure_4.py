"""Execution time on the Itanium."""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import faster
from autofinity.papers.kmaf16.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(
    PAPER,
    "4",
    "time on the Itanium",
    "6.1",
    Bars("time", ("compact", "kmaf16", "oracle-trace")),
    {"compact": faster(1.7), "kmaf16": faster(9.4), "oracle-trace": faster(14.3)},
    machine="altix-450",
)
