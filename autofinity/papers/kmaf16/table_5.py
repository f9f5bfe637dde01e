"""Time and number of all operations of a run, by kind."""

from autofinity.model.detection import FaultSampling
from autofinity.papers.kmaf16.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.operation_costs import EventCounts, OperationCosts

NORMAL_FAULTS, FAULTS, UPDATES, PAGE_MIGRATIONS = 235_520, 4_828_171, 5_063_691, 176_194
MAPPINGS, THREAD_MIGRATIONS = 3_487, 370

FIGURES = (
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
    MechanismFigure(
        PAPER,
        "t5-events",
        "number of operations",
        "6.6",
        EventCounts("kmaf16", FaultSampling().fault_ns, FaultSampling().update_ns),
        {
            "normal page faults a 1,000 extra faults": 1000 * NORMAL_FAULTS / FAULTS,
            "matrix updates a 1,000 extra faults": 1000 * UPDATES / FAULTS,
            "page migrations a 1,000 extra faults": 1000 * PAGE_MIGRATIONS / FAULTS,
            "mappings a 1,000 extra faults": 1000 * MAPPINGS / FAULTS,
            "thread migrations a mapping": THREAD_MIGRATIONS / MAPPINGS,
        },
    ),
)
