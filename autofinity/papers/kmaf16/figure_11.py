"""Time of one operation; for the paper, the whole of table 5 over the number of operations.

The box plots are of operations that take different times here: faults and updates take what table 5
says, and mappings what `mechanisms.mapping_time` says, each time.
"""

from autofinity.papers.kmaf16 import table_5
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
            "fault": 2.19e9 / table_5.FAULTS,
            "update": 1.95e9 / table_5.UPDATES,
            "page copy": 4.01e9 / table_5.PAGE_MIGRATIONS,
            "mapping": 130e6 / table_5.MAPPINGS,
            "thread migration": 17e6 / table_5.THREAD_MIGRATIONS,
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
