"""Time of one operation; for the paper, the whole of table 5 over the number of operations.

The box plots are of operations that take different times here: faults and updates take what table 5
says, and mappings what `mechanisms.mapping_time` says, each time.
"""

from autofinity.papers.kmaf16.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.operation_costs import CostsOfEach, OperationCosts

FIGURES = (
    MechanismFigure(
        PAPER,
        "11",
        "what an operation takes (the paper's from table 5)",
        "6.6",
        OperationCosts("kmaf16", "operation"),
        {
            "fault": 2.19e9 / 4_828_171,
            "update": 1.95e9 / 5_063_691,
            "page copy": 4.01e9 / 176_194,
            "mapping": 130e6 / 3487,
            "thread migration": 17e6 / 370,
        },
    ),
    MechanismFigure(
        PAPER,
        "11-boxes",
        "what each operation takes",
        "6.6",
        CostsOfEach("kmaf16"),
    ),
)
