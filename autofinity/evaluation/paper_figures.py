"""The figures of the mapping papers: what each shows, on which machine, and what the paper found.

Values of the papers are those that their texts and tables give, as means over their programs;
performance improvements are turned into ratios of times. Where a figure has no value here, the
paper only draws it. Sources: Diener et al., PACT 2014 (kmaf14) and TPDS 2016 (kmaf16); Cruz et al.,
Euro-Par 2016 (sammu) and CCPE 2014 (tlb). "tN" is table N.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from autofinity.evaluation.paper_studies import (
    Bars,
    ComparisonStudy,
    Exclusivity,
    ExclusivityShares,
    FaultRates,
    Matrices,
    OperationCosts,
    PageSizes,
    Phases,
    Quantities,
    SharingMetrics,
    SharingStudy,
    SideBySide,
)

PROGRAMS = ("prodcons", "bfs", "align", "lu", "dedup", "fluid")
"""Of the suite, where none are named: one of each way to share."""


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """One figure or table."""

    name: str
    title: str
    section: str
    machine: str
    """The preset of the paper's machine."""
    study: ComparisonStudy | SharingStudy
    paper: Mapping[str, float] = field(default_factory=dict)
    """What the paper gives as a mean: by series of the drawn chart, or by position if it has one
    series only."""
    threads: int = 0
    """Of each program, where it is not one for each PU of the paper's machine."""
    size: str = "tiny"
    """Of the inputs that it is drawn from by default."""
    programs: tuple[str, ...] = ()
    """Of the suite, where those that all figures have by default do not show it."""
    repeats: int = 30
    own_input: str = ""
    """Arguments of the one program that it shows, in the place of an input of the suite."""

    @property
    def default_threads(self) -> int:
        """Of each program."""
        return self.threads or PUS[self.machine]


def faster(percent: float) -> float:
    """A performance improvement as a ratio of times."""
    return 1 / (1 + percent / 100)


def less(percent: float) -> float:
    """A reduction as a ratio."""
    return 1 - percent / 100


def mean_change(*percents: float) -> float:
    """Geometric mean of changes, as a ratio."""
    return prod(1 + percent / 100 for percent in percents) ** (1 / len(percents))


XEON, ITANIUM, OPTERON = "xeon-x7550", "altix-450", "opteron-6386"
SANDY_BRIDGE, SIMICS = "xeon-e5-2650", "tlb-simulated"
SINUCA = "kmaf16-simulated"
PUS = {SINUCA: 8, XEON: 32, ITANIUM: 8, OPTERON: 64, SANDY_BRIDGE: 32, SIMICS: 8}
"""Threads that each runs at once; the Xeon's preset has SMT off, the papers ran 64 there."""
KMAF14 = ("compact", "random", "kmaf14", "oracle-trace")
KMAF16 = ("compact", "numa-balancing", "kmaf16", "oracle-trace")
SAMMU = (
    *("random", "marathe", "autopin", "numa-balancing", "kmaf14", "sammu"),
    "oracle-trace",
)
TLB = ("random", "tlb", "oracle-threads")
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
"""Of BT, CG, EP, FT, IS, LU, MG, SP and UA; energy is the processors'."""

