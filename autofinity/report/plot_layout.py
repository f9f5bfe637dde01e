"""Settings that all plots of pages have in common: no background, fonts of the page."""

from __future__ import annotations

import math
from typing import Any

FONT = {"family": 'system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif', "size": 12.5}
GRID = "#d8dee4"
BLUE, ORANGE, GREEN, GREY = "#4e79a7", "#e08a4e", "#59a14f", "#98a3ae"
SERIES = (BLUE, ORANGE, GREEN, "#b07aa1", "#76b7b2", "#d9b13b", "#9c755f", "#d37295")
"""Colours of series that have no colour of their own."""


def layout(height_px: int, **more: Any) -> dict[str, Any]:
    """A layout of plotly."""
    return {
        "height": height_px,
        "font": FONT,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 60, "r": 24, "t": 16, "b": 44},
        "hoverlabel": {"bgcolor": "#24292f", "bordercolor": "#24292f", "align": "left"},
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
        "dragmode": "zoom",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": BLUE},
        **more,
    }


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """An axis whose labels fit by themselves; powers of ten, since B for 10⁹ reads as bytes."""
    named = {"title": {"text": title}} if title else {}
    plain = {"automargin": True, "gridcolor": GRID, "zeroline": False, "exponentformat": "power"}
    return {**plain, **named, **more}


def colour_bar(unit: str) -> dict[str, Any]:
    """The scale of colours beside a map, of one length whatever the height of the plot."""
    return {
        "title": {"text": unit, "side": "right"},
        "thickness": 12,
        "len": 180,
        "lenmode": "pixels",
        "y": 1,
        "yanchor": "top",
    }


def log_axis(low: float, high: float, title: str = "", **more: Any) -> dict[str, Any]:
    """A logarithmic axis from `low` to `high`, both above 0, with ticks at 1, 2 and 5."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first < 5 else (1,)
    ticks = [
        step * 10.0**power
        for power in range(first, last + 1)
        for step in steps
        if low <= step * 10.0**power <= high
    ]
    return axis(
        title,
        type="log",
        range=[math.log10(low), math.log10(high)],
        tickvals=ticks,
        ticktext=[f"{tick:g}" for tick in ticks],
        **more,
    )
