"""A decision as strips: for each input of the rules, which hint each of its values would give.

The other inputs stay as they were measured. A strip changes its colour where the hint would change;
a diamond marks the measured value, short lines the thresholds of all rules.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from autofinity.model.affinity import HINTS, Hint
from autofinity.model.policy import RulePolicy
from autofinity.policy.explain import Explanation
from autofinity.policy.nearest import edges_of, hints_along
from autofinity.policy.readable import number
from autofinity.policy.sentences import is_share, value_sentence
from autofinity.report.hint_colours import HINT_COLOURS
from autofinity.report.page import Plot, plot_text
from autofinity.report.plot_layout import axis, layout, log_axis

_ROW_PX, _AROUND_PX = 84, 74


@dataclass(frozen=True, slots=True)
class Stretch:
    """Values of one input that give the same hint: (lower, upper]."""

    lower: float
    upper: float
    hint: Hint


@dataclass(frozen=True, slots=True)
class Strip:
    """One input."""

    name: str
    value: float
    said: str
    """The measured value with its unit."""
    edges: tuple[float, ...]
    stretches: tuple[Stretch, ...]
    """Ascending, without gaps, over `low` to `high`."""
    low: float
    high: float
    log: bool


def strips_of(policy: RulePolicy, why: Explanation) -> list[Strip]:
    """A strip for each input that rules ask for and that was measured."""
    strips = []
    for name in policy.inputs:
        value, edges = why.values[name], edges_of(policy, name)
        if edges and math.isfinite(value):
            strips.append(_strip(policy, why, name, edges))
    return strips


def decision_plot(policy: RulePolicy, why: Explanation, name: str) -> Plot | None:
    """The strips below each other; None where no input has one."""
    strips = strips_of(policy, why)
    if not strips:
        return None
    height = _ROW_PX * len(strips) + _AROUND_PX
    return Plot(
        name,
        {"data": _traces(strips), "layout": _layout(strips, height)},
        "Each strip is one input of the rules. Its colour is the hint that the rules would give at "
        "that value, while the other inputs stay as measured. The diamond is the measured value; "
        "the short lines are thresholds of rules.",
        height,
    )


def _strip(policy: RulePolicy, why: Explanation, name: str, edges: Sequence[float]) -> Strip:
    value = why.values[name]
    known = [*edges, value]
    log = min(known) > 0 and not is_share(name)
    if is_share(name):
        low, high = min(0.0, *known), max(1.0, *known)
    elif log:
        low, high = min(known) / 2, max(known) * 2
    else:
        room = (max(known) - min(known)) / 6 or 1.0
        low, high = min(known) - room, max(known) + room
    stretches: list[Stretch] = []
    ends, answers = hints_along(policy, why.values, name)
    bounds = [low, *(edge for edge in edges if low < edge < high), high]
    for lower, upper in pairwise(bounds):
        hint = answers[bisect_left(ends, upper)]
        if stretches and stretches[-1].hint == hint:
            stretches[-1] = Stretch(stretches[-1].lower, upper, hint)
        else:
            stretches.append(Stretch(lower, upper, hint))
    return Strip(
        name, value, _said(policy, name, value), tuple(edges), tuple(stretches), low, high, log
    )


def _traces(strips: Sequence[Strip]) -> list[dict[str, Any]]:
    traces: list[dict[str, Any]] = []
    shown: set[Hint] = set()
    for row, strip in enumerate(strips, 1):
        on = {"xaxis": f"x{row}", "yaxis": f"y{row}"}
        for part in strip.stretches:
            traces.append(
                {
                    **on,
                    "type": "bar",
                    "orientation": "h",
                    "y": [0],
                    "base": [part.lower],
                    "x": [part.upper - part.lower],
                    "width": 0.9,
                    "name": part.hint.shown,
                    "legendgroup": str(part.hint),
                    "legendrank": HINTS.index(part.hint),
                    "showlegend": part.hint not in shown,
                    "marker": {"color": HINT_COLOURS[part.hint], "line": {"width": 0}},
                    "hovertemplate": f"{number(part.lower)} to {number(part.upper)}: "
                    f"{part.hint.shown}<extra></extra>",
                }
            )
            shown.add(part.hint)
        inside = [edge for edge in strip.edges if strip.low < edge < strip.high]
        traces.append(
            {
                **on,
                "type": "scatter",
                "mode": "markers",
                "x": inside,
                "y": [0] * len(inside),
                "showlegend": False,
                "marker": {
                    "symbol": "line-ns",
                    "size": 20,
                    "line": {"width": 1.5, "color": "rgba(255,255,255,0.75)"},
                },
                "hovertemplate": "threshold %{x:.4g}<extra></extra>",
            }
        )
        traces.append(
            {
                **on,
                "type": "scatter",
                "mode": "markers",
                "x": [strip.value],
                "y": [0],
                "name": "measured",
                "cliponaxis": False,
                "legendgroup": "measured",
                "showlegend": row == 1,
                "marker": {
                    "symbol": "diamond",
                    "size": 17,
                    "color": "#ffffff",
                    "line": {"width": 2.5, "color": "#1f2328"},
                },
                "hovertemplate": f"measured {number(strip.value)}<extra></extra>",
            }
        )
    return traces


def _layout(strips: Sequence[Strip], height_px: int) -> dict[str, Any]:
    whole = layout(height_px, barmode="overlay", annotations=[])
    whole["margin"] = {"l": 12, "r": 24, "t": 46, "b": 28}
    inner = height_px - 74
    whole["legend"] |= {"y": 1 + 8 / inner}
    for row, strip in enumerate(strips, 1):
        top = 1 - (row - 1) * _ROW_PX / inner
        band: dict[str, Any] = {
            "domain": [top - 60 / inner, top - 26 / inner],
            "visible": False,
            "range": [-0.5, 0.5],
        }
        whole[f"yaxis{row}"] = axis(**band, anchor=f"x{row}", fixedrange=True)
        under: dict[str, Any] = {
            "anchor": f"y{row}",
            "showgrid": False,
            "ticks": "outside",
            "ticklen": 3,
        }
        whole[f"xaxis{row}"] = (
            log_axis(strip.low, strip.high, **under)
            if strip.log
            else axis(
                range=[strip.low, strip.high],
                nticks=12,
                tickformat=".0%" if is_share(strip.name) else "~g",
                **under,
            )
        )
        whole["annotations"].append(
            {
                "text": f"<b>{plot_text(strip.name)}</b>: {plot_text(strip.said)}",
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "y": top,
                "xanchor": "left",
                "yanchor": "top",
                "showarrow": False,
            }
        )
    return whole


def _said(policy: RulePolicy, name: str, value: float) -> str:
    if name in policy.counters:
        return f"{number(value)} per thread and second"
    return value_sentence(name, value)
