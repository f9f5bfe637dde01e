"""A comparison of mechanisms as sections of a page: each against the operating system, over all
programs and program by program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from autofinity.evaluation.bootstrap import TOO_FEW
from autofinity.evaluation.comparison import MechanismCase
from autofinity.evaluation.comparison_summary import FIGURES, MechanismSummary
from autofinity.evaluation.program_ratios import ProgramRatio, most_changed, program_ratios
from autofinity.evaluation.watched_run import Series
from autofinity.mechanisms.registry import BASELINE
from autofinity.model.topology import OsIndex, Topology
from autofinity.report.before_after_page import before_after_section
from autofinity.report.comparison_legend import MEANINGS, without_interval
from autofinity.report.intervals_plot import Interval, intervals_plot
from autofinity.report.machine_drawing import OnMachine, machine_svg
from autofinity.report.page import (
    Block,
    Cell,
    Drawing,
    Folded,
    Plot,
    Section,
    Sentences,
    Table,
    plot_text,
)
from autofinity.report.plot_layout import axis, colour_bar, layout

_FASTER_SLOWER = [[0.0, "#2166ac"], [0.5, "#e8eaed"], [1.0, "#b2182b"]]
_HALF_OR_TWICE = 1.0
"""Logarithm to base 2 of the ratio where the colours end."""
_LEAST_HEIGHT_PX = 250
"""Height of the map of ratios that holds the scale of colours."""


def comparison_sections(
    cases: Sequence[MechanismCase],
    summary: Mapping[str, MechanismSummary],
    topology: Topology,
    series: Series | None = None,
) -> tuple[Section, ...]:
    """All sections; pictures of the machine show where the threads were at the end, and plots of
    `series` what each thread did before and after.
    """
    ratios = program_ratios(cases)
    shown = most_changed(cases)
    titles = _titles(shown, ratios)
    sections = [
        Section("Mechanisms over all programs", _whole(summary)),
        Section(
            "Mechanisms by program",
            (ratios_map(ratios), _ratios_table(ratios), Sentences((_RATIO,))),
        ),
    ]
    if drawings := _drawings(shown, topology, titles):
        sections.append(Section("Where the threads were at the end", drawings))
    if series:
        sections.append(before_after_section(series, titles))
    failed = [case for case in cases if case.run is None]
    if failed:
        rows = tuple(
            (Cell(case.program), Cell(case.mechanism), Cell(str(case.seed)), Cell(case.reason))
            for case in failed
        )
        table = Table(("program", "mechanism", "seed", "why"), rows)
        sections.append(Section("Left out", (table,)))
    return tuple(sections)


_RATIO = (
    "All ratios are over the operating system's scheduler with first-touch pages: below 1 is less "
    "time. Ranges are over seeds (page colours, scheduler, mappings)."
)


def _drawings(
    shown: Mapping[str, MechanismCase], topology: Topology, titles: Mapping[str, str]
) -> tuple[Block, ...]:
    """A picture of each mechanism, in the program whose time it changes most."""
    blocks: list[Block] = []
    for mechanism, case in shown.items():
        if case.run is None or not case.run.cpus:
            continue
        seated = OnMachine.seated([OsIndex(cpu) for cpu in case.run.cpus])
        caption = (
            "Threads by their number, on the CPU where each ran last; of several programs, the one "
            "whose time the mechanism changes most, and of several seeds the first."
        )
        drawing = Drawing(machine_svg(topology, seated), caption)
        blocks.append(Folded(titles[mechanism], (drawing,), opened=not blocks))
    return tuple(blocks)


def _titles(
    shown: Mapping[str, MechanismCase], ratios: Mapping[str, Mapping[str, ProgramRatio]]
) -> dict[str, str]:
    """Mechanism → its name and the program that is shown of it, with the ratio of their times."""
    titles = {}
    for mechanism, case in shown.items():
        titles[mechanism] = f"{mechanism}, {case.program}"
        if mechanism != BASELINE:
            ratio = ratios[mechanism][case.program].value
            titles[mechanism] += f": {ratio:.2f} of the operating system's time"
    return titles


def _whole(summary: Mapping[str, MechanismSummary]) -> tuple[Block, ...]:
    plots = [figure_plot(summary, figure) for figure in MEANINGS]
    known = [plot for plot in plots if plot is not None]
    folded = tuple(
        Folded(MEANINGS[plot.name.removeprefix("vs-os-")].capitalize(), (plot,))
        for plot in known[1:]
    )
    return (*known[:1], _summary_table(summary), *folded)


def figure_plot(summary: Mapping[str, MechanismSummary], figure: str) -> Plot | None:
    """One of `FIGURES` of each mechanism against the operating system's; None where it is not
    known.
    """
    assert figure in FIGURES
    rows = [
        Interval(name, of.vs_os[figure].value, of.vs_os[figure].low, of.vs_os[figure].high)
        for name, of in summary.items()
        if not math.isnan(of.vs_os[figure].value)
    ]
    if not rows:
        return None
    return intervals_plot(
        f"vs-os-{figure}",
        rows,
        f"{MEANINGS[figure]} over that under the operating system",
        f"Geometric means over programs of the ratio of {MEANINGS[figure]} to that under the "
        "operating system; left of 1 is less. "
        + (
            f"{TOO_FEW.capitalize()}."
            if without_interval(summary)
            else "Lines are 95 % intervals by bootstrap over programs and seeds."
        ),
    )


def ratios_map(ratios: Mapping[str, Mapping[str, ProgramRatio]]) -> Plot:
    """Time of every program under every mechanism, as colours."""
    programs = sorted({program for of in ratios.values() for program in of})
    mechanisms = [name for name in ratios if name != BASELINE]
    cells = [[ratios[name].get(program) for program in programs] for name in mechanisms]
    values = [[one.value if one else math.nan for one in row] for row in cells]
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": [plot_text(program) for program in programs],
        "y": [plot_text(name) for name in mechanisms],
        "z": [[math.log2(value) for value in row] for row in values],
        "customdata": values,
        "text": [[f"{value:.2f}" if value == value else "" for value in row] for row in values],
        "texttemplate": "%{text}",
        "hovertemplate": "%{y}, %{x}: %{customdata:.3f} of the OS's time<extra></extra>",
        "zmid": 0,
        "zmin": -_HALF_OR_TWICE,
        "zmax": _HALF_OR_TWICE,
        "colorscale": _FASTER_SLOWER,
        "xgap": 2,
        "ygap": 2,
        "colorbar": {
            **colour_bar("time over the OS's"),
            "tickvals": [-1, -0.415, 0, 0.585, 1],
            "ticktext": ["≤ 0.5", "0.75", "1", "1.5", "≥ 2"],
        },
    }
    height = max(_LEAST_HEIGHT_PX, 130 + 28 * len(mechanisms))
    figure = {
        "data": [trace],
        "layout": layout(
            height,
            xaxis=axis(type="category", showgrid=False),
            yaxis=axis(type="category", autorange="reversed", showgrid=False),
        ),
    }
    caption = (
        "Time of each program under each mechanism over that under the operating system: blue is "
        "faster, red slower."
    )
    return Plot("by-program", figure, caption, height)


def _summary_table(summary: Mapping[str, MechanismSummary]) -> Table:
    rows = []
    for name, of in summary.items():
        time, oracle = of.vs_os["time"], of.of_oracle
        rows.append(
            (
                Cell(name, tone="whole"),
                Cell(str(of.programs), float(of.programs)),
                _ratio(time.value),
                Cell(_range(time.low, time.high)),
                _ratio(oracle.value),
                Cell(_range(oracle.low, oracle.high)),
                _ratio(of.vs_os["energy"].value),
                Cell(f"{sum(of.overhead.values()):.2%}", sum(of.overhead.values())),
                Cell(f"{of.thread_migrations:.0f}", of.thread_migrations),
                Cell(f"{of.page_migrations:.0f}", of.page_migrations),
            )
        )
    headings = (
        *("mechanism", "programs", "time", "95 %", "of the oracle", "95 %", "energy"),
        *("overhead, % of the threads' time", "threads moved", "pages moved"),
    )
    caption = "Ratios to the operating system; overhead and moves are means of a run."
    if without_interval(summary):
        caption += f" {TOO_FEW.capitalize()}."
    return Table(headings, tuple(rows), caption)


def _ratios_table(ratios: Mapping[str, Mapping[str, ProgramRatio]]) -> Table:
    rows = tuple(
        (
            Cell(program),
            Cell(mechanism),
            _ratio(one.value),
            Cell(_range(one.low, one.high) if one.seeds > 1 else "one run", tone="quiet"),
        )
        for mechanism, of in ratios.items()
        if mechanism != BASELINE
        for program, one in of.items()
    )
    ordered = tuple(sorted(rows, key=lambda row: row[2].value or 0.0))
    headings = ("program", "mechanism", "time over the OS's", "range over seeds")
    return Table(headings, ordered, choices=(0, 1))


def _ratio(value: float) -> Cell:
    return Cell("not known", -1.0) if math.isnan(value) else Cell(f"{value:.3f}", value)


def _range(low: float, high: float) -> str:
    return "" if math.isnan(low) else f"{low:.3f} to {high:.3f}"
