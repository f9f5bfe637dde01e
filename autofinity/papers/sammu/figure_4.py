"""Misses of the last-level caches per thousand instructions, and traffic between the sockets."""

from autofinity.papers.bars import Bars
from autofinity.papers.changes import less
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.sammu.paper import MECHANISMS, PAPER, REPEATS, SIZE

FIGURES = tuple(
    MechanismFigure(
        PAPER,
        number,
        title,
        "4.2",
        Bars(quantity, MECHANISMS),
        {"sammu": mean},
        size=SIZE,
        repeats=REPEATS,
    )
    for number, title, quantity, mean in (
        ("4a", "L3 MPKI", "mpki", less(30.6)),
        ("4b", "interchip traffic", "traffic", less(39.0)),
    )
)
