"""What the choices in learning are worth: one row a variation, leave one program out.

    python scripts/policy_study.py [OBSERVATIONS] [--machine M] [--paper]

Prints the table of docs/policy-study.md. Intervals are 95 % by bootstrap over programs. `--paper`
adds the paper's way (figure 6, JRip), which takes minutes.
"""

from __future__ import annotations

import argparse
import functools
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from autofinity.affinity.hints import get_affinity
from autofinity.cli.backends import machine_topology
from autofinity.evaluation.cases import Case, summarise
from autofinity.evaluation.judge import judge
from autofinity.evaluation.left_out import leaving_out
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.pipeline import learn_policy
from autofinity.learning.settings import PAPER, LearningSettings
from autofinity.model.policy import RulePolicy
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read

OURS = LearningSettings()
SETTINGS: Mapping[str, LearningSettings] = {
    "**default**": OURS,
    "all ratios": replace(OURS, features="ratios"),
    "rates, not ratios": replace(OURS, features="rates"),
    "rates and ratios": replace(OURS, features="both"),
    "RIPPER on the same table": replace(OURS, learner="ripper"),
    "features by CFS": replace(OURS, selection="cfs", engine="numpy"),
    "learned from single periods": replace(OURS, window=1),
    "learned from means of 8 periods": replace(OURS, window=8),
    "no warm-up left out": replace(OURS, warmup=0),
    "10 bins": replace(OURS, bins=10),
    "leeway 2": replace(OURS, leeway=2),
    "insensitive programs kept": replace(OURS, drop_insensitive=False),
    "2 events at once": replace(OURS, k=2),
}
SAMPLES = (1, 8)
"""Periods after the warm-up that a decision is made from, beside the whole run."""
HEAD = (
    "| variation | decided from | interesting won | of the best hint | of the oracle "
    "| median regret | worst | rules |\n|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("observations", nargs="?", type=Path)
    words.add_argument("--machine", default="opteron-6164he")
    words.add_argument("--paper", action="store_true", help="the paper's way, too (minutes)")
    wanted = words.parse_args()
    shipped = Path("data") / "observations" / f"{wanted.machine}.parquet"
    table = read(wanted.observations or shipped)
    print(HEAD)
    for name, settings in SETTINGS.items():
        print(row(name, table, wanted.machine, settings, 0), flush=True)
    for samples in SAMPLES:
        print(row("**default**", table, wanted.machine, OURS, samples), flush=True)
    if wanted.paper:
        print(row("the paper's way", table, wanted.machine, PAPER, 1), flush=True)


def row(
    name: str, table: ObservationTable, machine: str, settings: LearningSettings, samples: int
) -> str:
    """One line of the table."""
    topology = machine_topology(machine)
    hints_of = hints_on(topology, settings.leeway)
    policies: list[RulePolicy] = []

    def learn(others: ObservationTable) -> RulePolicy:
        policies.append(learn_policy(others, settings, hints_of, {}).policy)
        return policies[-1]

    match = functools.cache(lambda threads, hint: get_affinity(topology, threads, hint).affinity)
    counts = sorted(set(table.threads.tolist()))
    cases, _ = judge(table, counts, leaving_out(table, learn), match, settings.warmup, samples)
    summary = summarise(cases)
    rules = [len(policy.rules) for policy in policies]
    return " | ".join(
        (
            f"| {name}",
            {0: "the whole run", 1: "1 period"}.get(samples, f"{samples} periods"),
            f"{summary.wins} of {summary.interesting}",
            f"{summary.best_hint_ratio:.3f} {interval(cases, 'best_hint')}",
            f"{summary.oracle_ratio:.3f} {interval(cases, 'oracle')}",
            f"{summary.regret_median:.1%}",
            f"{summary.regret_max:.1%}",
            f"{min(rules)}-{max(rules)} |",
        )
    )


def interval(cases: list[Case], column: str) -> str:
    """95 % of the geometric mean, by drawing programs with all their cases."""
    logs: dict[str, list[float]] = {}
    for case in cases:
        logs.setdefault(case.subject.program, []).append(math.log(case.against(column)))
    sums = np.array([[sum(values), len(values)] for values in logs.values()])
    drawn = np.random.default_rng(1).integers(0, len(sums), (2000, len(sums)))
    totals = sums[drawn].sum(axis=1)
    low, high = np.exp(np.quantile(totals[:, 0] / totals[:, 1], [0.025, 0.975]))
    return f"({low:.3f}-{high:.3f})"


if __name__ == "__main__":
    main()
