"""Numbers that papers' texts give of their mechanisms: what `paper_headlines.py` compares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from autofinity.papers.bars import Bars
from autofinity.papers.kmaf16 import table_5
from autofinity.papers.mechanism_figure import MechanismFigure
from autofinity.papers.registry import OF_MECHANISMS
from autofinity.papers.tlb.paper import TABLE_II

PAPERS_ORACLE = "oracle-trace"
CC13, X7550, OPTERON = "opteron-6164he", "xeon-x7550", "opteron-6386"
E5, ALTIX = "xeon-e5-2650", "altix-450"


@dataclass(frozen=True, slots=True)
class Headline:
    """A number of a paper about its mechanism or its oracle."""

    where: str
    what: str
    quantity: str
    """One of `FIGURES`, a ratio to the operating system's, or of `AS_THEY_ARE`."""
    mechanism: str
    machine: str
    paper: float
    programs: tuple[str, ...] = ()
    """Empty: all."""


FROM_FIGURES = {
    "kmaf14": "kmaf14-7 kmaf14-8 kmaf14-9 kmaf14-10 kmaf14-12",
    "kmaf16": "kmaf16-4 kmaf16-5 kmaf16-6",
    "sammu": "sammu-3 sammu-4a sammu-4b",
    "tlb": "tlb-12a tlb-12b tlb-12c tlb-12d tlb-13a tlb-13b tlb-13c",
}
"""Means that the registry of figures has, by the mechanism of the paper."""
SP = ("adi",)
OTHERS = (
    Headline("kmaf14, abstract", "time, SP", "time", "kmaf14", X7550, 1 - 0.357, SP),
    Headline("kmaf14, section 5.2", "energy, SP", "energy", "kmaf14", X7550, 1 - 0.346, SP),
    Headline("kmaf16, section 6.1", "time, SP", "time", "kmaf16", OPTERON, 1 / (1 + 3.0), SP),
    Headline(
        "kmaf16, table 5",
        "CPU time of kMAF, SP, % of the time",
        "cpu_time",
        "kmaf16",
        X7550,
        sum(table_5.FIGURES[0].numbers.values()),
        SP,
    ),
    Headline("sammu, section 4.2", "time, SP", "time", "sammu", X7550, 1 - 0.357, SP),
    Headline("sammu, section 4.4", "accesses added, %", "transactions_added", "sammu", X7550, 1.43),
    Headline("sammu, section 4.4", "overhead, %", "overhead", "sammu", X7550, 0.41 + 0.29),
    Headline("tlb, table II", "time, SP", "time", "tlb", E5, 1 - 0.167, SP),
    Headline(
        "tlb, table II",
        "migrations",
        "mappings_changed",
        "tlb",
        E5,
        TABLE_II["mappings_changed"],
    ),
    Headline("tlb, section 6.6", "overhead, %", "overhead", "tlb", E5, 0.5),
)


def headlines() -> Iterator[Headline]:
    """All, paper by paper."""
    for mechanism, names in FROM_FIGURES.items():
        for name in names.split():
            yield from _of_figure(OF_MECHANISMS[name], mechanism)
        yield from (other for other in OTHERS if other.mechanism == mechanism)


def _of_figure(figure: MechanismFigure[object], mechanism: str) -> Iterator[Headline]:
    bars = figure.study
    assert isinstance(bars, Bars)
    unit = ", % of the time" if bars.quantity == "cpu_time" else ""
    for of in (mechanism, PAPERS_ORACLE):
        if of in figure.numbers:
            yield Headline(
                f"{figure.paper.prefix}{figure.number}, section {figure.section}",
                figure.title + unit,
                bars.quantity,
                of,
                figure.default_machine,
                figure.numbers[of],
            )
