"""A chart in the terminal: bars as rows of blocks, lines as points on a grid of characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from autofinity.report.chart import Chart

HEIGHT = 16
_POINTS = "+x*o#"
_NARROWEST = 40


def chart_lines(chart: Chart, width: int) -> list[str]:
    """Lines of at most `width` columns of a terminal (not below 40)."""
    width = max(width, _NARROWEST)
    drawn = _bars(chart, width) if chart.kind == "bars" else _grid(chart, width)
    return [_cut(chart.title, width), *drawn]


def _bars(chart: Chart, width: int) -> list[str]:
    """A group of bars for each position, one bar for each series, with its value behind it."""
    label = min(max(map(cell_len, chart.series)) + 3, width // 2)
    scale = _scale(chart)
    room = width - label - 12
    lines = [_cut(f"{chart.y_label}, by {chart.x_label}", width)]
    for i, position in enumerate(chart.positions):
        mark = f" {chart.marks[i]}" if chart.marks else ""
        lines.append(_cut(f"{position}{mark}", width))
        for name, values in chart.series.items():
            if math.isnan(values[i]):
                continue
            bar = "█" * max(1, round(room * scale(values[i])))
            lines.append(set_cell_size(f"  {name}", label) + f"{bar} {values[i]:.4g}")
    return lines


def _grid(chart: Chart, width: int) -> list[str]:
    """A grid with one or more columns for each position; the y axis has its least and its largest
    value.
    """
    known = _known(chart)
    axis = max(len(f"{value:.4g}") for value in (min(known), max(known))) + 1
    room = width - axis - 1
    count = max(len(chart.positions), 2)
    scale = _scale(chart)
    grid = [[" "] * room for _ in range(HEIGHT)]
    for point, values in zip(_POINTS, chart.series.values(), strict=False):
        for i, value in enumerate(values):
            if not math.isnan(value):
                row = HEIGHT - 1 - round((HEIGHT - 1) * scale(value))
                grid[row][i * (room - 1) // (count - 1)] = point
    names = ((0, max(known)), (HEIGHT - 1, min(known)))
    marked = {row: f"{value:.4g}" for row, value in names}
    legend = "   ".join(f"{p} {name}" for p, name in zip(_POINTS, chart.series, strict=False))
    first, last = chart.positions[0], chart.positions[-1]
    between = room - cell_len(first) - cell_len(last)
    ends = f"{first}{' ' * between}{last}" if between > 0 else ""
    return [
        _cut(f"{chart.y_label}   {legend}", width),
        *(f"{marked.get(i, '').rjust(axis)}│{''.join(row)}".rstrip() for i, row in enumerate(grid)),
        " " * axis + "└" + "─" * room,
        " " * (axis + 1) + ends,
        _cut(f"{' ' * (axis + 1)}{chart.x_label}", width),
    ]


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, width).rstrip()


class _scale:
    """Scale: value → 0…1; bars begin at 0, points at the least value."""

    def __init__(self, chart: Chart) -> None:
        known = _known(chart)
        self._map = math.log if chart.log else float
        self._low = self._map(min(known)) if chart.kind == "lines" or chart.log else 0.0
        self._span = self._map(max(known)) - self._low

    def __call__(self, value: float) -> float:
        return (self._map(value) - self._low) / self._span if self._span else 1.0


def _known(chart: Chart) -> Sequence[float]:
    return [v for values in chart.series.values() for v in values if not math.isnan(v)] or [1.0]
