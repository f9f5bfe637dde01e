"""The figures of kMAF'16 that vary what runs: rates of faults, sizes of pages, programs at once."""

from __future__ import annotations

import pytest
from paper_runs import FakeRuns, drawn_of

from autofinity.papers.beside import OURS
from autofinity.papers.kmaf16 import figure_1, figure_8, figure_9, figure_10
from autofinity.report.chart import Chart


def test_kmaf16_section_6_4_rates_of_faults_are_a_line_under_the_oracles_which_runs_once() -> None:
    def time_s(program: str, mechanism: str, faults_per_page: float) -> float:
        return {"os": 2.0, "oracle-threads": 1.0}.get(mechanism, 1.5 + faults_per_page)

    runs = FakeRuns(time_s)
    chart = figure_9.FIGURES[0].drawn(runs)
    assert isinstance(chart, Chart)
    assert chart.positions == ("0", "10", "20", "100", "1000", "10000")
    assert chart.series["kmaf16-threads"][:2] == pytest.approx(
        (0.75, 0.8)
    )  # 10 %: every tenth page once
    assert chart.series["oracle-threads"] == (0.5,) * 6
    assert [names for names, _ in runs.asked] == [
        ("kmaf16-threads", "oracle-threads"),
        *[("kmaf16-threads",)] * 5,
    ]


def test_kmaf16_section_6_5_page_sizes_are_compared_with_the_os_and_small_pages() -> None:
    def time_s(program: str, mechanism: str, page_size: str) -> float:
        return (2.0 if mechanism == "os" else 1.0) * (1.0 if page_size == "4K" else 0.8)

    ours = drawn_of(figure_10.FIGURE.drawn(FakeRuns(time_s)), OURS)
    assert ours == pytest.approx({"os 4K": 1, "kmaf16 4K": 0.5, "os 2M": 0.8, "kmaf16 2M": 0.4})


def test_kmaf16_section_6_3_programs_at_once_are_compared_with_one_after_the_other() -> None:
    def time_s(program: str, mechanism: str, repeats: int) -> float:
        return (3.0 if "+" in program else 2.0) / (1 if mechanism == "os" else 2)

    runs = FakeRuns(time_s, names=("a", "b"))
    study = figure_8.SideBySide(("kmaf16",))
    chart = study.draw(figure_8.FIGURE, study.data(runs), "here")
    ways = ("one after the other", "at once")
    assert chart.positions == tuple(f"{pair} {way}" for pair in ("a+a", "a+b") for way in ways)
    assert chart.series == {"os": (1.0, 0.75) * 2, "kmaf16": (0.5, 0.375) * 2}
    assert runs.asked == [(("kmaf16",), {"programs": ("a", "b", "a+a", "a+b"), "repeats": 1})]


def test_kmaf16_section_3_2_says_of_threads_a_reduction_and_of_data_an_improvement() -> None:
    """ "Reduced execution time by 15 percent"; "improves the performance by 31 percent"."""
    assert figure_1.FIGURE.numbers == pytest.approx(
        {"tl-dr": 0.85, "tr-dl": 1 / 1.31, "tl-dl": 1 / 1.62}
    )
