"""A policy judged on programs it has not seen, by the defaults: what figures and notebooks show."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case
from autofinity.evaluation.judge import judge
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

    Programs are left out in so many `folds`, each together, which is quicker the fewer there are;
    None leaves each program out by itself.
    Raises `LearningError` when nothing is left to learn from.
    """
    settings = LearningSettings()
    matches = BestMatches(topology)
    hints_of = hints_on(matches, settings.leeway)
    programs = table.programs()
    folds = min(folds or len(programs), len(programs))
    known = table.take(table.threads == train_threads)

    @functools.cache
    def of_fold(fold: int) -> RulePolicy:
        out = np.isin(known.program.text(), programs[fold::folds])
        return learn_policy(known.take(~out), settings, hints_of, {}, matches).policy

    cases, _ = judge(
        table,
        sorted(set(table.threads.tolist())),
        lambda program: of_fold(programs.index(program) % folds),
        matches,
        settings.warmup,
        0,
        report,
    )
    return cases
