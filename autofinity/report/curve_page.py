"""How many threads, or CPUs, are worth having, as sections of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autofinity.model.affinity import Hint
from autofinity.report.page import Cell, Plot, Section, Sentences, Table
from autofinity.report.plot_layout import BLUE, GREY, ORANGE, axis, layout


def curve_sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """A plot and a table. `document` is the curve as its JSON: times in seconds, reads in GB a
    second.
    """
    points, counted = document["points"], document["counted"]
    return (
        Section(
            f"Speed by number of {counted}",
            (
                _plot(points, counted),
                _table(points, counted),
                Sentences((_noise(document), *document["notes"])),
            ),
        ),
    )


def _noise(document: Mapping[str, Any]) -> str:
    text = str(document["differences"])
    return text[0].upper() + text[1:] + "."


def _plot(points: Sequence[Mapping[str, Any]], counted: str) -> Plot:
    counts = [_count(point, counted) for point in points]
    first = points[0]["time_s"]
    traces = [
        _line("as placed", counts, [point["speed"] for point in points], BLUE),
        _line("perfect", counts, [count / counts[0] for count in counts], GREY, dash="dot"),
    ]
    if any(point["best_time_s"] for point in points):
        best = [first / time if (time := point["best_time_s"]) else None for point in points]
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


def _table(points: Sequence[Mapping[str, Any]], counted: str) -> Table:
    rows = tuple(
        (
            Cell(str(_count(point, counted)), float(_count(point, counted))),
            Cell(f"{1e3 * point['time_s']:.4g}", point["time_s"]),
            Cell(f"{point['speed']:.3f}", point["speed"]),
            Cell("one time" if point["scatter"] is None else f"{point['scatter']:.1%}"),
            Cell("not counted" if point["read_gbs"] is None else f"{point['read_gbs']:.3g}"),
            Cell(_named(point["hint"]) or "the system"),
            Cell(_named(point["best_hint"]) or "not tried"),
        )
        for point in points
    )
    headings = (
        *(counted, "time, ms", "speed", "spread of repeated times"),
        *("read from memory, GB/s", "placed by", "best hint"),
    )
    return Table(headings, rows)


def _count(point: Mapping[str, Any], counted: str) -> int:
    return int(point["threads"] if counted == "threads" else point["cpus"])


def _named(letters: str | None) -> str:
    return Hint.from_letters(letters).shown if letters else ""
