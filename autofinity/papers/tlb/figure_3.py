"""Producers and consumers whose partners change: one mapping, and dynamic ones."""

from autofinity.papers.bars import Bars
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.tlb.paper import PAPER, TWO_PHASES

FIGURE = MechanismFigure(
    PAPER,
    "3",
    "producers and consumers, mapped once and as they change",
    "2",
    Bars("time", ("neighbours", "spcd", "kmaf16", "tlb", "unified", "oracle-threads")),
    threads=8,
    programs=("prodcons",),
    repeats=1,
    own_input=TWO_PHASES,
)
