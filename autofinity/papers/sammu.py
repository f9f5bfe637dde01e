"""Cruz et al., A Sharing-Aware Memory Management Unit for Online Mapping, Euro-Par 2016."""

from autofinity.papers.changes import less
from autofinity.papers.figure import Paper
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.studies.bars import Bars
from autofinity.papers.studies.matrices import SharingMatrices

PAPER = Paper("Cruz et al., Euro-Par 2016", "xeon-x7550", "sammu-")
MECHANISMS = (
    *("random", "marathe", "autopin", "numa-balancing", "kmaf14", "sammu"),
    "oracle-trace",
)

FIGURES = (
    MechanismFigure(PAPER, "2", "sharing matrices", "4.2", SharingMatrices("sammu")),
    MechanismFigure(
        PAPER, "3", "execution time", "4.2", Bars("time", MECHANISMS), {"sammu": less(13.1)}
    ),
    MechanismFigure(PAPER, "4a", "L3 MPKI", "4.2", Bars("mpki", MECHANISMS), {"sammu": less(30.6)}),
    MechanismFigure(
        PAPER, "4b", "interchip traffic", "4.2", Bars("traffic", MECHANISMS), {"sammu": less(39.0)}
    ),
)
