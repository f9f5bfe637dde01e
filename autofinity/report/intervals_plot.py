"""Ratios with their intervals, one below the other, beside a line at 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.report.page import Plot, plot_text
from autofinity.report.plot_layout import BLUE, GREY, axis, layout

_ROW_PX, _AROUND_PX = 30, 84


@dataclass(frozen=True, slots=True)
class Interval:
    """A value; its interval is NaN where it is not known."""

    name: str
    value: float
    low: float
    high: float


def intervals_plot(name: str, rows: Sequence[Interval], unit: str, caption: str) -> Plot:
    """A plot with a row for each value, from top to bottom. `unit` says what 1 is."""
    known = [not math.isnan(row.low) for row in rows]
    names = [plot_text(row.name) for row in rows]
    trace = {
        "type": "scatter",
        "mode": "markers",
        "y": names,
        "x": [row.value for row in rows],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [r.high - r.value if k else 0.0 for r, k in zip(rows, known, strict=True)],
            "arrayminus": [r.value - r.low if k else 0.0 for r, k in zip(rows, known, strict=True)],
            "color": BLUE,
            "thickness": 2,
            "width": 5,
        },
        "marker": {"size": 11, "color": BLUE},
        "text": [
            f"{row.low:.3f} to {row.high:.3f}" if k else "no interval"
            for row, k in zip(rows, known, strict=True)
        ],
        "hovertemplate": "%{y}: %{x:.3f}<br>95 %: %{text}<extra></extra>",
    }
    parity = {
        "type": "line",
        "x0": 1,
        "x1": 1,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": GREY, "width": 1.5, "dash": "dot"},
    }
    height = _AROUND_PX + _ROW_PX * len(rows)
    figure = {
        "data": [trace],
        "layout": layout(
            height,
            showlegend=False,
            shapes=[parity],
            xaxis=axis(unit),
            yaxis=axis(autorange="reversed", type="category", categoryarray=names),
        ),
    }
    return Plot(name, figure, caption, height)
