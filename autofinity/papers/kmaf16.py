"""Diener et al., Kernel-Based Thread and Data Mapping for Improved Memory Affinity, TPDS 2016."""

from autofinity.papers.changes import faster
from autofinity.papers.figure import Paper
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.studies.bars import Bars
from autofinity.papers.studies.fault_rates import FaultRates
from autofinity.papers.studies.operation_costs import OperationCosts
from autofinity.papers.studies.page_sizes import PageSizes
from autofinity.papers.studies.side_by_side import SideBySide

PAPER = Paper("Diener et al., TPDS 2016", "xeon-x7550", "kmaf16-")
MECHANISMS = ("compact", "numa-balancing", "kmaf16", "oracle-trace")

FIGURES = (
    MechanismFigure(
        PAPER,
        "1",
        "what thread and data mapping matter",
        "3.2",
        Bars("time", ("tl-dr", "tr-dl", "tl-dl"), baseline="tr-dr"),
        {"tl-dr": faster(15), "tr-dl": faster(31), "tl-dl": faster(62)},
        machine="kmaf16-simulated",
        size="small",
        programs=("stencil", "lbm"),
        repeats=3,
    ),
    MechanismFigure(
        PAPER,
        "4",
        "time on the Itanium",
        "6.1",
        Bars("time", ("compact", "kmaf16", "oracle-trace")),
        {"compact": faster(1.7), "kmaf16": faster(9.4), "oracle-trace": faster(14.3)},
        machine="altix-450",
    ),
    MechanismFigure(
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
    ),
    MechanismFigure(
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
    ),
    MechanismFigure(PAPER, "7", "energy on the Xeon", "6.2", Bars("energy", MECHANISMS)),
    MechanismFigure(
        PAPER,
        "8",
        "several applications",
        "6.3",
        SideBySide(
            (("stencil", "stencil"), ("stencil", "pricer")), ("compact", "numa-balancing", "kmaf16")
        ),
        threads=16,
        size="small",
    ),
    MechanismFigure(
        PAPER,
        "9a",
        "extra page faults, threads mapped only",
        "6.4",
        FaultRates("kmaf16-threads", "oracle-threads", (0, 10, 20, 100, 1000, 10_000)),
    ),
    MechanismFigure(
        PAPER,
        "9b",
        "extra page faults, threads and pages mapped",
        "6.4",
        FaultRates("kmaf16", "oracle-trace", (0, 200, 1000, 2000, 4000, 10_000, 40_000)),
    ),
    MechanismFigure(
        PAPER,
        "10",
        "small and large pages",
        "6.5",
        PageSizes(),
        {"os 2M": faster(36), "kmaf16 4K": faster(71), "kmaf16 2M": faster(89)},
    ),
    MechanismFigure(
        PAPER,
        "11",
        "what an operation takes (the paper's from table 5)",
        "6.6",
        OperationCosts("kmaf16", "operation"),
        {  # ns of all operations of a kind over their number
            "fault": 2.19e9 / 4_828_171,
            "update": 1.95e9 / 5_063_691,
            "page copy": 4.01e9 / 176_194,
            "mapping": 130e6 / 3487,
            "thread migration": 17e6 / 370,
        },
    ),
    MechanismFigure(
        PAPER,
        "t5",
        "overhead by kind of operation",
        "6.6",
        OperationCosts("kmaf16", "run"),
        {
            "fault": 0.63,
            "update": 0.56,
            "page copy": 1.15,
            "mapping": 0.04,
            "thread migration": 0.01,
        },
    ),
)
