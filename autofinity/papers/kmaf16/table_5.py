"""Time of all operations of a run, by kind."""

from autofinity.papers.kmaf16.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.operation_costs import OperationCosts

FIGURE = MechanismFigure(
    PAPER,
    "t5",
    "overhead by kind of operation",
    "6.6",
    OperationCosts("kmaf16", "run"),
    {"fault": 0.63, "update": 0.56, "page copy": 1.15, "mapping": 0.04, "thread migration": 0.01},
)
