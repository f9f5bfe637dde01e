"""Execution time on the Xeon."""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import faster
from autofinity.papers.kmaf16.paper import MECHANISMS, PAPER
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(
    PAPER,
    "5",
    "time on the Xeon",
    "6.1",
    Bars("time", MECHANISMS),
    {
        "compact": faster(6.7),
        "numa-balancing": faster(0.8),
        "kmaf16": faster(13.6),
        "oracle-trace": faster(17.7),
    },
)
