"""The value of one policy for any machine, and of each of its parts: docs/any-machine.md.

    python scripts/studies/any_machine.py [--into FILE] [--observations DIR] [--kernels DIR]
                                            [--solvers DIR] [--unseen DIR] [--cores DIR] [--llc DIR]
                                            [--memory DIR] [--only NAME]

Three tables of `autofinity evaluate --machine any` (without the program, the machine, both). Five
of what no policy is learned from: machines (data/unseen), a thread on every core (data/cores),
inputs of size llc (data/llc), programs that are not learned from at size memory (data/memory), and
the public kernels (kernels/) and the solvers (solvers/); these two by the paper's method, too
(paper). One of the loss without each part (parts): real sizes, facts of the machine, events of
other cores' caches, and with one look, where these parts decide, instructions as the plain build
executes them, for which the observations before are read from the history of the repository.
"""

from __future__ import annotations

import argparse
import functools
import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from older_observations import keep_before_vectors
from shown_table import add_into, show_table

from autofinity.evaluation.across import (
    LEFT_OUT,
    LeftOut,
    all_of,
    evidence_on,
    leaving,
)
from autofinity.evaluation.cases import Case, summarise
from autofinity.evaluation.machine_runs import MachineRuns
from autofinity.learning.settings import LearningSettings
from autofinity.model.facts import FACTS
from autofinity.model.policy import RulePolicy
from autofinity.report.across_table import Judged, across_markdown
from autofinity.store.observation_table import Mask, ObservationTable
from autofinity.workflow.policies import named_policy
from autofinity.workflow.several_machines import for_any_machine, machines_in

HERE = Path(__file__).resolve().parents[2]
OURS = for_any_machine()
MARK = "scripts/studies/any_machine.py, "
REAL = "memory"
EIGHT = 8
SUITES = ("kernels", "solvers")
JUDGED_ONLY: Mapping[str, LeftOut] = {
    "unseen": "program",
    "cores": "both",
    "llc": "both",
    "memory": "both",
}
"""Folders of data/ with runs of the training programs that nothing is learned from → the part of
the others that is left out, too."""

type Machines = Mapping[str, MachineRuns]


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_into(words)
    words.add_argument("--observations", type=Path, default=HERE / "data" / "observations")
    for name in (*SUITES, *JUDGED_ONLY):
        words.add_argument(f"--{name}", type=Path, default=HERE / "data" / name)
    words.add_argument("--only", metavar="NAME", help="make this table only")
    wanted = words.parse_args()
    known = machines_in(wanted.observations)
    held_out = {name: machines_in(getattr(wanted, name)) for name in SUITES}
    judged_only = {name: machines_in(getattr(wanted, name)) for name in JUDGED_ONLY}
    for name, made in tables(known, judged_only, held_out).items():
        if wanted.only not in (None, name):
            continue
        print(f"\n{name}\n")
        show_table(made().splitlines(), wanted.into, MARK + name)


def tables(
    known: Machines, judged_only: Mapping[str, Machines], held_out: Mapping[str, Machines]
) -> dict[str, Callable[[], str]]:
    """Makers of the tables, by name."""

    def across(left_out: LeftOut, on: Machines) -> Callable[[], str]:
        return lambda: across_markdown(judged(left_out, known, on))

    return {
        **{left_out: across(left_out, known) for left_out in LEFT_OUT},
        **{name: across(JUDGED_ONLY[name], on) for name, on in judged_only.items()},
        "kernels": lambda: across_markdown(by_suite(known, held_out)),
        "paper": lambda: across_markdown(by_paper(held_out)),
        "parts": lambda: parts(known, judged_only["unseen"]),
    }


def judged(
    left_out: LeftOut, learned_from: Machines, on: Machines, settings: LearningSettings = OURS
) -> Judged:
    """Cases on each machine of `on`, by policies that have not seen the part that is left out."""
    policy_for = leaving(left_out, all_of(evidence_on(learned_from, settings)), settings)
    return {name: runs.judged(functools.partial(policy_for, name)) for name, runs in on.items()}


def by_suite(known: Machines, suites: Mapping[str, Machines]) -> Judged:
    """Cases of each suite on each of its machines, by policies that have seen neither."""
    return {
        f"{name}, {suite}": cases
        for suite, on in suites.items()
        for name, cases in judged("machine", known, on).items()
    }


def by_paper(suites: Mapping[str, Machines]) -> Judged:
    """Cases of each suite on each machine, by the paper's policy of that machine."""
    return {
        f"{name}, {suite}, paper": runs.judged(functools.partial(_papers, name))
        for suite, on in suites.items()
        for name, runs in on.items()
    }


def _papers(machine: str, program: str) -> RulePolicy:
    del program  # none of a suite is learned from
    return named_policy(f"{machine}.paper")


def parts(known: Machines, unseen: Machines) -> str:
    """The policy's losses without one of its parts, on machines that it has not seen."""
    rows = [
        "| learned | interesting won | of the best hint | worst | won of real size |",
        "|---|---|---|---|---|",
    ]
    for name, (learned_from, on, settings) in variants(known, unseen).items():
        every = [
            c for own, _ in judged("machine", learned_from, on, settings).values() for c in own
        ]
        rows.append(row(name, every))
    return "\n".join(rows) + "\n"


def variants(
    known: Machines, unseen: Machines
) -> dict[str, tuple[Machines, Machines, LearningSettings]]:
    """Observations to learn from, to judge by, and settings."""
    unknown = dict.fromkeys(FACTS, math.nan)
    no_facts = {name: replace(runs, facts_of=lambda _: unknown) for name, runs in known.items()}
    small = _taken(known, lambda table: ~table.input.equals(REAL))
    few = _taken(small, lambda table: table.threads <= EIGHT)
    one = replace(OURS, probe="none", trial="none")
    return {
        "with all": (known, known, OURS),
        "with the machines of data/unseen, too": ({**known, **unseen}, known, OURS),
        "without inputs of real size": (small, known, OURS),
        "without facts of the machine": (no_facts, no_facts, OURS),
        "without events of other cores' caches": (known, known, replace(OURS, cross_core=())),
        "without both": (no_facts, no_facts, replace(OURS, cross_core=())),
        "without a trial": (known, known, replace(OURS, trial="none")),
        "with a trial of SlP": (known, known, replace(OURS, trial="SlP")),
        "one look": (known, known, one),
        "one look, without inputs of real size": (small, known, one),
        "one look, without facts of the machine": (no_facts, no_facts, one),
        "one look, without events of other cores' caches": (
            *(known, known),
            replace(one, cross_core=()),
        ),
        "one look, without both": (no_facts, no_facts, replace(one, cross_core=())),
        "one look, by 8 threads and small inputs": (few, known, one),
        "one look, by the same before instructions were counted": (before(known), known, one),
    }


def before(known: Machines) -> Machines:
    """Observations of the same machines before instructions were those of the plain build. Raises
    `CalledProcessError`.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in known:
            keep_before_vectors(name, Path(folder))
        return machines_in(Path(folder))


def _taken(known: Machines, rows: Callable[[ObservationTable], Mask]) -> dict[str, MachineRuns]:
    return {
        name: replace(runs, table=runs.table.take(rows(runs.table))) for name, runs in known.items()
    }


def row(name: str, cases: list[Case]) -> str:
    summary = summarise(cases)
    real = summarise([case for case in cases if case.workload.input == REAL])
    return (
        f"| {name} | {summary.wins} of {summary.interesting} | {summary.best_hint_ratio:.3f} "
        f"| {summary.regret_max:.1%} | {real.wins} of {real.interesting} |"
    )


if __name__ == "__main__":
    main()
