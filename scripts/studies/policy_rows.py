"""A row of the policy study: policies that have not seen the program that they are judged on."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case, summarise
from autofinity.evaluation.judge import Learn, judge
from autofinity.evaluation.left_out import leaving_out
from autofinity.learning.feature_columns import with_facts
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.pipeline import learn_policy
from autofinity.learning.settings import LearningSettings
from autofinity.model.policy import RulePolicy
from autofinity.report import markdown
from autofinity.store.observation_table import ObservationTable
from autofinity.trace.manifest import load_suite
from autofinity.workflow.backends import machine_topology
from autofinity.workflow.machine_events import settings_on
from autofinity.workflow.machine_facts import facts_on

_SUITE = Path(__file__).resolve().parents[2] / "training" / "suite.toml"
FIGURES = "interesting won | of the best hint | of the oracle | median regret | worst | rules |"
"""Heads of the columns of `row` after its two names."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The cases of one variation, and the number of rules of each fold's policy (none: no
    rules).
    """

    cases: list[Case]
    rules: list[int] = field(default_factory=list)


def of_threads(table: ObservationTable, threads: int) -> ObservationTable:
    return table.take(table.threads == threads)


def learning(
    machine: str, table: ObservationTable, settings: LearningSettings
) -> tuple[Learn, list[int]]:
    """A learner that leaves the judged program out, and learns once for each; the list gets the
    number of rules of each policy.
    """
    rules: list[int] = []
    return functools.cache(leaving_out(table, _learner(machine, settings, rules))), rules


def _learner(
    machine: str, settings: LearningSettings, rules: list[int]
) -> Callable[[ObservationTable], RulePolicy]:
    matches = BestMatches(machine_topology(machine))
    hints_of = hints_on(matches, settings.leeway)
    facts_of = facts_on(machine)

    def learn(others: ObservationTable) -> RulePolicy:
        own = settings_on(settings, machine, others.counters)
        policy = learn_policy(with_facts(others, facts_of), own, hints_of, {}, matches).policy
        rules.append(len(policy.rules) + (len(policy.second.policy.rules) if policy.second else 0))
        return policy

    return learn


def without_kin(
    machine: str, table: ObservationTable, settings: LearningSettings
) -> tuple[Learn, list[int]]:
    """A learner that leaves out all programs whose family shares a word with the judged
    program's.
    """
    suite = load_suite(_SUITE)
    words = {name: set(spec.family.split("-")) for name, spec in suite.programs.items()}
    rules: list[int] = []
    learn = _learner(machine, settings, rules)

    def without(program: str) -> RulePolicy:
        kin = [other for other in words if words[other] & words[program]]
        return learn(table.take(~np.isin(table.program.text().astype(str), kin)))

    return without, rules


def leave_one_out(
    machine: str, table: ObservationTable, settings: LearningSettings, samples: int
) -> Judged:
    return judged_on(machine, table, learning(machine, table, settings), samples)


def judged_on(
    machine: str,
    table: ObservationTable,
    learner: tuple[Learn, list[int]],
    samples: int,
) -> Judged:
    """Judge every program of `table` by a policy that has not seen it."""
    match = BestMatches(machine_topology(machine))
    learn, rules = learner
    counts = sorted(set(table.threads.tolist()))
    facts = facts_on(machine)
    cases, _ = judge(table, counts, learn, match, WARMUP_PERIODS, samples, facts_of=facts)
    return Judged(cases, rules)


def row(first: str, second: str, judged: Judged) -> str:
    """One line of a table."""
    summary = summarise(judged.cases)
    return markdown.row(
        first,
        second,
        f"{summary.wins} of {summary.interesting}",
        f"{summary.best_hint_ratio:.3f} {interval(judged.cases, 'best_hint')}",
        f"{summary.oracle_ratio:.3f} {interval(judged.cases, 'oracle')}",
        f"{summary.regret_median:.1%}",
        f"{summary.regret_max:.1%}",
        f"{min(judged.rules)}-{max(judged.rules)}" if judged.rules else "-",
    )


def periods(samples: int) -> str:
    return {0: "the whole run", 1: "1 period"}.get(samples, f"{samples} periods")


def interval(cases: list[Case], column: str) -> str:
    """A 95 % interval of the geometric mean, by a bootstrap over programs with all their cases."""
    logs: dict[str, list[float]] = {}
    for case in cases:
        logs.setdefault(case.workload.program, []).append(math.log(case.against(column)))
    sums = np.array([[sum(values), len(values)] for values in logs.values()])
    drawn = np.random.default_rng(1).integers(0, len(sums), (2000, len(sums)))
    totals = sums[drawn].sum(axis=1)
    low, high = np.exp(np.quantile(totals[:, 0] / totals[:, 1], [0.025, 0.975]))
    return f"({low:.3f}-{high:.3f})"
