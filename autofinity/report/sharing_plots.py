"""Sharing between threads, and the use of pages, as maps that zoom."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from autofinity.model.sharing import NumaVectors, SharingMatrix, process_and_page
from autofinity.report.page import Plot
from autofinity.report.plot_layout import axis, colour_bar, layout
from autofinity.report.thread_colours import colours

_SCALE = [[0.0, "rgba(120,140,160,0.08)"], [0.02, "#cfe1f2"], [0.5, "#4f93c4"], [1.0, "#0b3d78"]]
"""Nothing is nearly transparent, so that light and dark pages show it as empty."""
_MOST_COLUMNS = 4000
_SIDE_PX, _MOST_SIDE_PX = 16, 620
_LEAST_HEIGHT_PX = 220
"""Height that holds the scale of colours."""


def matrix_plot(matrix: SharingMatrix, name: str, unit: str) -> Plot:
    """The sharing of each pair of threads."""
    threads = matrix.threads
    side = max(300, min(_MOST_SIDE_PX, 90 + _SIDE_PX * threads))
    numbers = [str(thread) for thread in range(threads)]
    trace = {
        "type": "heatmap",
        "x": numbers,
        "y": numbers,
        "z": [list(row) for row in matrix.cells],
        "colorscale": _SCALE,
        **_from_zero(matrix.cells),
        "colorbar": colour_bar(unit),
        "hovertemplate": f"threads %{{y}} and %{{x}}: %{{z:.4g}} {unit}<extra></extra>",
    }
    figure = {
        "data": [trace],
        "layout": layout(
            side,
            width=side + 140,
            xaxis=axis("thread", type="category", constrain="domain", showgrid=False),
            yaxis=axis(
                "thread", type="category", autorange="reversed", scaleanchor="x", showgrid=False
            ),
        ),
    }
    caption = (
        f"Sharing between each pair of threads, in {unit}: the darker, the more. A drag zooms, a "
        "double click zooms out."
    )
    return Plot(name, figure, caption, side)


def page_map(
    pages: Mapping[int, Sequence[int]],
    rows: Sequence[str],
    name: str,
    unit: str,
    nodes: Mapping[int, int] | None = None,
    page_size_bytes: int = 4096,
) -> Plot:
    """Uses of each page, in the order of addresses. `rows` says who uses them: `node 0` …, in the
    order of the counts of each page; `nodes` is the node that a page is on, where that is known.
    """
    order = sorted(pages)
    step = max(1, -(-len(order) // _MOST_COLUMNS))
    groups = [order[at : at + step] for at in range(0, len(order), step)]
    uses = [
        [sum(pages[page][row] for page in group) for group in groups] for row in range(len(rows))
    ]
    shades = [[math.log10(1 + count) for count in line] for line in uses]
    traces: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            "y": list(rows),
            "z": shades,
            "customdata": uses,
            "text": [[_addresses(group) for group in groups]] * len(rows),
            "colorscale": _SCALE,
            **_from_zero(shades),
            "colorbar": colour_bar("log₁₀ (1 + n)"),
            "hovertemplate": f"%{{text}}<br>%{{y}}: %{{customdata}} {unit}<extra></extra>",
        }
    ]
    traces += _homes(groups, nodes or {})
    height = max(_LEAST_HEIGHT_PX, 150 + 24 * len(rows) + (30 if nodes else 0))
    figure = {
        "data": traces,
        "layout": layout(
            height,
            showlegend=bool(nodes),
            xaxis=axis(_x_title(step, page_size_bytes), showgrid=False),
            yaxis=axis(type="category", autorange="reversed", showgrid=False),
        ),
    }
    where = " Marks in the last row show the node that a page is on." if nodes else ""
    caption = (
        f"{len(order)} pages in the order of their addresses, and {unit} of each by who used it: "
        f"the darker, the more (n: {unit}).{where} A drag zooms, a double click zooms out."
    )
    return Plot(name, figure, caption, height)


def touched_map(touched: NumaVectors, name: str) -> Plot:
    """Touches of each page from each node."""
    nodes = max((len(counts) for counts in touched.pages.values()), default=0)
    rows = [f"from node {node}" for node in range(nodes)]
    return page_map(
        touched.pages, rows, name, "sampled touches", touched.nodes, touched.page_size_bytes
    )


def _from_zero(cells: Sequence[Sequence[float]]) -> dict[str, float]:
    """Ends of the scale of colours; plotly takes both or neither."""
    return {"zmin": 0, "zmax": max((value for row in cells for value in row), default=0) or 1}


def _homes(groups: Sequence[Sequence[int]], nodes: Mapping[int, int]) -> list[dict[str, Any]]:
    """A mark for each page whose node is known, a colour for each node."""
    found: dict[int, list[int]] = {}
    for at, group in enumerate(groups):
        for node in {nodes[page] for page in group if page in nodes}:
            found.setdefault(node, []).append(at)
    colour = colours(max(found, default=-1) + 1)
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": f"on node {node}",
            "x": found[node],
            "y": ["is on"] * len(found[node]),
            "marker": {"symbol": "square", "size": 7, "color": colour[node]},
            "hovertemplate": f"on node {node}<extra></extra>",
        }
        for node in sorted(found)
    ]


def _addresses(group: Sequence[int]) -> str:
    process, first = process_and_page(group[0])
    whose = f"process {process}, " if process else ""
    if len(group) == 1:
        return f"{whose}page at {first << 12:#x}"
    _, last = process_and_page(group[-1])
    return f"{whose}{len(group)} pages, {first << 12:#x} to {last << 12:#x}"


def _x_title(step: int, page_size_bytes: int) -> str:
    size = f"pages of {page_size_bytes // 1024} KiB, by address"
    return size if step == 1 else f"{size}; a column is {step} pages"
