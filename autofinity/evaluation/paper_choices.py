"""What single choices of the paper's way to learn are worth: its figures 9a and 9b.

Programs are held out in folds, a policy is learned from the others for each variation, and the
times of what it chooses are averaged. Counters are chosen once a fold, as they do not depend on
what varies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.judge import Learn, judge
from autofinity.evaluation.times import geometric_mean
from autofinity.learning.action_table import HintsOf
from autofinity.learning.pipeline import chosen_features, learn_policy, prepare
from autofinity.learning.settings import CONDENSE, PAPER, LearningSettings
from autofinity.model.policy import RulePolicy
from autofinity.store.observation_table import ObservationTable

# Without WEKA: its JRip takes minutes here, and our RIPPER is its equal on such tables.
BASE = replace(PAPER, engine="numpy", learner="ripper")
VARIATIONS: Mapping[str, Mapping[str, LearningSettings]] = {
    "9a": {
        method: replace(BASE, discretisation=method)
        for method in ("equal-width", "equal-frequency")
    },
    "9b": {name: replace(BASE, condense=name) for name in CONDENSE},  # type: ignore[arg-type]
}


def mean_times(
    table: ObservationTable,
    panel: str,
    threads: int,
    hints_of: HintsOf,
    match: BestMatches,
    folds: int,
    report: Callable[[str], None] = lambda variation: None,
) -> dict[str, float]:
    """Variation → geometric mean over all programs of the seconds of what was chosen.

    `panel` is one of `VARIATIONS`. Decisions are made from one sample period, as in the paper.
    Raises `LearningError` when there is nothing to learn from.
    """
    table = table.placed_by("affinity")
    table = table.take(table.threads == threads)
    programs = table.programs()
    chosen_s: dict[str, list[float]] = {name: [] for name in VARIATIONS[panel]}
    for fold in range(min(folds, len(programs))):
        held_out = programs[fold::folds]
        out = np.isin(table.program.text(), held_out)
        known, judged = table.take(~out), table.take(out)
        counters, _ = chosen_features(prepare(known, BASE, hints_of), BASE, hints_of)
        for name, settings in VARIATIONS[panel].items():
            fixed = replace(settings, counters=counters)
            policy = learn_policy(known, fixed, hints_of, {}).policy
            cases, _ = judge(judged, (threads,), _always(policy), match, 0, 1)
            chosen_s[name].extend(case.roi_s["autofinity"] for case in cases)
            report(name)
    return {name: geometric_mean(some) for name, some in chosen_s.items()}


def _always(policy: RulePolicy) -> Learn:
    return lambda program: policy
