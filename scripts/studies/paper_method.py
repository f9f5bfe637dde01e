"""Results of the method of Moore & Childers here, with one of its choices changed in each line.

    python scripts/studies/paper_method.py [--into docs/learners.md] [--only NAME…]

On the paper's machine each program is left out in turn, policies are learned with 8 threads and
judged with 8, then with 4, 16 and 24. The second table does so on the machines for which the
paper's policies are shipped (with 4 threads where 8 were not observed; then with all other counts),
and shows the default settings, learned from the same runs, for comparison. With `--into` the tables
go between their marks in a document.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from policy_rows import interval, judged_on, learning, of_threads
from shown_table import add_into, show_table

from autofinity.evaluation.cases import Case, summarise
from autofinity.learning.settings import PAPER, LearningSettings
from autofinity.policy.shipped import PAPERS_END, policy_names
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read
from autofinity.workflow.machine_events import settings_on

ROOT = Path(__file__).resolve().parents[2]
FIRST = "opteron-6164he"  # the paper's machine
TRAINED_WITH = 8
OURS = LearningSettings()
METHODS: Mapping[str, LearningSettings] = {
    "`--paper`: JRip, the paper's four counters, one sample period": PAPER,
    "RIPPER of our own in the place of JRip": replace(PAPER, learner="ripper"),
    "bins as names, as WEKA's filter leaves them": replace(PAPER, bin_type="nominal"),
    "rows weighted by how often they were seen": replace(PAPER, weighting="observations"),
    "figure 6 to the letter: the last destination of a hint stands": replace(PAPER, literal=True),
    "counters chosen here by CFS": replace(PAPER, selection="cfs"),
    "decided from the whole run": replace(PAPER, window=0),
    "counters by CFS, decided from the whole run": replace(PAPER, selection="cfs", window=0),
    "**default** (docs/policy-study.md)": OURS,
}
HEAD = (
    "| learned by | 8 threads: interesting won | of the oracle | worst "
    "| 4, 16, 24 threads: interesting won | of the oracle | worst | rules |\n"
    "|---|---|---|---|---|---|---|---|"
)
REPORTED = (
    "| the paper, on its machine | 7 of 9 that care | 0.96 | – "
    "| 12 of 15 interesting, all four counts | – | – | – |"
)
MACHINES_HEAD = (
    "| machine | threads | counters | `--paper`: interesting won | of the oracle | worst | rules "
    "| default: interesting won | of the oracle | worst |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)
TABLES = ("methods", "machines")


def main() -> None:
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_into(words)
    words.add_argument("--only", choices=TABLES, action="append", help="this table (default: both)")
    wanted = words.parse_args()
    for name in wanted.only or TABLES:
        lines = methods() if name == "methods" else machines()
        show_table(lines, wanted.into, f"scripts/studies/paper_method.py, {name}")


def methods() -> Iterator[str]:
    """Rows for the paper's machine."""
    table = observed(FIRST)
    others = [count for count in sorted(set(table.threads.tolist())) if count != TRAINED_WITH]
    yield HEAD
    yield REPORTED
    for name, settings in METHODS.items():
        learner = learning(FIRST, of_threads(table, TRAINED_WITH), settings)
        first, *rest = (
            judged_on(FIRST, of_threads(table, count), learner, settings.window).cases
            for count in (TRAINED_WITH, *others)
        )
        carried = [case for cases in rest for case in cases]
        yield f"| {name} | {figures(first)} | {figures(carried)} | {span(learner[1])} |"


def machines() -> Iterator[str]:
    """Rows for the machines, of the papers and of today, on which the method was tried."""
    yield MACHINES_HEAD
    tried = {name.removesuffix(PAPERS_END) for name in policy_names() if PAPERS_END in name}
    for machine in sorted(tried, key=lambda name: (name != FIRST, name)):
        table = observed(machine)
        counts = sorted(set(table.threads.tolist()))
        threads = TRAINED_WITH if TRAINED_WITH in counts else counts[0]
        learned_from = of_threads(table, threads)
        by_paper, ours = (learning(machine, learned_from, each) for each in (PAPER, OURS))
        given = settings_on(PAPER, machine, learned_from.counters).counters
        chosen = "by CFS" if given is None else "the paper's"
        others = [count for count in counts if count != threads]
        for label, judged_with in ((f"{threads}", [threads]), (_others(others), others)):
            if not judged_with:
                continue
            papers, default = (
                [
                    case
                    for count in judged_with
                    for case in judged_on(
                        machine, of_threads(table, count), learner, settings.window
                    ).cases
                ]
                for learner, settings in ((by_paper, PAPER), (ours, OURS))
            )
            yield (
                f"| `{machine}` | {label} | {chosen} | {figures(papers)} | {span(by_paper[1])} "
                f"| {figures(default)} |"
            )


def _others(counts: Sequence[int]) -> str:
    return "then " + ", ".join(map(str, counts))


def observed(machine: str) -> ObservationTable:
    """The shipped observations of a machine."""
    return read(ROOT / "data" / "observations" / f"{machine}.parquet")


def figures(cases: Sequence[Case]) -> str:
    """Three cells: won, of the oracle with its interval, worst."""
    summary = summarise(cases)
    oracle = f"{summary.oracle_ratio:.3f} {interval(list(cases), 'oracle')}"
    return f"{summary.wins} of {summary.interesting} | {oracle} | {summary.regret_max:.1%}"


def span(rules: Sequence[int]) -> str:
    """The fewest and the most rules of the policies."""
    return f"{min(rules)}-{max(rules)}"


if __name__ == "__main__":
    main()
