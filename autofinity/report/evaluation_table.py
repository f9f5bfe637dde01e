"""The evaluation as a table in the terminal, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from autofinity.evaluation.bootstrap import DRAWS, LEVEL, TOO_FEW
from autofinity.evaluation.cases import Case, Summary, inputs_to_name
from autofinity.evaluation.judge import Skipped
from autofinity.evaluation.verdict import Verdict, figures

if TYPE_CHECKING:
    from rich.table import Table

SHOWN = ("packed", "spread", "os", "autofinity", "best_hint", "oracle")
"""Columns of the table."""
NAMED = 4
"""Number of cases that a sentence names; `--json` names all."""
_WEIGHT = (
    "these cases would move and are left out, so cases that stay in place weigh more in 'switched' "
    "than in the other lines"
)
COLUMNS = (
    *("packed", "spread", "os", "compact", "random"),
    *("best_hint", "oracle", "autofinity", "one_period", "in_run"),
)
"""Columns of every case in JSON; null where unknown."""


def heading(column: str) -> str:
    """Heading of a column of the table."""
    return column.replace("_", " ")


def table(cases: Sequence[Case], title: str) -> Table:
    """Table with one row for each case: milliseconds of the region of interest, and the choice.

    `✓` is a win, `!` a loss, `·` a case in which packed and spread hardly differ. Columns that
    are unknown for all cases are left out. The table fits into 80 columns.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    made.add_column("program", no_wrap=True)
    known = [each for each in SHOWN if any(case.roi_s.get(each) is not None for case in cases)]
    for column in known:
        made.add_column(heading(column), justify="right", no_wrap=True)
    made.add_column("hint", no_wrap=True)
    made.add_column("", no_wrap=True)
    for case, which in zip(cases, inputs_to_name(cases), strict=True):
        times = (case.roi_s.get(column) for column in known)
        workload = case.workload
        made.add_row(
            f"{workload.program}/{workload.threads}{which}",
            *("" if time is None else f"{time * 1e3:.4g}" for time in times),
            str(case.decision.hint),
            mark(case),
            style="bold" if case.interesting else "",
        )
    return made


def mark(case: Case) -> str:
    """Mark of a case: `✓` win, `!` loss, `·` not interesting."""
    if not case.interesting:
        return "·"
    return "✓" if case.win else "!"


def _behind_os(own: Summary) -> str:
    if math.isnan(own.worst_vs_os):
        return ""
    if own.worst_vs_os >= 0:
        return "; never slower than os"
    return f"; at worst {1 / (1 + own.worst_vs_os) - 1:.2%} slower than os"


def sentences(verdict: Verdict) -> list[str]:
    """The verdict in words, one line each; the best possible result of the hints comes first."""
    hints, own = verdict.hints, verdict.restart
    lines = [
        f"the best of the eight hints in every case: {hints.oracle_ratio:.3f} of the oracle, "
        f"{_won(hints)} (geometric means of time ratios)",
        f"rerun with the chosen placement: {_of(own)}",
        f"  packed and spread differ by ≥ 20 % in {own.interesting} of {own.cases} cases: "
        f"{own.prefer_packed} prefer packed, {own.interesting - own.prefer_packed} spread",
        "  faster by a factor of: "
        + ", ".join(
            f"{own.ratios[column]:.3f} than {column}"
            for column in ("packed", "spread", "os", "compact", "random")
            if not math.isnan(own.ratios[column])
        ),
        f"  regret against the best hint: median {own.regret_median:.2%}, "
        f"worst {own.regret_max:.2%}; right hint in {own.hint_accuracy:.0%} of cases"
        + _behind_os(own),
    ]
    sure = verdict.confidence
    lines.append(
        "  95 % by bootstrap over programs: "
        + ", ".join(
            f"{name} {sure[key][0]:.3f}-{sure[key][1]:.3f}"
            for name, key in (
                ("won", "win_share"),
                ("of the oracle", "oracle_ratio"),
                ("of the best hint", "best_hint_ratio"),
            )
            if key in sure
        )
        if sure
        else f"  {TOO_FEW}"
    )
    others = (
        ("chosen from one sample period", verdict.one_period),
        ("switched while it ran, all charged", verdict.in_run),
        ("energy of the rerun", verdict.energy),
    )
    lines += [f"{name}: {_of(some)}" for name, some in others if some is not None]
    if verdict.in_run_missing:
        missing = verdict.in_run_missing
        named = ", ".join(map(_workload, missing[:NAMED]))
        if len(missing) > NAMED:
            named += f" and {len(missing) - NAMED} more, which --json names"
        lines.append(
            f"  no run that moves its threads midway is on record in {len(missing)} of "
            f"{own.cases} cases: {named}" + ("" if verdict.in_run is None else f"; {_WEIGHT}")
        )
    return lines


def _workload(case: Case) -> str:
    work = case.workload
    return f"{work.program} with {work.threads} thread{'s' * (work.threads > 1)}"


def as_json(
    cases: Sequence[Case], verdict: Verdict, skipped: Sequence[Skipped]
) -> dict[str, object]:
    """JSON of the same for programs: one object for each case, the summary, and the workloads that
    were not judged.
    """
    return {
        "cases": [
            {
                "program": case.workload.program,
                "input": case.workload.input,
                "threads": case.workload.threads,
                "hint": str(case.decision.hint),
                "hint_name": case.decision.hint.name,
                "hint_one_period": None if case.one_period is None else str(case.one_period),
                "rule": case.decision.rule,
                "roi_s": {column: case.roi_s.get(column) for column in COLUMNS},
                "energy_j": {column: case.energy_j.get(column) for column in COLUMNS[:-1]},
                "affinities": {name: str(a) for name, a in case.affinities.items()},
                "interesting": case.interesting,
                "win": case.win,
            }
            for case in cases
        ],
        "summary": {
            **_numbers(verdict.restart),
            "hints": _numbers(verdict.hints),
            **{
                name: None if some is None else _numbers(some)
                for name, some in (
                    ("one_period", verdict.one_period),
                    ("in_run", verdict.in_run),
                    ("energy", verdict.energy),
                )
            },
            "in_run_missing": [
                {"program": case.workload.program, "threads": case.workload.threads}
                for case in verdict.in_run_missing
            ],
            "confidence": {
                "level": LEVEL,
                "draws": DRAWS,
                "over": "programs",
                **{name: list(edges) for name, edges in verdict.confidence.items()},
            },
        },
        "skipped": [
            {"program": s.workload.program, "threads": s.workload.threads, "reason": s.reason}
            for s in skipped
        ],
    }


def _won(summary: Summary) -> str:
    if not summary.interesting:
        return "no interesting case"
    return f"{summary.wins} of {summary.interesting} interesting cases won"


def _of(summary: Summary) -> str:
    return (
        f"{_won(summary)}, {summary.best_hint_ratio:.3f} of the best hint, "
        f"{summary.oracle_ratio:.3f} of the oracle"
    )


def _numbers(summary: Summary) -> Mapping[str, object]:
    known = {name: None if math.isnan(value) else value for name, value in figures(summary).items()}
    return {
        "cases": summary.cases,
        "interesting": summary.interesting,
        "prefer_packed": summary.prefer_packed,
        "wins": summary.wins,
        **known,
    }
