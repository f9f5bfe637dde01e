"""All programs judged by a policy that was learned without them: what figures 11 and 12 show."""

from __future__ import annotations

import numpy as np

from autofinity.evaluation.cases import Case
from autofinity.evaluation.unseen import judge_unseen
from autofinity.papers.observed import Observed

NOTE = (
    "The policy is learned by the default settings, not in the paper's way: `autofinity evaluate "
    "--paper` judges one that is, and docs/learners.md has both."
)
SHOWN = ("packed", "spread", "autofinity")
"""The bars of both."""


def judged(observed: Observed, threads: int | None) -> list[Case]:
    """At one thread count or (None) all, learned at `observed.threads`, each left out by itself.

    Raises `LearningError` when nothing is left to learn from.
    """
    table = observed.rows(threads)
    workloads = np.unique(table.workload())
    with observed.reporter.progress("judge", len(workloads)) as progress:
        return judge_unseen(
            table,
            observed.topology(),
            observed.threads,
            report=lambda workload: progress.step(workload.program),
        )
