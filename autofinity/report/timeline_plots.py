"""Behaviour of each thread over time: a plot for each quantity that was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autofinity.model.facts import LINE_BYTES
from autofinity.model.timeline import TimelineStep
from autofinity.report.look_times import MOVES_CAPTION, Beside, LookTimes, short
from autofinity.report.page import Plot
from autofinity.report.plot_layout import GREY, axis, colour_bar, layout
from autofinity.report.reads_by_node_plot import BY_NODE, READS_BY_NODE, reads_by_node_plot
from autofinity.report.thread_colours import colours

_MOST_LINES = 12
_HEIGHT_PX = 290
_ROW_PX = 14

type Value = Callable[[TimelineStep, int], float]
"""Value of one thread in one look; NaN where it is not known."""


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A quantity that a plot shows."""

    name: str
    title: str
    unit: str
    value: Value
    note: str = ""


def _rate(counter: str, scale: float) -> Value:
    return lambda step, thread: scale * step.rate(thread, counter)


def _waited(step: TimelineStep, thread: int) -> float:
    """Percent of the thread's time in which it waited for others or for a CPU."""
    counts = step.counts.get(thread, {})
    waited, ran = (counts.get(name, math.nan) for name in ("cpu_clocks_halted", "cycles"))
    return 100 * waited / (waited + ran) if waited + ran > 0 else math.nan


_QUANTITIES = (
    _Quantity("instructions", "Instructions", "10⁹ a second", _rate("instructions", 1e-9)),
    _Quantity("cpu-time", "CPU time", "% of the time", _rate("task_clock_ns", 1e-7)),
    _Quantity(
        "waits",
        "Waits for a CPU",
        "% of the time",
        _rate("run_delay_ns", 1e-7),
        " The kernel counts a wait when it ends, so a look may have more than 100 %.",
    ),
    _Quantity(
        "halted",
        "Waits for other threads or for a CPU",
        "% of the time",
        _waited,
        " Threads wait at locks and barriers, and for their turn on a CPU.",
    ),
    _Quantity(
        "reads-local",
        "Bytes read from the own node's memory",
        "GB a second",
        _rate("dram_reads_local", 1e-9 * LINE_BYTES),
    ),
    _Quantity(
        "reads-remote",
        "Bytes read from other nodes' memory",
        "GB a second",
        _rate("dram_reads_remote", 1e-9 * LINE_BYTES),
    ),
    _Quantity(
        "llc-misses",
        "Bytes that the last-level cache missed",
        "GB a second",
        _rate("llc_misses", 1e-9 * LINE_BYTES),
    ),
)


def timeline_plots(
    timeline: Sequence[TimelineStep], threads: Sequence[int], beside: Beside | None = None
) -> list[Plot]:
    """A plot for each quantity that was measured of one of the threads, which have these numbers.

    Up to 12 threads are lines; more are rows of a map. A dotted line stands where threads were
    placed otherwise than in the look before. With `beside`, plots of both series have the same
    scales.
    """
    others = beside.looks if beside is not None else ()
    plots = []
    for quantity in _QUANTITIES:
        rows, more = (
            [[quantity.value(step, thread) for step in looks] for thread in threads]
            for looks in (timeline, others)
        )
        known = [value for row in (*rows, *more) for value in row if not math.isnan(value)]
        if known:
            plots.append(_plot(quantity, LookTimes(timeline, others), threads, rows, max(known)))
    by_node = reads_by_node_plot(timeline, threads, others)
    plots += [] if by_node is None else [by_node]
    return plots if beside is None else [_named(plot, beside) for plot in plots]


def _named(plot: Plot, beside: Beside) -> Plot:
    """The plot with its conditions in its name and its title."""
    drawn = dict(plot.figure["layout"])
    drawn["title"] = {**drawn["title"], "text": f"{drawn['title']['text']}, {beside.under}"}
    return replace(plot, name=f"{plot.name}-{beside.name}", figure={**plot.figure, "layout": drawn})


def missing_quantities(timeline: Sequence[TimelineStep], threads: Sequence[int]) -> list[str]:
    """Titles of the quantities without a plot."""
    shown = {plot.name for plot in timeline_plots(timeline, threads)}
    known = {f"time-{each.name}": each.title for each in _QUANTITIES}
    known[BY_NODE] = READS_BY_NODE
    return [title for name, title in known.items() if name not in shown]


def _plot(
    quantity: _Quantity,
    times: LookTimes,
    threads: Sequence[int],
    rows: list[list[float]],
    most: float,
) -> Plot:
    moves = times.moves()
    few = len(threads) <= _MOST_LINES
    rows = [list(map(short, row)) for row in rows]
    scale = {"range": [0, 1.05 * most]} if times.beside and most > 0 else {"rangemode": "tozero"}
    height = _HEIGHT_PX if few else max(_HEIGHT_PX, 90 + _ROW_PX * len(threads))
    traces = (
        _lines(times.middles(), threads, rows, quantity.unit)
        if few
        else [_map(times, threads, rows, quantity.unit, most)]
    )
    figure = {
        "data": traces,
        "layout": layout(
            height,
            showlegend=few,
            shapes=[_move(at) for at in moves],
            title={
                "text": f"{quantity.title}, {quantity.unit}",
                "x": 0,
                "xanchor": "left",
                "font": {"size": 13.5},
            },
            margin={"l": 60, "r": 24, "t": 62, "b": 44},
            hovermode="x unified" if few else "closest",
            xaxis=times.axis(times.axis_title),
            yaxis=axis(quantity.unit, **scale)
            if few
            else axis("thread", type="category", autorange="reversed"),
        ),
    }
    moved = f" {MOVES_CAPTION}" if moves else ""
    caption = f"Mean over each look, of each thread that computes.{moved}{quantity.note}"
    return Plot(f"time-{quantity.name}", figure, caption, height)


def _move(at: float) -> dict[str, Any]:
    line = {"color": GREY, "width": 1.5, "dash": "dot"}
    return {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _lines(
    at: list[float], threads: Sequence[int], rows: list[list[float]], unit: str
) -> list[dict[str, Any]]:
    return [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": f"thread {thread}",
            "x": at,
            "y": values,
            "line": {"width": 1.8, "color": colour},
            "marker": {"size": 5},
            "hovertemplate": f"%{{y:.4g}} {unit}",
        }
        for thread, values, colour in zip(threads, rows, colours(len(threads)), strict=True)
    ]


def _map(
    times: LookTimes, threads: Sequence[int], rows: list[list[float]], unit: str, most: float
) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "x": times.edges(),
        "y": [str(thread) for thread in threads],
        "z": [times.by_column(row) for row in rows],
        "zmin": 0,
        "zmax": most if most > 0 else 1,
        "colorscale": "Viridis",
        "colorbar": colour_bar(unit),
        "hovertemplate": f"thread %{{y}}: %{{z:.4g}} {unit}<extra></extra>",
    }
