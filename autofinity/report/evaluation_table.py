"""The evaluation as a table in the terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autofinity.evaluation.cases import Case, Summary

if TYPE_CHECKING:
    from rich.table import Table

HEADINGS = {
    "packed": "packed",
    "distributed": "distr.",
    "autofinity": "autofinity",
    "best_hint": "best hint",
    "oracle": "oracle",
}
COLUMNS = tuple(HEADINGS)


def table(cases: Sequence[Case], title: str) -> Table:
    """One row a case: milliseconds of the region of interest, and what was chosen.

    `✓` is a win, `!` a loss, `·` a case in which packed and distributed hardly differ. Fits
    into 80 columns.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    made.add_column("program", no_wrap=True)
    for column in COLUMNS:
        made.add_column(HEADINGS[column], justify="right", no_wrap=True)
    made.add_column("hint", no_wrap=True)
    made.add_column("/oracle", justify="right", no_wrap=True)
    made.add_column("", no_wrap=True)
    for case in cases:
        made.add_row(
            f"{case.subject.program}/{case.subject.threads}",
            *(f"{case.roi_s[column] * 1e3:.4g}" for column in COLUMNS),
            str(case.decision.hint),
            f"{case.against('oracle'):.3f}",
            mark(case),
            style="bold" if case.interesting else "",
        )
    return made


def mark(case: Case) -> str:
    """`✓` win, `!` loss, `·` not interesting."""
    if not case.interesting:
        return "·"
    return "✓" if case.win else "!"


def sentences(summary: Summary) -> list[str]:
    """The summary in words, one line each."""
    return [
        f"{summary.wins} of {summary.interesting} interesting cases won "
        f"(packed and distributed differ by ≥ 20 % in {summary.interesting} of {summary.cases})",
        f"{summary.oracle_ratio:.3f} of the oracle, {summary.best_hint_ratio:.3f} of the best hint "
        "(geometric means of time ratios)",
        f"{summary.packed_ratio:.3f} × the speed of packed, {summary.distributed_ratio:.3f} × of "
        "distributed",
        f"regret against the best hint: median {summary.regret_median:.2%}, "
        f"worst {summary.regret_max:.2%}; right hint in {summary.hint_accuracy:.0%} of cases",
    ]


def as_json(cases: Sequence[Case], summary: Summary) -> dict[str, object]:
    """The same for programs: one object a case, and the summary."""
    return {
        "cases": [
            {
                "program": case.subject.program,
                "input": case.subject.input,
                "threads": case.subject.threads,
                "hint": str(case.decision.hint),
                "rule": case.decision.rule,
                "roi_s": dict(case.roi_s),
                "affinities": {name: str(a) for name, a in case.affinities.items()},
                "interesting": case.interesting,
                "win": case.win,
            }
            for case in cases
        ],
        "summary": {
            "cases": summary.cases,
            "interesting": summary.interesting,
            "wins": summary.wins,
            "best_hint_ratio": summary.best_hint_ratio,
            "oracle_ratio": summary.oracle_ratio,
            "packed_ratio": summary.packed_ratio,
            "distributed_ratio": summary.distributed_ratio,
            "regret_median": summary.regret_median,
            "regret_max": summary.regret_max,
            "hint_accuracy": summary.hint_accuracy,
        },
    }
