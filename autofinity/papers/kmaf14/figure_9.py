"""Traffic between the sockets."""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import less
from autofinity.papers.kmaf14.paper import MECHANISMS, PAPER
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(
    PAPER, "9", "QPI traffic", "5.1", Bars("traffic", MECHANISMS), {"kmaf14": less(19.0)}
)
