"""Charts say the same in the terminal and in files, and figures show what was measured."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from autofinity.evaluation.cases import Case
from autofinity.evaluation.coverage import ProgramCoverage
from autofinity.evaluation.times import Times
from autofinity.model.affinity import PACKED, Affinity
from autofinity.model.errors import LearningError, UsageError
from autofinity.model.observation import Workload
from autofinity.model.policy import Decision
from autofinity.report.chart import Chart
from autofinity.report.chart_image import save
from autofinity.report.chart_text import HEIGHT, chart_lines
from autofinity.report.figures import (
    figure_1,
    figure_10,
    figure_11,
    figure_12,
    most_and_least_sensitive,
)

BARS = Chart(
    "t", "x", "y", ("a", "b"), {"one": (1.0, 2.0), "two": (4.0, math.nan)}, marks=("✓", "")
)


def case(program: str, threads: int, packed: float, distributed: float, ours: float) -> Case:
    roi_s = {"packed": packed, "distributed": distributed, "autofinity": ours}
    return Case(Workload(program, "small", threads), Decision(PACKED, 0, 1.0, None), {}, roi_s)


def test_bars_are_as_long_as_their_values_and_gaps_are_left_out() -> None:
    blocks = [line.count("█") for line in chart_lines(BARS, 60) if "█" in line]
    assert len(blocks) == 3
    assert blocks[2] == pytest.approx(2 * blocks[0], abs=1)
    assert blocks[1] == pytest.approx(4 * blocks[0], abs=2)


def test_points_lie_between_the_least_and_the_largest_value() -> None:
    chart = Chart("t", "x", "y", tuple("abc"), {"s": (1.0, 10.0, 100.0)}, kind="lines", log=True)
    rows = [line.split("│")[1] for line in chart_lines(chart, 60) if "│" in line]
    assert len(rows) == HEIGHT
    found = [(i, row.index("+")) for i, row in enumerate(rows) if "+" in row]
    (top, right), (middle, between), (bottom, left) = found
    assert (top, bottom) == (0, HEIGHT - 1)
    assert middle == pytest.approx(HEIGHT / 2, abs=1)
    assert left < between < right


@pytest.mark.parametrize("width", [10, 40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    long = Chart("t" * 300, "x" * 300, "y" * 300, ("p" * 300,), {"s" * 300: (1.0,)})
    for chart in (BARS, long, Chart("t", "x", "y", ("a",), {"s": (1.0,)}, kind="lines")):
        assert max(map(len, chart_lines(chart, width))) <= max(width, 40)


def test_figure_1_shows_every_affinity_best_first() -> None:
    affinities = [Affinity.of([[8]]), Affinity.of([[4], [4]]), Affinity.of([[4, 4]])]
    times = Times(
        {
            Workload("calm", "small", 8): dict.fromkeys(affinities, 1.0),
            Workload("touchy", "small", 8): dict(zip(affinities, (3.0, 1.0, 2.0), strict=True)),
            Workload("other", "small", 4): {Affinity.of([[4]]): 1.0, Affinity.of([[2, 2]]): 9.0},
        }
    )
    found = most_and_least_sensitive(times, 8)
    assert [workload.program for workload in found] == ["touchy", "calm"]
    assert figure_1(times, found, "box").series == {
        "touchy": (1.0, 2.0, 3.0),
        "calm": (1.0, 1.0, 1.0),
    }
    with pytest.raises(LearningError, match="16 threads"):
        most_and_least_sensitive(times, 16)


def test_figure_10_shows_both_counts_in_the_order_given() -> None:
    chart = figure_10([ProgramCoverage("a", 2, 2, 2, 1), ProgramCoverage("b", 3, 4, 2, 2)])
    assert chart.positions == ("a", "b")
    assert list(chart.series.values()) == [(2.0, 3.0), (2.0, 4.0)]


def test_figures_11_and_12_show_one_thread_count_and_the_interesting_cases() -> None:
    cases = [
        case("a", 8, 1.0, 4.0, 1.0),
        case("b", 8, 4.0, 4.0, 4.0),
        case("a", 16, 3.0, 1.0, 3.0),
    ]
    eight = figure_11(cases, 8, "box")
    assert eight.positions == ("a", "b", "geometric mean")
    assert eight.series["packed"] == pytest.approx((1e3, 4e3, 2e3))
    interesting = figure_12(cases, "box")
    assert interesting.positions == ("a/8", "a/16")
    assert interesting.marks == ("✓", "!")
    with pytest.raises(LearningError, match="none of 1 cases"):
        figure_12(cases[1:2], "box")


def test_a_picture_says_its_titles_and_the_same_chart_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    lines = Chart("Figure t", "below", "beside", tuple("abc"), {"s": (1, 2, 3)}, kind="lines")
    for chart in (BARS, lines):
        for name in ("one.svg", "two.svg", "one.png", "one.pdf"):
            save(chart, tmp_path / name)
        assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
        said = re.sub(r"\s", "", (tmp_path / "one.svg").read_text())
        assert f"<!--{chart.title}-->".replace(" ", "") in said
        assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match=r"\.svg"):
        save(BARS, tmp_path / "one.bmp")
