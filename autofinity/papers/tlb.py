"""Cruz, Diener, Navaux, Communication-Aware Thread Mapping Using the TLB, CCPE 2014."""

from autofinity.papers.changes import mean_change
from autofinity.papers.figure import Paper
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.studies.bars import Bars
from autofinity.papers.studies.matrices import SharingMatrices
from autofinity.papers.studies.phases import Phases
from autofinity.papers.studies.quantities import Quantities

PAPER = Paper("Cruz et al., CCPE 2014", "xeon-e5-2650", "tlb-")
MECHANISMS = ("random", "tlb", "oracle-threads")
TWO_PHASES = "256 4 131072"
"""Of `prodcons`: blocks, phases, words of a block. What partners exchange fills a TLB, so that the
pages of former partners leave it."""
TABLE_II = {
    "time": mean_change(-9.2, 2.2, -0.3, 0.3, -0.3, -7.4, -0.4, -16.7, -4.6),
    "l2_mpki": mean_change(-23.1, -2.3, -2.5, -0.1, -3.2, -23.3, -0.8, -25.1, -24.4),
    "mpki": mean_change(-54.4, -3.2, -4.6, 0.0, -3.2, -35.4, -1.1, -59.3, -54.7),
    "cache_to_cache": mean_change(-67.0, -23.1, 8.8, -8.6, -16.5, -49.3, -65.7, -76.3, -60.3),
    "energy": mean_change(-6.8, 1.9, -0.3, 0.5, 0.1, -6.9, -0.4, -14.8, -4.6),
}
"""Of BT, CG, EP, FT, IS, LU, MG, SP and UA; energy is the processors'. Figures 12 to 16 draw it."""

FIGURES = (
    MechanismFigure(
        PAPER,
        "3",
        "producers and consumers, mapped once and as they change",
        "2",
        Bars("time", ("neighbours", "spcd", "kmaf16", "tlb", "unified", "oracle-threads")),
        threads=8,
        programs=("prodcons",),
        repeats=1,
        own_input=TWO_PHASES,
    ),
    MechanismFigure(
        PAPER,
        "9",
        "producers and consumers in two phases",
        "6.2",
        Phases(),
        threads=8,
        programs=("prodcons",),
        own_input=TWO_PHASES,
    ),
    MechanismFigure(PAPER, "10", "sharing matrices by TLBs", "6.3", SharingMatrices("tlb")),
    MechanismFigure(
        PAPER,
        "11",
        "time in Simics",
        "6.4",
        Bars("time", ("compact", "tlb")),
        machine="tlb-simulated",
    ),
    *(
        MechanismFigure(
            PAPER, number, title, section, Bars(quantity, MECHANISMS), {"tlb": TABLE_II[quantity]}
        )
        for number, title, section, quantity in (
            ("12a", "execution time", "6.4", "time"),
            ("12b", "L2 MPKI", "6.4", "l2_mpki"),
            ("12c", "L3 MPKI", "6.4", "mpki"),
            ("12d", "cache-to-cache transactions", "6.4", "cache_to_cache"),
            ("13", "energy", "6.5", "energy"),
        )
    ),
    MechanismFigure(PAPER, "14a", "TLB miss rate", "6.6", Bars("tlb_miss_rate", ("os", "tlb"))),
    MechanismFigure(PAPER, "14b", "overhead", "6.6", Bars("overhead", ("tlb",))),
    MechanismFigure(PAPER, "15", "sharing matrices by Azimi", "6.7", SharingMatrices("remote")),
    MechanismFigure(
        PAPER,
        "16",
        "execution time beside related work",
        "6.7",
        Bars("time", ("tlb", "azimi", "autopin")),
        {"tlb": TABLE_II["time"]},
    ),
    MechanismFigure(PAPER, "t2", "results of the TLB mechanism", "6.4", Quantities(), TABLE_II),
)
