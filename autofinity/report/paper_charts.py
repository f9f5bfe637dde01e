"""Charts of the mapping papers' figures: ours, and beside them what the paper gives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from autofinity.evaluation.comparison import MechanismCase
from autofinity.evaluation.paper_figures import PaperFigure
from autofinity.evaluation.paper_results import absolute, mean, ns_by_kind, shares_by_kind, values
from autofinity.evaluation.paper_studies import (
    LABELS,
    Bars,
    FaultRates,
    OperationCosts,
    PageSizes,
    Quantities,
    SideBySide,
)
from autofinity.mechanisms.registry import BASELINE
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.sharing_metrics import (
    average_exclusivity,
    heterogeneity_off_diagonal,
    page_exclusivity,
    sharing_amount,
)
from autofinity.report.chart import Chart
from autofinity.report.heat_map import shares

MEAN, PAPER, OURS = "mean", "the paper's mean", "ours"


def bars(figure: PaperFigure, study: Bars, cases: Sequence[MechanismCase], on: str) -> Chart:
    """Each program's value under each mechanism, the mean, and the paper's."""
    found = values(cases, study.quantity, study.baseline)
    programs = list(dict.fromkeys(case.program for case in cases))
    paper = (PAPER,) if figure.paper else ()
    return Chart(
        f"{figure.title}, {on}",
        "program",
        LABELS[study.quantity].replace("the OS", _of(study.baseline)),
        (*programs, MEAN, *paper),
        {
            mechanism: (
                *(found.get(mechanism, {}).get(program, math.nan) for program in programs),
                mean(found.get(mechanism, {}), study.quantity),
                *(figure.paper.get(mechanism, math.nan) for _ in paper),
            )
            for mechanism in study.mechanisms
        },
    )


def quantities(
    figure: PaperFigure, study: Quantities, cases: Sequence[MechanismCase], on: str
) -> Chart:
    """Means over programs, and the paper's."""
    found = {
        name: mean(values(cases, name).get(study.mechanism, {}), name) for name in study.quantities
    }
    return _beside(figure, found, on, "quantity", "ratio to the OS's")


def costs(
    figure: PaperFigure, study: OperationCosts, cases: Sequence[MechanismCase], on: str
) -> Chart:
    """By kind of operation."""
    if study.of == "run":
        found = shares_by_kind(cases, study.mechanism)
        return _beside(figure, found, on, "operation", LABELS["overhead"])
    return _beside(figure, ns_by_kind(cases, study.mechanism), on, "operation", "ns")


def fault_rates(
    figure: PaperFigure,
    study: FaultRates,
    by_percent: Mapping[float, Sequence[MechanismCase]],
    on: str,
) -> Chart:
    """Time against the OS's at each rate, and the oracle's, which has no faults."""
    means = {
        percent: {name: mean(own, "time") for name, own in values(cases, "time").items()}
        for percent, cases in by_percent.items()
    }
    oracle = [found[study.oracle] for found in means.values() if study.oracle in found]
    return Chart(
        f"{figure.title}, {on}",
        "extra page faults, % of the pages",
        LABELS["time"],
        tuple(f"{percent:g}" for percent in means),
        {
            study.mechanism: tuple(
                found.get(study.mechanism, math.nan) for found in means.values()
            ),
            study.oracle: tuple(oracle[:1] or [math.nan]) * len(means),
        },
        kind="lines",
    )


def page_sizes(
    figure: PaperFigure,
    study: PageSizes,
    by_size: Mapping[str, Sequence[MechanismCase]],
    on: str,
) -> Chart:
    """Time with each size against the OS's with the first."""
    first = _times(by_size[study.sizes[0]]).get(BASELINE, {})
    found = {}
    for size, cases in by_size.items():
        for mechanism, own in _times(cases).items():
            ratios = {program: own[program] / first[program] for program in own if program in first}
            found[f"{mechanism} {size}"] = mean(ratios, "time")
    return _beside(figure, found, on, "mechanism, size of pages", "time / OS with 4K")


