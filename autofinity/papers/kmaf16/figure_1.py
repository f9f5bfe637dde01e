"""Threads and data, local and remote, simulated: what each is worth.

With local threads alone execution time was "reduced by 15 percent", by the text; the others
"improve performance".
"""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import faster, less
from autofinity.papers.kmaf16.paper import PAPER
from autofinity.papers.mechanism_figure import MechanismFigure

FIGURE = MechanismFigure(
    PAPER,
    "1",
    "what thread and data mapping matter",
    "3.2",
    Bars("time", ("tl-dr", "tr-dl", "tl-dl"), baseline="tr-dr"),
    {"tl-dr": less(15), "tr-dl": faster(31), "tl-dl": faster(62)},
    machine="kmaf16-simulated",
    size="small",
    programs=("stencil", "lbm"),
    repeats=3,
)
