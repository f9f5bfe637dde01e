"""A policy judged on programs that it has not seen, with the default settings, for figures."""

from __future__ import annotations

import functools
from collections.abc import Callable

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case
from autofinity.evaluation.judge import judge
from autofinity.evaluation.left_out import leaving_out
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.pipeline import learn_policy
from autofinity.learning.settings import LearningSettings
from autofinity.model.observation import Workload
from autofinity.model.topology import Topology
from autofinity.store.observation_table import ObservationTable


def judge_unseen(
    table: ObservationTable,
    topology: Topology,
    train_threads: int,
    report: Callable[[Workload], None],
) -> list[Case]:
    """Judge every program at all thread counts of `table` by a policy learned at one, without it.

    Raises `LearningError` when nothing is left to learn from.
    """
    settings = LearningSettings()
    matches = BestMatches(topology)
    hints_of = hints_on(matches, settings.leeway)
    learn = leaving_out(
        table.take(table.threads == train_threads),
        lambda others: learn_policy(others, settings, hints_of, {}, matches).policy,
    )
    cases, _ = judge(
        table,
        sorted(set(table.threads.tolist())),
        functools.cache(learn),
        matches,
        WARMUP_PERIODS,
        0,
        report,
    )
    return cases
