"""Meaning of the columns, marks and words of the table of `evaluate`."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.evaluation.cases import INTERESTING, WITHIN, Case
from autofinity.model.affinity import HINTS, PACKED, SPREAD
from autofinity.report.evaluation_table import SHOWN, heading, mark
from autofinity.report.legend import listed

_COLUMNS = {
    "packed": f"all threads placed {PACKED.shown}",
    "spread": f"all threads placed {SPREAD.shown}, which papers call distributed",
    "os": "the operating system places and moves the threads",
    "autofinity": "rerun as a policy chose that {learned}",
    "best_hint": "the fastest of the eight hints",
    "oracle": "the fastest of the {affinities} placements that were tried",
}
_ON_PAGES = {"autofinity": "chosen", "os": "OS"}
"""Columns with other names on pages."""
_MARKS = {
    "✓": f"won: within {WITHIN:.0%} of the faster one of packed and spread",
    "!": "lost: slower than that",
    "·": f"packed and spread differ by less than {INTERESTING:.0%}: not interesting",
}


def legend(cases: Sequence[Case], affinities: int, given: str | None = None) -> list[str]:
    """A line for each column and mark that the table of these cases has, and for each word of its
    sentences. `given`: the policy of all cases, which may have seen their programs; None: each
    case has a policy that was learned without its program.
    """
    learned = f"was given: {given}" if given else "was learned without the program"
    lines = ["program/8: the program with 8 threads. Times are in milliseconds; bold: interesting."]
    known = [each for each in SHOWN if any(case.roi_s.get(each) is not None for case in cases)]
    columns = {heading(name): _COLUMNS[name] for name in known}
    lines += listed(columns, affinities=affinities, learned=learned)
    shown = {mark(case) for case in cases}
    lines += listed({"hint": "the policy's choice, in letters:"})
    chosen = {case.decision.hint for case in cases}
    lines += [f"    {hint}  {hint.name}" for hint in HINTS if hint in chosen]
    lines += listed({sign: text for sign, text in _MARKS.items() if sign in shown})
    return lines + listed(_words(cases))


def meanings(cases: Sequence[Case]) -> dict[str, str]:
    """Meaning of each name and word on a page about these cases, whose policies may be of any
    kind.
    """
    names = {
        **_COLUMNS,
        "autofinity": "the program rerun in the hint that the policy chose",
        "oracle": "the fastest of all placements that were tried",
        "compact": "thread 0 on the first CPU in the machine's order, thread 1 on the next, and so "
        "on",
        "random": "each thread on a CPU of its own, chosen at random",
    }
    known = {name: text for name, text in names.items() if any(name in c.roi_s for c in cases)}
    results = {
        "won": _MARKS["✓"].removeprefix("won: "),
        "lost": f"more than {WITHIN:.0%} slower than the faster one of packed and spread",
        "–": _MARKS["·"],
    }
    shown = {_ON_PAGES.get(name, heading(name)): text for name, text in known.items()}
    return {**shown, **results, **_words(cases)}


def _words(cases: Sequence[Case]) -> dict[str, str]:
    """Words of the sentences."""
    words = {
        "of the oracle": "its time over ours, as a geometric mean; 1 is as fast",
        "regret": "share of time lost against the best hint; 0 % is none",
    }
    if any("one_period" in case.roi_s for case in cases):
        words["sample period"] = "the policy saw one period of sampling, not the whole run"
    if any("in_run" in case.roi_s for case in cases):
        words["switched"] = "threads moved within the run, whose time has the samples and moves"
    return words
