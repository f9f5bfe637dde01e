"""Diener et al., kMAF: Automatic Kernel-Level Management of Thread and Data Affinity, PACT 2014."""

from autofinity.papers.changes import less
from autofinity.papers.figure import Paper
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.studies.bars import Bars
from autofinity.papers.studies.exclusivity import Exclusivity, ExclusivityShares
from autofinity.papers.studies.matrices import SharingMatrices
from autofinity.papers.studies.sharing_metrics import SharingMetrics

PAPER = Paper("Diener et al., PACT 2014", "xeon-x7550", "kmaf14-")
MECHANISMS = ("compact", "random", "kmaf14", "oracle-trace")

FIGURES = (
    MechanismFigure(
        PAPER,
        "1",
        "average exclusivity by page size",
        "2.3.2",
        Exclusivity(),
        {"4 KiB": 83.6, "2048 KiB": 78.3},
    ),
    MechanismFigure(PAPER, "2", "page exclusivity, 4 KiB pages", "2.3.2", ExclusivityShares()),
    MechanismFigure(PAPER, "3", "sharing patterns", "2.3.2", SharingMetrics()),
    MechanismFigure(PAPER, "4", "sharing matrices", "2.3.2", SharingMatrices("trace")),
    MechanismFigure(
        PAPER,
        "7",
        "execution time",
        "5.1",
        Bars("time", MECHANISMS),
        {
            "compact": less(3.2),
            "random": less(1.2),
            "kmaf14": less(13.8),
            "oracle-trace": less(15.3),
        },
    ),
    MechanismFigure(
        PAPER, "8", "L3 misses", "5.1", Bars("llc_misses", MECHANISMS), {"kmaf14": less(11.1)}
    ),
    MechanismFigure(
        PAPER, "9", "QPI traffic", "5.1", Bars("traffic", MECHANISMS), {"kmaf14": less(19.0)}
    ),
    MechanismFigure(
        PAPER,
        "10",
        "energy",
        "5.2",
        Bars("energy", MECHANISMS),
        {
            "compact": less(4.1),
            "random": less(2.9),
            "kmaf14": less(9.3),
            "oracle-trace": less(11.1),
        },
    ),
    MechanismFigure(
        PAPER,
        "11",
        "thread or data affinity only",
        "5.3",
        Bars("time", ("kmaf14-threads", "kmaf14-pages", "kmaf14")),
        {"kmaf14-threads": less(6.4), "kmaf14-pages": less(2.0), "kmaf14": less(13.8)},
    ),
    MechanismFigure(PAPER, "12", "overhead", "5.4", Bars("overhead", ("kmaf14",)), {"kmaf14": 1.8}),
)
