"""A policy judged on programs that it has not seen, with the default settings, for figures."""

from __future__ import annotations

import functools
from collections.abc import Callable

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case
from autofinity.evaluation.judge import judge
from autofinity.learning.held_out import held_out
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.pipeline import learn_policy
from autofinity.learning.settings import LearningSettings
from autofinity.model.observation import Workload
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import Topology
from autofinity.store.observation_table import ObservationTable


def judge_unseen(
    table: ObservationTable,
    topology: Topology,
    train_threads: int,
    folds: int | None = None,
    report: Callable[[Workload], None] = lambda workload: None,
) -> list[Case]:
    """Judge every program at all thread counts of `table` by a policy learned at one, without it.

    Programs are left out in `folds` groups; fewer groups are quicker. None leaves each program out
    by itself. Raises `LearningError` when nothing is left to learn from.
    """
    settings = LearningSettings()
    matches = BestMatches(topology)
    hints_of = hints_on(matches, settings.leeway)
    programs = table.programs()
    others = [rows for rows, _ in held_out(table.program.codes, folds)]

    @functools.cache
    def of_fold(fold: int) -> RulePolicy:
        known = others[fold][table.threads[others[fold]] == train_threads]
        return learn_policy(table.take(known), settings, hints_of, {}, matches).policy

    cases, _ = judge(
        table,
        sorted(set(table.threads.tolist())),
        lambda program: of_fold(programs.index(program) % len(others)),
        matches,
        WARMUP_PERIODS,
        0,
        report,
    )
    return cases
