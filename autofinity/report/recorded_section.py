"""Recorded counters over time of the cases that lost most, as a section of a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from autofinity.evaluation.cases import Case
from autofinity.evaluation.recorded_series import MOST_POINTS, RecordedSeries, recorded_series
from autofinity.learning.feature_columns import with_sums
from autofinity.model.affinity import SPREAD, Affinity
from autofinity.model.policy import RulePolicy
from autofinity.report.judged_cases import JudgedCase
from autofinity.report.look_times import short
from autofinity.report.page import Block, Folded, Plot, Section, Sentences, plot_text
from autofinity.report.panels import grid, on_panel, panel_title, suffix
from autofinity.report.plot_layout import BLUE, GREEN, ORANGE, axis, layout
from autofinity.store.observation_table import ObservationTable

MOST_CASES = 6
_ACROSS = 3
_PANEL_PX, _GAP_PX, _TOP_PX, _BOTTOM_PX = 150, 60, 70, 44
_LABELS = 0.22
"""Share of a panel's width that labels such as 0.5×10⁶ need beside the panel."""
_MEANS = (
    "Observations hold the mean over all threads of each sample period, so the page has no series "
    "of single threads, nor of bytes by node."
)
_POINTS = (
    "A point is the mean of a sample period and stands at the middle of the period, so a line "
    "begins after the start of the run and ends before its end. The run's rest is not on "
    "record where it is shorter than half a period. In a series of over "
    f"{MOST_POINTS} periods, a point is the mean of several neighbouring periods."
)
_BY_WORK = (
    "Work done: share of the work of the region of interest that the program had done. Runs in "
    "different placements take different times, so the axis compares them at the same work."
)


def recorded_section(
    judged: Sequence[JudgedCase],
    table: ObservationTable,
    policies: Mapping[str, RulePolicy],
) -> Section | None:
    """Plots of the first cases, each with the counters that the policy of its program looks at;
    None where nothing is on record.
    """
    table = with_sums(table)
    blocks: list[Block] = []
    for number, one in enumerate(judged[:MOST_CASES]):
        plot = _plot(one, table, policies, f"recorded-{number}")
        if plot is not None:
            work = one.case.workload
            title = f"{work.program}, {work.input}, {work.threads} threads: "
            title += f"regret {one.case.regret:.1%}"
            blocks.append(Folded(title, (plot,)))
    if not blocks:
        return None
    return Section(
        "Counters over time, largest regrets first", (Sentences((_MEANS, _POINTS)), *blocks)
    )


def counters_of_looks(policy: RulePolicy) -> tuple[str, ...]:
    """Counters that either look of a policy asks for."""
    again = policy.second.policy.counters if policy.second is not None else ()
    return tuple(dict.fromkeys((*policy.counters, *again)))


def _plot(
    one: JudgedCase, table: ObservationTable, policies: Mapping[str, RulePolicy], name: str
) -> Plot | None:
    work = one.case.workload
    counters = counters_of_looks(policies[work.program]) if work.program in policies else ()
    known = {
        label: series
        for label, affinity in _placements(one.case, one.best).items()
        if (series := recorded_series(table, work, affinity, counters)) is not None
    }
    shown = [each for each in counters if any(each in series.values for series in known.values())]
    return _figure(known, shown, name) if shown else None


def _placements(case: Case, best: str) -> dict[str, Affinity]:
    """Label of each series, and its affinity; equal affinities are one series."""
    named = f": {best}" if case.affinities["best_hint"] != case.affinities["autofinity"] else ""
    roles: dict[Affinity, list[str]] = {}
    for column, role in (
        ("spread", f"before: {SPREAD.shown}, where the sample is taken"),
        ("autofinity", f"chosen: {case.decision.hint.name}"),
        ("best_hint", f"best hint{named}"),
    ):
        roles.setdefault(case.affinities[column], []).append(role)
    return {"; ".join(own): affinity for affinity, own in roles.items()}


def _figure(known: Mapping[str, RecordedSeries], shown: Sequence[str], name: str) -> Plot:
    across = min(_ACROSS, len(shown))
    down = math.ceil(len(shown) / across)
    by_work = all(series.by_work for series in known.values())
    height_px = _TOP_PX + _BOTTOM_PX + down * _PANEL_PX
    figure = {
        "data": [
            _line(series, counter, panel, label, colour)
            for panel, counter in enumerate(shown)
            for (label, series), colour in zip(known.items(), (BLUE, ORANGE, GREEN), strict=False)
            if counter in series.values
        ],
        "layout": layout(
            height_px,
            margin={"l": 60, "r": 24, "t": _TOP_PX, "b": _BOTTOM_PX},
            grid={**grid(len(shown), across, _GAP_PX, _PANEL_PX), "xgap": _LABELS},
            showlegend=True,
            legend={
                "orientation": "h",
                "x": 0,
                "y": 1 + 22 / (down * _PANEL_PX),
                "yanchor": "bottom",
                "tracegroupgap": 0,
            },
            annotations=[panel_title(at, plot_text(text)) for at, text in enumerate(shown)],
            **_axes(len(shown), across, by_work=by_work),
        ),
    }
    counts = sorted({series.periods for series in known.values()})
    periods = " to ".join(str(each) for each in dict.fromkeys((counts[0], counts[-1])))
    caption = (
        "Counts per thread and second of the run with the lowest seed in each placement, "
        f"{periods} sample period{'s' * (counts[-1] > 1)} on record."
    )
    if by_work:
        caption += f" {_BY_WORK}"
    return Plot(name, figure, caption, height_px)


def _line(
    series: RecordedSeries, counter: str, panel: int, label: str, colour: str
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plot_text(label),
        "legendgroup": plot_text(label),
        "showlegend": panel == 0,
        "x": [short(100 * at) for at in series.at],
        "y": list(map(short, series.values[counter])),
        "line": {"width": 1.8, "color": colour},
        "marker": {"size": 4},
        "hovertemplate": "%{y:.4~g} at %{x:.3g} %",
        **on_panel(panel),
    }


def _axes(panels: int, across: int, *, by_work: bool) -> dict[str, Any]:
    title = "work done, %" if by_work else "sample periods, % of the run"
    found: dict[str, Any] = {}
    for panel in range(panels):
        same = {"matches": "x"} if panel else {}
        titled = title if panel + across >= panels else ""
        found[f"xaxis{suffix(panel)}"] = axis(titled, range=[0, 100], **same)
        found[f"yaxis{suffix(panel)}"] = axis(rangemode="tozero")
    return found
