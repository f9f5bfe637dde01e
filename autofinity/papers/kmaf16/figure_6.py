"""Execution time on the Opteron."""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import faster
from autofinity.papers.kmaf16.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(
    PAPER,
    "6",
    "time on the Opteron",
    "6.1",
    Bars("time", ("compact", "carrefour", "numa-balancing", "kmaf16", "oracle-trace")),
    {
        "compact": faster(7.7),
        "carrefour": faster(11.6),
        "numa-balancing": faster(10.4),
        "kmaf16": faster(29.8),
        "oracle-trace": faster(42.0),
    },
    machine="opteron-6386",
)
