"""Judged cases by their regret: a plot of all, and a table that sorts and filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case
from autofinity.evaluation.seed_spread import SeedSpread
from autofinity.model.affinity import HINTS
from autofinity.report.evaluation_table import mark
from autofinity.report.page import Cell, Plot, Table, plot_text
from autofinity.report.plot_layout import SERIES, axis, layout

_MARKS = {"✓": ("won", "good"), "!": ("lost", "bad"), "·": ("–", "quiet")}
_NOTABLE = 0.05
_TIMES = (
    ("autofinity", "chosen"),
    ("best_hint", "best"),
    ("oracle", "oracle"),
    ("packed", "packed"),
    ("spread", "spread"),
    ("os", "OS"),
    ("compact", "compact"),
    ("random", "random"),
    ("one_period", "from one period"),
    ("in_run", "switched in the run"),
)
_IN_SHORT = 3

TERMS = (
    "Regret is the share of time lost against the best of the eight hints; its range is over runs "
    "with different random seeds (page colours, scheduler), each against the best hint with the "
    "same seed. 'one run': each affinity was run once, so there is no range.",
    "A case is won or lost where packed and spread differ by at least 20 %: won is within 1 % "
    "of the faster of packed and spread. –: packed and spread differ less.",
    "The oracle is the best affinity that was profiled, a bound that no hint may reach.",
)


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """A case with all that its row shows."""

    case: Case
    spread: SeedSpread | None
    best: str
    """Name of the best hint; `the same` where the chosen one is as fast."""
    machine: str = ""
    """Empty where all cases are of one machine."""


def judged_cases(
    cases: Sequence[Case],
    match: BestMatches,
    spreads: Sequence[SeedSpread | None] = (),
    machine: str = "",
) -> list[JudgedCase]:
    """The cases of one machine. `spreads[i]` belongs to `cases[i]`; none: nothing is known."""
    known = spreads or [None] * len(cases)
    return [
        JudgedCase(case, spread, _best(case, match), machine)
        for case, spread in zip(cases, known, strict=True)
    ]


def by_regret(judged: Sequence[JudgedCase]) -> list[JudgedCase]:
    """The largest regret first."""
    return sorted(judged, key=lambda one: (-one.case.regret, one.machine, _named(one.case)))


def regret_plot(judged: Sequence[JudgedCase], name: str) -> Plot:
    """Regret of every case, in the given order, a colour for each thread count."""
    traces: list[dict[str, Any]] = []
    for colour, threads in enumerate(sorted({one.case.workload.threads for one in judged})):
        own = [i for i, one in enumerate(judged) if one.case.workload.threads == threads]
        filled = [judged[i].case.interesting for i in own]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": f"{threads} thread{'s' if threads > 1 else ''}",
                "x": [i + 1 for i in own],
                "y": [100 * max(0.0, judged[i].case.regret) for i in own],
                "customdata": own,
                "text": [_hover(judged[i]) for i in own],
                "marker": {
                    "size": 9,
                    "color": SERIES[colour % len(SERIES)],
                    "symbol": ["circle" if each else "circle-open" for each in filled],
                    "line": {"width": 1.5},
                },
                "unselected": {"marker": {"opacity": 0.12}},
                "cliponaxis": False,  # most cases have regret 0: whole circles on the axis
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    figure = {
        "data": traces,
        "layout": layout(
            300,
            hovermode="closest",
            showlegend=True,
            xaxis=axis("cases, by regret", rangemode="tozero"),
            yaxis=axis("regret, %", rangemode="tozero"),
        ),
    }
    return Plot(
        name,
        figure,
        "Regret of each case, in percent of the time with the best hint. Filled: packed and "
        "spread differ by at least 20 %. A click on the legend hides a thread count, a drag "
        "zooms, a double click zooms out; rows that are filtered out below are dimmed here.",
        300,
    )


def cases_table(judged: Sequence[JudgedCase], plot: str) -> Table:
    """A row for each case, in the given order, which is also that of `plot`."""
    most = max((one.case.regret for one in judged), default=0.0)
    machines = any(one.machine for one in judged)
    ranges = any(one.spread is not None for one in judged)
    columns = _known_times(judged)[:_IN_SHORT]
    rows = []
    for one in judged:
        said, tone = _MARKS[mark(one.case)]
        rows.append(
            (
                *_workload(one, machines=machines),
                Cell(one.case.decision.hint.name, tone="whole"),
                Cell(one.best, tone="whole" if one.best != _SAME else "quiet"),
                _regret(one.case.regret, most),
                *((_range(one.spread),) if ranges else ()),
                Cell(said, tone=tone),
                *(_time(one.case, key) for key, _ in columns),
            )
        )
    headings = (
        *_workload_headings(machines=machines),
        *("chosen", "best hint", "regret"),
        *(("range",) if ranges else ()),
        *("result", *(f"{name}, ms" for _, name in columns)),
    )
    first = int(machines)
    filters = [*range(first), first + 1, first + 2, first + 3, headings.index("result")]
    return Table(headings, tuple(rows), choices=tuple(filters), search=first, plot=plot)


def times_table(judged: Sequence[JudgedCase]) -> Table:
    """Time of every alternative."""
    machines = any(one.machine for one in judged)
    columns = _known_times(judged)
    rows = tuple(
        (*_workload(one, machines=machines), *(_time(one.case, key) for key, _ in columns))
        for one in judged
    )
    headings = (
        *_workload_headings(machines=machines),
        *(f"{name}, ms" for _, name in columns),
    )
    return Table(headings, rows)


_SAME = "the same"


def _best(case: Case, match: BestMatches) -> str:
    """The hint whose affinity was the fastest; the affinity where no hint has it."""
    best = case.affinities["best_hint"]
    hints = [hint for hint in HINTS if match(best.threads, hint) == best]
    if case.decision.hint in hints:
        return _SAME
    return hints[0].name if hints else str(best)


def _known_times(judged: Sequence[JudgedCase]) -> list[tuple[str, str]]:
    return [(key, name) for key, name in _TIMES if any(key in one.case.roi_s for one in judged)]


def _workload_headings(*, machines: bool) -> tuple[str, ...]:
    return (*(("machine",) if machines else ()), "program", "threads", "input")


def _workload(one: JudgedCase, *, machines: bool) -> tuple[Cell, ...]:
    work = one.case.workload
    return (
        *((Cell(one.machine),) if machines else ()),
        Cell(work.program),
        Cell(str(work.threads), float(work.threads)),
        Cell(work.input),
    )


def _regret(regret: float, most: float) -> Cell:
    bar = max(0.0, regret) / most if most > 0 else None
    return Cell(f"{regret:.1%}", regret, "bad" if regret > _NOTABLE else "", bar)


def _range(spread: SeedSpread | None) -> Cell:
    if spread is None:
        return Cell("one run", -1.0, "quiet")
    return Cell(f"{spread.low:.1%} to {spread.high:.1%}", spread.high, "quiet")


def _time(case: Case, key: str) -> Cell:
    seconds = case.roi_s.get(key)
    return Cell("", -1.0) if seconds is None else Cell(f"{1e3 * seconds:.4g}", seconds)


def _hover(one: JudgedCase) -> str:
    case = one.case
    where = f" on {plot_text(one.machine)}" if one.machine else ""
    return (
        f"<b>{plot_text(case.workload.program)}</b>, {plot_text(case.workload.input)}, "
        f"{case.workload.threads} threads{where}<br>regret {case.regret:.1%}: "
        f"{1e3 * case.roi_s['autofinity']:.4g} ms, best {1e3 * case.roi_s['best_hint']:.4g} ms<br>"
        f"chosen {case.decision.hint.name}, best {plot_text(one.best)}"
    )


def _named(case: Case) -> tuple[str, str, int]:
    return case.workload.program, case.workload.input, case.workload.threads
