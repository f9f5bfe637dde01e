"""A policy judged on programs it has not seen, by the defaults: what figures and notebooks show."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.cases import Case
from autofinity.evaluation.judge import judge
from autofinity.evaluation.times import Match, Subject
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.pipeline import learn_policy
from autofinity.learning.settings import LearningSettings
from autofinity.model.affinity import Affinity, Hint
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import Topology
from autofinity.store.observation_table import ObservationTable


def match_on(topology: Topology) -> Match:
    """GETAFFINITY's class on the machine."""

    @functools.cache
    def match(threads: int, hint: Hint) -> Affinity:
        return get_affinity(topology, threads, hint).affinity

    return match


def judge_unseen(
    table: ObservationTable,
    topology: Topology,
    train_threads: int,
    folds: int | None = None,
    report: Callable[[Subject], None] = lambda subject: None,
) -> list[Case]:
    """Judge every program at all thread counts of `table` by a policy learned at one, without it.

    Programs are left out in so many `folds`, each together, which is quicker the fewer there are;
    None leaves each program out by itself.
    Raises `LearningError` when nothing is left to learn from.
    """
    settings = LearningSettings()
    hints_of = hints_on(topology, settings.leeway)
    programs = table.programs()
    folds = min(folds or len(programs), len(programs))
    known = table.take(table.threads == train_threads)

    @functools.cache
    def of_fold(fold: int) -> RulePolicy:
        out = np.isin(known.program.text(), programs[fold::folds])
        return learn_policy(known.take(~out), settings, hints_of, {}).policy

    cases, _ = judge(
        table,
        sorted(set(table.threads.tolist())),
        lambda program: of_fold(programs.index(program) % folds),
        match_on(topology),
        settings.warmup,
        0,
        report,
    )
    return cases
