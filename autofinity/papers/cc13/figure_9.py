"""What single choices are worth: how counters are cut, and how one performance is made of many.

Programs are held out in folds, a policy is learned from the others for each variation, and the
times of what it chooses are averaged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.judge import Learn, judge
from autofinity.evaluation.times import geometric_mean
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.pipeline import learn_policy
from autofinity.learning.settings import CONDENSE, LearningSettings
from autofinity.learning.settings import PAPER as PAPERS_WAY
from autofinity.model.policy import RulePolicy
from autofinity.papers.cc13.paper import PAPER
from autofinity.papers.figure import AnyFigure, Figure
from autofinity.papers.observed import Observed
from autofinity.report.chart import Chart
from autofinity.sim.events import PAPER_EVENTS
from autofinity.store.observation_table import ObservationTable

# Without Java: our RIPPER is JRip's equal on such tables (docs/learners.md).
BASE = replace(PAPERS_WAY, learner="ripper")


def by_four(settings: LearningSettings, table: ObservationTable) -> LearningSettings:
    """The settings with the paper's four counters, where they were observed: its figures are of
    those.
    """
    known = set(PAPER_EVENTS).issubset(table.counters)
    return replace(settings, counters=PAPER_EVENTS) if known else settings


@dataclass(frozen=True, slots=True)
class Choices:
    """Geometric mean of the times under policies that differ in one choice."""

    what: str
    variations: Mapping[str, LearningSettings]

    def data(self, observed: Observed) -> dict[str, float]:
        """Variation → seconds over all programs. Decisions are made from one sample period.

        Raises `LearningError` when there is nothing to learn from.
        """
        threads = observed.threads
        table = observed.rows(threads).placed_by("affinity")
        table = table.take(table.threads == threads)
        match = BestMatches(observed.topology())
        hints_of = hints_on(match, BASE.leeway)
        programs = table.programs()
        folds = min(observed.folds, len(programs))
        chosen_s: dict[str, list[float]] = {name: [] for name in self.variations}
        with observed.reporter.progress("learn", folds * len(chosen_s)) as progress:
            for fold in range(folds):
                out = np.isin(table.program.text(), programs[fold::folds])
                known, judged = table.take(~out), table.take(out)
                for name, settings in self.variations.items():
                    policy = learn_policy(known, by_four(settings, table), hints_of, {}).policy
                    cases, _ = judge(
                        *(judged, (threads,), _always(policy), match),
                        *(WARMUP_PERIODS, settings.window),
                    )
                    chosen_s[name].extend(case.roi_s["autofinity"] for case in cases)
                    progress.step(name)
        return {name: geometric_mean(some) for name, some in chosen_s.items()}

    def draw(self, figure: AnyFigure, mean_s: Mapping[str, float], on: str) -> Chart:
        """A bar for each variation."""
        return Chart(
            f"Figure {figure.number}: {figure.title}, learned the paper's way",
            self.what,
            "ms, geometric mean over the programs, each left out",
            tuple(mean_s),
            {"mean": tuple(value * 1e3 for value in mean_s.values())},
        )


def _always(policy: RulePolicy) -> Learn:
    return lambda program: policy


FIGURES = (
    Figure(
        PAPER,
        "9a",
        "what the discretisation is worth",
        "3.2",
        Choices(
            "discretisation",
            {
                "equal-width": replace(BASE, discretisation="equal-width"),
                "equal-frequency": replace(BASE, discretisation="equal-frequency"),
            },
        ),
        {"equal-width": 79.4, "equal-frequency": 83.1},
    ),
    Figure(
        PAPER,
        "9b",
        "what the condense function is worth",
        "3.3",
        Choices(
            "condense function",
            {name: replace(BASE, condense=name) for name in CONDENSE},  # type: ignore[arg-type]
        ),
        {
            "mean": 80.6,
            "gmean": 80.6,
            "hmean": 80.6,
            "max": 81.5,
            "median": 79.4,
            "min": 83.1,
            "sum": 80.6,
        },
    ),
)
"""The paper's are seconds."""