_ALL = (
    PaperFigure(
        "kmaf14-1",
        "average exclusivity by page size",
        "2.3.2",
        XEON,
        Exclusivity((4096, 2 << 20)),
        {"4 KiB": 83.6, "2048 KiB": 78.3},
    ),
    PaperFigure("kmaf14-2", "page exclusivity, 4 KiB pages", "2.3.2", XEON, ExclusivityShares()),
    PaperFigure("kmaf14-3", "sharing patterns", "2.3.2", XEON, SharingMetrics()),
    PaperFigure("kmaf14-4", "sharing matrices", "2.3.2", XEON, Matrices("trace")),
    PaperFigure(
        "kmaf14-7",
        "execution time",
        "5.1",
        XEON,
        Bars("time", KMAF14),
        {
            "compact": less(3.2),
            "random": less(1.2),
            "kmaf14": less(13.8),
            "oracle-trace": less(15.3),
        },
    ),
    PaperFigure(
        "kmaf14-8", "L3 misses", "5.1", XEON, Bars("llc_misses", KMAF14), {"kmaf14": less(11.1)}
    ),
    PaperFigure(
        "kmaf14-9", "QPI traffic", "5.1", XEON, Bars("traffic", KMAF14), {"kmaf14": less(19.0)}
    ),
    PaperFigure(
        "kmaf14-10",
        "energy",
        "5.2",
        XEON,
        Bars("energy", KMAF14),
        {
            "compact": less(4.1),
            "random": less(2.9),
            "kmaf14": less(9.3),
            "oracle-trace": less(11.1),
        },
    ),
    PaperFigure(
        "kmaf14-11",
        "thread or data affinity only",
        "5.3",
        XEON,
        Bars("time", ("kmaf14-threads", "kmaf14-pages", "kmaf14")),
        {"kmaf14-threads": less(6.4), "kmaf14-pages": less(2.0), "kmaf14": less(13.8)},
    ),
    PaperFigure(
        "kmaf14-12",
        "overhead",
        "5.4",
        XEON,
        Bars("overhead", ("kmaf14",)),
        {"kmaf14": 1.8},
    ),
    PaperFigure(
        "kmaf16-1",
        "what thread and data mapping matter",
        "3.2",
        SINUCA,
        Bars("time", ("tl-dr", "tr-dl", "tl-dl"), baseline="tr-dr"),
        {"tl-dr": faster(15), "tr-dl": faster(31), "tl-dl": faster(62)},
        size="small",
        programs=("stencil", "lbm"),
        repeats=3,
    ),
    PaperFigure(
        "kmaf16-4",
        "time on the Itanium",
        "6.1",
        ITANIUM,
        Bars("time", ("compact", "kmaf16", "oracle-trace")),
        {"compact": faster(1.7), "kmaf16": faster(9.4), "oracle-trace": faster(14.3)},
    ),
    PaperFigure(
        "kmaf16-5",
        "time on the Xeon",
        "6.1",
        XEON,
        Bars("time", KMAF16),
        {
            "compact": faster(6.7),
            "numa-balancing": faster(0.8),
            "kmaf16": faster(13.6),
            "oracle-trace": faster(17.7),
        },
    ),
    PaperFigure(
        "kmaf16-6",
        "time on the Opteron",
        "6.1",
        OPTERON,
        Bars("time", ("compact", "carrefour", "numa-balancing", "kmaf16", "oracle-trace")),
        {
            "compact": faster(7.7),
            "carrefour": faster(11.6),
            "numa-balancing": faster(10.4),
            "kmaf16": faster(29.8),
            "oracle-trace": faster(42.0),
        },
    ),
    PaperFigure("kmaf16-7", "energy on the Xeon", "6.2", XEON, Bars("energy", KMAF16)),
    PaperFigure(
        "kmaf16-8",
        "several applications",
        "6.3",
        XEON,
        SideBySide(
            (("stencil", "stencil"), ("stencil", "pricer")), ("compact", "numa-balancing", "kmaf16")
        ),
        threads=16,
        size="small",
    ),
    PaperFigure(
        "kmaf16-9a",
        "extra page faults, threads mapped only",
        "6.4",
        XEON,
        FaultRates("kmaf16-threads", "oracle-threads", (0, 10, 20, 100, 1000, 10_000)),
    ),
    PaperFigure(
        "kmaf16-9b",
        "extra page faults, threads and pages mapped",
        "6.4",
        XEON,
        FaultRates("kmaf16", "oracle-trace", (0, 200, 1000, 2000, 4000, 10_000, 40_000)),
    ),
    PaperFigure(
        "kmaf16-10",
        "small and large pages",
        "6.5",
        XEON,
        PageSizes("kmaf16", ("4K", "2M")),
        {"os 2M": faster(36), "kmaf16 4K": faster(71), "kmaf16 2M": faster(89)},
    ),
    PaperFigure(
        "kmaf16-11",
        "what an operation takes (the paper's from table 5)",
        "6.6",
        XEON,
        OperationCosts("kmaf16", "operation"),
        {
            "fault": 2.19e9 / 4_828_171,
            "update": 1.95e9 / 5_063_691,
            "page copy": 4.01e9 / 176_194,
            "mapping": 130e6 / 3487,
            "thread migration": 17e6 / 370,
        },
    ),
    PaperFigure(
        "kmaf16-t5",
        "overhead by kind of operation",
        "6.6",
        XEON,
        OperationCosts("kmaf16", "run"),
        {
            "fault": 0.63,
            "update": 0.56,
            "page copy": 1.15,
            "mapping": 0.04,
            "thread migration": 0.01,
        },
    ),
    PaperFigure("sammu-2", "sharing matrices", "4.2", XEON, Matrices("sammu")),
    PaperFigure(
        "sammu-3", "execution time", "4.2", XEON, Bars("time", SAMMU), {"sammu": less(13.1)}
    ),
    PaperFigure("sammu-4a", "L3 MPKI", "4.2", XEON, Bars("mpki", SAMMU), {"sammu": less(30.6)}),
    PaperFigure(
        "sammu-4b",
        "interchip traffic",
        "4.2",
        XEON,
        Bars("traffic", SAMMU),
        {"sammu": less(39.0)},
    ),
    PaperFigure(
        "tlb-3",
        "producers and consumers, mapped once and as they change",
        "2",
        SANDY_BRIDGE,
        Bars("time", ("neighbours", "spcd", "kmaf16", "tlb", "unified", "oracle-threads")),
        threads=8,
        programs=("prodcons",),
        repeats=1,
        own_input=TWO_PHASES,
    ),
    PaperFigure(
        "tlb-9",
        "producers and consumers in two phases",
        "6.2",
        SANDY_BRIDGE,
        Phases(
            "tlb",
            {
                "first phase": (0.05, 0.24),
                "second phase": (0.3, 0.49),
                "transition": (0.2, 0.3),
                "whole run": (0.0, 1.0),
            },
        ),
        threads=8,
        programs=("prodcons",),
        own_input=TWO_PHASES,
    ),
    PaperFigure("tlb-10", "sharing matrices by TLBs", "6.3", SANDY_BRIDGE, Matrices("tlb")),
    PaperFigure("tlb-11", "time in Simics", "6.4", SIMICS, Bars("time", ("compact", "tlb"))),
    PaperFigure(
        "tlb-12a",
        "execution time",
        "6.4",
        SANDY_BRIDGE,
        Bars("time", TLB),
        {"tlb": TABLE_II["time"]},
    ),
    PaperFigure(
        "tlb-12b",
        "L2 MPKI",
        "6.4",
        SANDY_BRIDGE,
        Bars("l2_mpki", TLB),
        {"tlb": TABLE_II["l2_mpki"]},
    ),
    PaperFigure(
        "tlb-12c", "L3 MPKI", "6.4", SANDY_BRIDGE, Bars("mpki", TLB), {"tlb": TABLE_II["mpki"]}
    ),
    PaperFigure(
        "tlb-12d",
        "cache-to-cache transactions",
        "6.4",
        SANDY_BRIDGE,
        Bars("cache_to_cache", TLB),
        {"tlb": TABLE_II["cache_to_cache"]},
    ),
    PaperFigure(
        "tlb-13", "energy", "6.5", SANDY_BRIDGE, Bars("energy", TLB), {"tlb": TABLE_II["energy"]}
    ),
    PaperFigure(
        "tlb-14a", "TLB miss rate", "6.6", SANDY_BRIDGE, Bars("tlb_miss_rate", ("os", "tlb"))
    ),
    PaperFigure("tlb-14b", "overhead", "6.6", SANDY_BRIDGE, Bars("overhead", ("tlb",))),
    PaperFigure("tlb-15", "sharing matrices by Azimi", "6.7", SANDY_BRIDGE, Matrices("remote")),
    PaperFigure(
        "tlb-16",
        "execution time beside related work",
        "6.7",
        SANDY_BRIDGE,
        Bars("time", ("tlb", "azimi", "autopin")),
        {"tlb": TABLE_II["time"]},
    ),
    PaperFigure(
        "tlb-t2",
        "results of the TLB mechanism",
        "6.4",
        SANDY_BRIDGE,
        Quantities("tlb", tuple(TABLE_II)),
        TABLE_II,
    ),
)

PAPER_FIGURES: Mapping[str, PaperFigure] = {figure.name: figure for figure in _ALL}
"""By name, in the papers' order."""
