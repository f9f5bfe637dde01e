"""Charts say the same in the terminal and in files."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from autofinity.model.errors import UsageError
from autofinity.report.chart import Chart
from autofinity.report.chart_image import save
from autofinity.report.chart_text import HEIGHT, chart_lines

BARS = Chart(
    "t", "x", "y", ("a", "b"), {"one": (1.0, 2.0), "two": (4.0, math.nan)}, marks=("✓", "")
)


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
