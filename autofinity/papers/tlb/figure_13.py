"""Energy: of the processors, of the memory, and of the processors an instruction."""

from autofinity.papers.bars import Bars
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.tlb.paper import MECHANISMS, PAPER, TABLE_II

FIGURES = tuple(
    MechanismFigure(
        PAPER, number, title, "6.5", Bars(quantity, MECHANISMS), {"tlb": TABLE_II[quantity]}
    )
    for number, title, quantity in (
        ("13a", "processor energy", "processor_energy"),
        ("13b", "DRAM energy", "dram_energy"),
        ("13c", "energy an instruction", "energy_per_instruction"),
    )
)
