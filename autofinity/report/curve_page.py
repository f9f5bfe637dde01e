"""How many threads, or CPUs, are worth having, as sections of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autofinity.evaluation.speed_curve import Curve
from autofinity.report.page import Cell, Plot, Section, Sentences, Table
from autofinity.report.plot_layout import BLUE, GREY, ORANGE, axis, layout


def curve_sections(curve: Curve) -> tuple[Section, ...]:
    """A plot and a table."""
    noise = f"{curve.on_noise[0].upper()}{curve.on_noise[1:]}."
    blocks = (_plot(curve), _table(curve), Sentences((noise, *curve.notes)))
    return (Section(f"Speed by number of {curve.counted}", blocks),)


def _plot(curve: Curve) -> Plot:
    points, counted = curve.points, curve.counted
    counts = [curve.count_of(point) for point in points]
    traces = [
        _line("as placed", counts, [curve.speed(point.time_s) for point in points], BLUE),
        _line("perfect", counts, [count / counts[0] for count in counts], GREY, dash="dot"),
    ]
    if any(point.best_hint for point in points):
        best = [curve.speed(point.best_s) if point.best_hint else None for point in points]
        traces.append(_line("best hint", counts, best, ORANGE))
    figure = {
        "data": traces,
        "layout": layout(
            340,
            hovermode="x unified",
            showlegend=True,
            xaxis=axis(counted, tickvals=counts),
            yaxis=axis(f"times the speed with {counts[0]}", rangemode="tozero"),
        ),
    }
    caption = f"Speed over that with {counts[0]} {counted}; dotted: if every one of them paid."
    return Plot("curve", figure, caption, 340)


def _line(
    name: str, x: Sequence[int], y: Sequence[float | None], colour: str, dash: str = "solid"
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": x,
        "y": y,
        "line": {"color": colour, "width": 2, "dash": dash},
        "marker": {"size": 7},
        "hovertemplate": "%{y:.3f}",
    }


def _table(curve: Curve) -> Table:
    rows = tuple(
        (
            Cell(str(curve.count_of(point)), float(curve.count_of(point))),
            Cell(f"{1e3 * point.time_s:.4g}", point.time_s),
            Cell(f"{curve.speed(point.time_s):.3f}", curve.speed(point.time_s)),
            Cell("one time" if point.scatter is None else f"{point.scatter:.1%}"),
            Cell("not counted" if point.read_gbs is None else f"{point.read_gbs:.3g}"),
            Cell(point.hint.shown if point.hint else "the system"),
            Cell(point.best_hint.shown if point.best_hint else "not tried"),
        )
        for point in curve.points
    )
    headings = (
        *(curve.counted, "time, ms", "speed", "spread of repeated times"),
        *("read from memory, GB/s", "placed by", "best hint"),
    )
    return Table(headings, rows)
