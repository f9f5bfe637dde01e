"""Gain of the mapping on the real machine: time, misses of both caches, and transfers."""

from autofinity.papers.bars import Bars
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.tlb.paper import MECHANISMS, PAPER, TABLE_II

FIGURES = tuple(
    MechanismFigure(
        PAPER, number, title, "6.4", Bars(quantity, MECHANISMS), {"tlb": TABLE_II[quantity]}
    )
    for number, title, quantity in (
        ("12a", "execution time", "time"),
        ("12b", "L2 MPKI", "l2_mpki"),
        ("12c", "L3 MPKI", "mpki"),
        ("12d", "cache-to-cache transactions", "cache_to_cache"),
    )
)
