"""The figures of the mapping papers: what they are made of, and what is drawn."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from autofinity.evaluation.comparison import MechanismCase
from autofinity.evaluation.comparison_summary import FIGURES
from autofinity.evaluation.paper_figures import PAPER_FIGURES, TABLE_II
from autofinity.evaluation.paper_results import mean, values
from autofinity.evaluation.paper_studies import (
    LABELS,
    SHARES,
    Bars,
    FaultRates,
    OperationCosts,
    PageSizes,
    Quantities,
    SideBySide,
)
from autofinity.mechanisms.registry import MECHANISMS
from autofinity.model.mechanism_run import MechanismRun
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.report import paper_charts
from autofinity.sim.preset import load_preset

RUN = MechanismRun(
    time_s=2.0,
    threads=4,
    instructions=1_000_000,
    l2_misses=20_000,
    llc_misses=5_000,
    tlb_accesses=300_000,
    page_walks=600,
    traffic_bytes=100,
    cache_to_cache_transfers=10,
    invalidations=4,
    energy_j=8.0,
    thread_migrations=4,
    page_migrations=8,
    settled=0.0,
    reached_s=[0.1 * step for step in range(1, 21)],
    overhead_ns={"fault": 60_000_000, "page copy": 20_000_000, "thread migration": 8_000_000},
)


def case(program: str, mechanism: str, time_s: float, **other: float) -> MechanismCase:
    return MechanismCase(program, mechanism, 1, replace(RUN, time_s=time_s, **other))  # type: ignore[arg-type]


def of(chart: paper_charts.Chart, series: str) -> dict[str, float]:
    return dict(zip(chart.positions, chart.series[series], strict=True))


@pytest.mark.parametrize("name", PAPER_FIGURES)
def test_every_figure_is_of_known_mechanisms_on_a_preset_with_room_for_its_threads(
    name: str,
) -> None:
    figure = PAPER_FIGURES[name]
    study = figure.study
    pus = len(load_preset(figure.machine).topology.pus)
    assert figure.default_threads == figure.threads or figure.default_threads == pus
    assert figure.default_threads <= pus
    named = (*getattr(study, "mechanisms", ()), getattr(study, "mechanism", "os"))
    assert set(named) <= MECHANISMS.keys()
    if isinstance(study, Bars):
        assert study.quantity in LABELS
        assert study.relative != (study.quantity in SHARES)
        assert figure.paper.keys() <= set(study.mechanisms)
    if isinstance(study, Quantities):
        assert set(study.quantities) <= FIGURES.keys()


def test_the_means_of_table_ii_are_those_of_its_rows() -> None:
    assert TABLE_II["time"] == pytest.approx(0.958, abs=5e-4)
    assert TABLE_II["cache_to_cache"] < TABLE_II["mpki"] < TABLE_II["l2_mpki"] < 1


def test_bars_are_ratios_to_the_os_beside_their_mean_and_the_papers() -> None:
    figure = PAPER_FIGURES["kmaf14-7"]
    assert isinstance(figure.study, Bars)
    cases = [
        *(case("a", name, time) for name, time in (("os", 2.0), ("kmaf14", 1.0))),
        *(case("b", name, time) for name, time in (("os", 2.0), ("kmaf14", 4.0))),
        MechanismCase("b", "random", 1, None, "deadlock"),
    ]
    chart = paper_charts.bars(figure, figure.study, cases, "here")
    assert of(chart, "kmaf14") == pytest.approx(
        {"a": 0.5, "b": 2.0, "mean": 1.0, paper_charts.PAPER: 0.862}
    )
    assert math.isnan(of(chart, "random")["b"])
    unsaid = PAPER_FIGURES["kmaf16-7"]
    assert isinstance(unsaid.study, Bars)
    chart = paper_charts.bars(unsaid, unsaid.study, cases, "here")
    assert chart.positions == ("a", "b", "mean")


def test_shares_are_drawn_as_they_are_and_counts_of_nothing_are_left_out() -> None:
    cases = [case("a", "os", 2.0, invalidations=0), case("a", "tlb", 2.0)]
    assert values(cases, "overhead")["tlb"]["a"] == pytest.approx(100 * 0.088 / 8)
    assert values(cases, "tlb_miss_rate")["os"]["a"] == pytest.approx(0.2)
    assert math.isnan(values(cases, "invalidations")["tlb"]["a"])
    assert math.isnan(mean(values(cases, "invalidations")["tlb"], "invalidations"))


def test_operations_cost_what_was_spent_over_how_many_there_were() -> None:
    cases = [case("a", "os", 2.0), case("a", "kmaf16", 2.0)]
    figure = PAPER_FIGURES["kmaf16-11"]
    assert isinstance(figure.study, OperationCosts)
    ours = of(paper_charts.costs(figure, figure.study, cases, "here"), paper_charts.OURS)
    assert ours["page copy"] == pytest.approx(2.5e6)
    assert ours["thread migration"] == pytest.approx(2e6)
    table = PAPER_FIGURES["kmaf16-t5"]
    assert isinstance(table.study, OperationCosts)
    chart = paper_charts.costs(table, table.study, cases, "here")
    assert of(chart, paper_charts.OURS)["fault"] == pytest.approx(100 * 0.06 / 8)
    assert of(chart, paper_charts.PAPER)["fault"] == 0.63


def test_rates_of_faults_are_lines_under_the_oracles() -> None:
    figure = PAPER_FIGURES["kmaf16-9a"]
    assert isinstance(figure.study, FaultRates)
    runs = {
        0.0: [
            case("a", "os", 2.0),
            case("a", "kmaf16-threads", 3.0),
            case("a", "oracle-threads", 1.0),
        ],
        10.0: [case("a", "os", 2.0), case("a", "kmaf16-threads", 1.5)],
    }
    chart = paper_charts.fault_rates(figure, figure.study, runs, "here")
    assert chart.positions == ("0", "10")
    assert chart.series == {"kmaf16-threads": (1.5, 0.75), "oracle-threads": (0.5, 0.5)}


def test_page_sizes_are_compared_with_the_os_and_small_pages() -> None:
    figure = PAPER_FIGURES["kmaf16-10"]
    assert isinstance(figure.study, PageSizes)
    runs = {
        "4K": [case("a", "os", 2.0), case("a", "kmaf16", 1.0)],
        "2M": [case("a", "os", 1.6), case("a", "kmaf16", 0.8)],
    }
    ours = of(paper_charts.page_sizes(figure, figure.study, runs, "here"), paper_charts.OURS)
    assert ours == pytest.approx({"os 4K": 1, "kmaf16 4K": 0.5, "os 2M": 0.8, "kmaf16 2M": 0.4})


def test_programs_at_once_are_compared_with_one_after_the_other() -> None:
    figure = PAPER_FIGURES["kmaf16-8"]
    study = SideBySide((("a", "b"),), ("kmaf16",))
    cases = [
        *(case("a", name, time) for name, time in (("os", 2.0), ("kmaf16", 1.0))),
        *(case("b", name, time) for name, time in (("os", 2.0), ("kmaf16", 1.0))),
        *(case("a+b", name, time) for name, time in (("os", 3.0), ("kmaf16", 1.0))),
    ]
    chart = paper_charts.side_by_side(figure, study, cases, "here")
    assert chart.series == {"os": (1.0, 0.75), "kmaf16": (0.5, 0.25)}


def test_exclusivity_is_drawn_for_programs_and_for_their_pages() -> None:
    vectors = {"a": NumaVectors({1: (9, 1), 2: (5, 5)}), "b": NumaVectors({1: (10, 0)})}
    figure = PAPER_FIGURES["kmaf14-1"]
    chart = paper_charts.exclusivity(figure, {4096: vectors}, "here")
    assert of(chart, "4 KiB") == pytest.approx(
        {"a": 70, "b": 100, "mean": 85, paper_charts.PAPER: 83.6}
    )
    shares = paper_charts.exclusivity_shares(PAPER_FIGURES["kmaf14-2"], vectors, "here")
    assert of(shares, "90 %") == {"a": 50, "b": 0}
    assert of(shares, "100 %") == {"a": 0, "b": 100}


def test_who_shares_alike_with_all_is_not_heterogeneous() -> None:
    alike = SharingMatrix(((0.0, 2.0, 2.0), (2.0, 0.0, 2.0), (2.0, 2.0, 0.0)))
    pair = SharingMatrix(((0.0, 4.0, 0.0), (4.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    chart = paper_charts.sharing_metrics(
        PAPER_FIGURES["kmaf14-3"], {"alike": alike, "pair": pair}, "here"
    )
    assert of(chart, "heterogeneity")["alike"] == 0 < of(chart, "heterogeneity")["pair"]
    assert of(chart, "amount")["alike"] == pytest.approx(100)


def test_the_document_lists_every_figure() -> None:
    text = (Path(__file__).parents[3] / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    assert {name for name in PAPER_FIGURES if f"`{name}`" not in text} == set()
