"""Memory that each thread reads over time, by the node of the memory.

Up to 12 threads have a panel each, with a bar for each look, stacked by node. More threads are rows
of maps: a panel for each node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.facts import LINE_BYTES
from autofinity.model.reads_by_node import NODE_NOT_KNOWN, is_by_node, node_number
from autofinity.model.timeline import TimelineStep
from autofinity.model.topology import OsIndex
from autofinity.report.look_times import MOVES_CAPTION, LookTimes, short
from autofinity.report.page import Plot
from autofinity.report.panels import grid, on_panel, panel_title, suffix
from autofinity.report.plot_layout import GREY, axis, colour_bar, layout
from autofinity.report.thread_colours import colours

READS_BY_NODE = "Bytes read from memory, by node"
"""Title of the plot."""
BY_NODE = "time-reads-by-node"
"""Name of the plot."""
_MOST_PANELS = 12
_ACROSS = 3
_PANEL_PX = 150
_ROW_PX = 14
_BARS_GAP_PX, _MAPS_GAP_PX = 60, 76
"""Between two panels, one below the other: all maps have a title of their time axis."""
_TOP_PX, _LEGEND_ROW_PX, _BOTTOM_PX = 76, 20, 44
_ONE_ROW, _IN_A_ROW = 8, 6
"""Entries of the legend that one row takes, and each row where there are several."""
_UNIT = "GB a second"
_CUT_OFF = (
    "Looks shorter than 1 % of the time axis do not set the scale: larger values of these looks "
    "are cut off at the end of the scale, and are shown where the pointer is."
)


def reads_by_node_plot(
    timeline: Sequence[TimelineStep],
    threads: Sequence[int],
    beside: Sequence[TimelineStep] = (),
) -> Plot | None:
    """The plot of these threads; None where no reads by node are known. The plot of `beside` has
    the same scales, nodes and colours.
    """
    looks = (*timeline, *beside)
    known = sorted(
        {
            name
            for step in looks
            for thread in threads
            for name, count in step.counts.get(thread, {}).items()
            if is_by_node(name) and not math.isnan(count)
        },
        key=_order,
    )
    if not known:
        return None
    read = [name for name in known if _is_read(looks, threads, name)] or known
    by_thread = len(threads) <= _MOST_PANELS
    titles = [f"thread {thread}" for thread in threads] if by_thread else list(map(_label, read))
    across = min(_ACROSS, len(titles)) if by_thread else 1
    down = math.ceil(len(titles) / across)
    gap_px = _BARS_GAP_PX if by_thread else _MAPS_GAP_PX
    panel_px = _PANEL_PX if by_thread else gap_px + _ROW_PX * len(threads)
    top_px = _TOP_PX + _LEGEND_ROW_PX * _legend_rows(len(read) if by_thread else 0)
    height_px = top_px + _BOTTOM_PX + down * panel_px
    times = LookTimes(timeline, beside)
    largest = _highest if by_thread else _largest
    scale = largest(times.long_looks(), threads, read)
    traces = (_bars if by_thread else _maps)(timeline, threads, read)
    figure = {
        "data": traces,
        "layout": layout(
            height_px,
            title={
                "text": f"{READS_BY_NODE}, {_UNIT}",
                "x": 0,
                "xanchor": "left",
                "font": {"size": 13.5},
            },
            margin={"l": 60, "r": 24, "t": top_px, "b": _BOTTOM_PX},
            grid=grid(len(titles), across, gap_px, panel_px),
            barmode="stack",
            showlegend=by_thread,
            legend={
                "orientation": "h",
                "x": 0,
                "y": 1 + 20 / (down * panel_px),
                "yanchor": "bottom",
                "tracegroupgap": 0,
            },
            annotations=[panel_title(at, text) for at, text in enumerate(titles)],
            shapes=[_moved(at, panel) for at in times.moves() for panel in range(len(titles))],
            coloraxis={
                "cmin": 0,  # plotly heeds it beside `cmax` only
                "cmax": scale,
                "colorscale": "Viridis",
                "colorbar": colour_bar(_UNIT),
            },
            **_axes(len(titles), across, times, scale, by_thread=by_thread),
        ),
    }
    caption = _caption(known, read, by_thread=by_thread)
    if largest(timeline, threads, read) > scale:
        caption += f" {_CUT_OFF}"
    if times.moves():
        caption += f" {MOVES_CAPTION}"
    return Plot(BY_NODE, figure, caption, height_px)


def _legend_rows(entries: int) -> int:
    return 1 if entries <= _ONE_ROW else math.ceil(entries / _IN_A_ROW)


def _order(name: str) -> tuple[bool, int]:
    number = node_number(name)
    return number is None, number or 0


def _label(name: str) -> str:
    return "node not known" if name == NODE_NOT_KNOWN else f"node {node_number(name)}"


def _is_read(timeline: Sequence[TimelineStep], threads: Sequence[int], name: str) -> bool:
    return any(
        step.counts.get(thread, {}).get(name, 0.0) > 0 for step in timeline for thread in threads
    )


def _caption(known: Sequence[str], read: Sequence[str], *, by_thread: bool) -> str:
    what = (
        "A panel is a thread, a bar is a look, and a colour is the node whose memory was read."
        if by_thread
        else "A panel is the node whose memory was read, and a row is a thread."
    )
    lines = [what]
    unread = [
        OsIndex(number)
        for name in known
        if name not in read and (number := node_number(name)) is not None
    ]
    if unread:
        nodes = "node" if len(unread) == 1 else "nodes"
        lines.append(f"Nothing was read from {nodes} {format_cpu_list(unread)}.")
    if NODE_NOT_KNOWN in read:
        lines.append(
            "Node not known: reads from other nodes than the thread's own, where the machine has "
            "more than two, and all reads in looks in which a thread changed its node or began; "
            "counters do not separate these."
        )
    return " ".join(lines)


def _rates(timeline: Sequence[TimelineStep], thread: int, name: str) -> list[float]:
    return [short(_rate(step, thread, name)) for step in timeline]


def _rate(step: TimelineStep, thread: int, name: str) -> float:
    return 1e-9 * LINE_BYTES * step.rate(thread, name)


def _bars(
    timeline: Sequence[TimelineStep], threads: Sequence[int], names: Sequence[str]
) -> list[dict[str, Any]]:
    times = LookTimes(timeline)
    numbers = [number for name in names if (number := node_number(name)) is not None]
    colour = dict(zip(numbers, colours(len(numbers)), strict=True))
    bars: list[dict[str, Any]] = []
    in_legend: set[str] = set()
    for panel, thread in enumerate(threads):
        for name in names:
            rates, number = _rates(timeline, thread, name), node_number(name)
            last = panel == len(threads) - 1
            if not any(rate > 0 for rate in rates) and (name in in_legend or not last):
                continue  # bars of no height
            bars.append(
                {
                    "type": "bar",
                    "name": _label(name),
                    "legendgroup": name,
                    "legendrank": names.index(name),
                    "showlegend": name not in in_legend,
                    "x": times.middles(),
                    "y": rates,
                    "width": times.lengths(),
                    "marker": {
                        "color": GREY if number is None else colour[number],
                        "line": {"width": 0},
                    },
                    "hovertemplate": f"%{{y:.4g}} {_UNIT}"
                    f"<extra>thread {thread}, {_label(name)}</extra>",
                    **on_panel(panel),
                }
            )
            in_legend.add(name)
    return bars


def _maps(
    timeline: Sequence[TimelineStep], threads: Sequence[int], names: Sequence[str]
) -> list[dict[str, Any]]:
    times = LookTimes(timeline)
    return [
        {
            "type": "heatmap",
            "x": times.edges(),
            "y": [str(thread) for thread in threads],
            "z": [times.by_column(_rates(timeline, thread, name)) for thread in threads],
            "coloraxis": "coloraxis",
            "hovertemplate": f"thread %{{y}}, {_label(name)}: %{{z:.4g}} {_UNIT}<extra></extra>",
            **on_panel(panel),
        }
        for panel, name in enumerate(names)
    ]


def _largest(looks: Sequence[TimelineStep], threads: Sequence[int], names: Sequence[str]) -> float:
    """The largest rate on the maps; 1 where all are 0 or none is known."""
    rates = (_rate(step, thread, name) for step in looks for thread in threads for name in names)
    return max((rate for rate in rates if rate > 0), default=1.0)


def _highest(looks: Sequence[TimelineStep], threads: Sequence[int], names: Sequence[str]) -> float:
    """The height of the highest bar; 1 where there is none."""
    each = ([_rate(step, thread, name) for name in names] for step in looks for thread in threads)
    return max(filter(None, (sum(rate for rate in of if rate > 0) for of in each)), default=1.0)


def _axes(
    panels: int, across: int, times: LookTimes, highest: float, *, by_thread: bool
) -> dict[str, Any]:
    """Axes of the panels: one scale of time, and of rates, so that panels compare. The time has a
    title below each column of bars, and below each map.
    """
    found: dict[str, Any] = {}
    scale: dict[str, Any] = {"range": [0, 1.05 * highest]}
    for panel in range(panels):
        titled = not by_thread or panel + across >= panels
        same_time = {"matches": "x"} if panel else {}
        same_rate = {"matches": "y"} if panel else {}
        found[f"xaxis{suffix(panel)}"] = times.axis(times.axis_title if titled else "", **same_time)
        found[f"yaxis{suffix(panel)}"] = (
            axis(**scale, **same_rate) if by_thread else axis(type="category", autorange="reversed")
        )
    return found


def _moved(at: float, panel: int) -> dict[str, Any]:
    """A dotted line where threads are placed otherwise."""
    return {
        "type": "line",
        "xref": f"x{suffix(panel)}",
        "yref": f"y{suffix(panel)} domain",
        "x0": at,
        "x1": at,
        "y0": 0,
        "y1": 1,
        "line": {"color": GREY, "width": 1.5, "dash": "dot"},
    }
