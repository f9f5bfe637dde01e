"""A table, and JSON, of a policy for any machine on each machine that it was judged on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from autofinity.evaluation.cases import Case, Summary, summarise
from autofinity.evaluation.judge import Skipped
from autofinity.evaluation.verdict import verdict_of
from autofinity.report import markdown
from autofinity.report.evaluation_table import as_json

if TYPE_CHECKING:
    from rich.table import Table

_HEADINGS = (
    *("machine", "cases", "interesting", "packed", "won", "of the best hint", "worst", "of os"),
    "behind os",
)


type Judged = Mapping[str, tuple[Sequence[Case], Sequence[Skipped]]]
"""Name of the machine → its cases, and the workloads that could not be judged."""


def across_table(judged: Judged, title: str) -> Table:
    """Table with one row for each machine, one for all machines together, and where cases have
    several input sizes, one for each.

    Columns: the number of cases in which packed and spread differ by a fifth, the number of
    these that prefer packed, the number won, geometric means of time ratios, and by how much
    the worst case is slower than the best hint (worst) and than the OS (behind os).
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in _HEADINGS:
        made.add_column(heading, justify="left" if heading == "machine" else "right")
    for machine, (own, _) in judged.items():
        made.add_row(machine, *_cells(summarise(own)))
    for name, cases in _together(judged).items():
        made.add_row(name, *_cells(summarise(cases)), style="bold")
    return made


def across_markdown(judged: Judged) -> str:
    """The same table for a document."""
    rows = [_HEADINGS, ("---",) * len(_HEADINGS)]
    rows += [(f"`{machine}`", *_cells(summarise(own))) for machine, (own, _) in judged.items()]
    rows += [(name, *_cells(summarise(cases))) for name, cases in _together(judged).items()]
    return "".join(f"{markdown.row(*row)}\n" for row in rows)


def across_json(judged: Judged) -> dict[str, object]:
    """JSON of the cases of each machine, and of the summary of all."""
    every = _every(judged)
    skipped = [missed for _, some in judged.values() for missed in some]
    document = as_json(every, verdict_of(every), skipped)
    named = [machine for machine, (own, _) in judged.items() for _ in own]
    listed = document["cases"]
    assert isinstance(listed, list)
    document["cases"] = [
        {"machine": machine, **case} for machine, case in zip(named, listed, strict=True)
    ]
    return document


def _every(judged: Judged) -> list[Case]:
    return [case for own, _ in judged.values() for case in own]


def _together(judged: Judged) -> dict[str, list[Case]]:
    """Cases of all machines, as a whole and, where there are several, by the size of inputs."""
    every = _every(judged)
    by_size: dict[str, list[Case]] = {}
    for case in every:
        by_size.setdefault(f"all, {case.workload.input}", []).append(case)
    return {"all": every, **(by_size if len(by_size) > 1 else {})}


def _cells(summary: Summary) -> tuple[str, ...]:
    against_os, worst = summary.ratios["os"], 1 + summary.worst_vs_os
    return (
        str(summary.cases),
        str(summary.interesting),
        str(summary.prefer_packed),
        f"{summary.wins} of {summary.interesting}",
        f"{summary.best_hint_ratio:.3f}",
        f"{summary.regret_max:.1%}",
        *(("–", "–") if isnan(worst) else (f"{against_os:.3f}", f"{max(1 / worst - 1, 0):.1%}")),
    )