def side_by_side(
    figure: PaperFigure, study: SideBySide, cases: Sequence[MechanismCase], on: str
) -> Chart:
    """Time until both have ended, against one after the other under the operating system."""
    times = _times(cases)

    def in_turn(mechanism: str, pair: tuple[str, str]) -> float:
        return sum(times.get(mechanism, {}).get(program, math.nan) for program in pair)

    def together(mechanism: str, pair: tuple[str, str]) -> float:
        return times.get(mechanism, {}).get("+".join(pair), math.nan)

    return Chart(
        f"{figure.title}, {on}",
        "programs",
        "time / OS, one after the other",
        tuple(
            f"{'+'.join(pair)} {how}"
            for pair in study.pairs
            for how in ("one after the other", "at once")
        ),
        {
            mechanism: tuple(
                time(mechanism, pair) / in_turn(BASELINE, pair)
                for pair in study.pairs
                for time in (in_turn, together)
            )
            for mechanism in (BASELINE, *study.mechanisms)
        },
    )


def exclusivity(
    figure: PaperFigure, by_size: Mapping[int, Mapping[str, NumaVectors]], on: str
) -> Chart:
    """Average exclusivity of each program's pages, by bytes of a page, in %."""
    programs = list(next(iter(by_size.values())))
    series = {}
    for size, vectors in by_size.items():
        name = f"{size // 1024} KiB"
        own = [100 * average_exclusivity(vectors[program]) for program in programs]
        series[name] = (*own, sum(own) / len(own), figure.paper.get(name, math.nan))
    return Chart(
        f"{figure.title}, {on}",
        "program",
        "average exclusivity, %",
        (*programs, MEAN, PAPER),
        series,
    )


def exclusivity_shares(figure: PaperFigure, found: Mapping[str, NumaVectors], on: str) -> Chart:
    """Share of the pages whose exclusivity rounds to each tenth."""
    tenths = range(1, 11)
    counts = {
        program: [round(10 * page_exclusivity(vector)) for vector in vectors.pages.values()]
        for program, vectors in found.items()
    }
    return Chart(
        f"{figure.title}, {on}",
        "program",
        "% of the pages",
        tuple(found),
        {
            f"{10 * tenth} %": tuple(
                100 * own.count(tenth) / max(1, len(own)) for own in counts.values()
            )
            for tenth in tenths
            if any(tenth in own for own in counts.values())
        },
    )


def sharing_metrics(figure: PaperFigure, found: Mapping[str, SharingMatrix], on: str) -> Chart:
    """Heterogeneity of the normalised matrix, and the amount over the largest program's, in %."""
    amounts = {program: sharing_amount(matrix) for program, matrix in found.items()}
    largest = max(amounts.values()) or 1.0
    return Chart(
        f"{figure.title}, {on}",
        "program",
        "heterogeneity x 100, amount in % of the largest",
        tuple(found),
        {
            "heterogeneity": tuple(
                100 * heterogeneity_off_diagonal(SharingMatrix(tuple(map(tuple, shares(matrix)))))
                for matrix in found.values()
            ),
            "amount": tuple(100 * amount / largest for amount in amounts.values()),
        },
    )


def _of(baseline: str) -> str:
    return "the OS" if baseline == BASELINE else baseline


def _times(cases: Sequence[MechanismCase]) -> dict[str, dict[str, float]]:
    return absolute(cases, lambda run: run.time_s)


def _beside(
    figure: PaperFigure, found: Mapping[str, float], on: str, x_label: str, y_label: str
) -> Chart:
    positions: Iterable[str] = dict.fromkeys([*found, *figure.paper])
    return Chart(
        f"{figure.title}, {on}",
        x_label,
        y_label,
        tuple(positions),
        {
            OURS: tuple(found.get(name, math.nan) for name in positions),
            PAPER: tuple(figure.paper.get(name, math.nan) for name in positions),
        },
    )
