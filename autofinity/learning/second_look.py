"""Rules for a second look, which use a sample in a packed affinity beside the sample at the start.

The effect of a shared cache on a program cannot be seen while no thread shares one. So every answer
of the first rules is checked by a short sample in the affinity of another hint
(`LearningSettings.probe`), and by the difference from the first sample. An answer that leaves
threads where they are may be as wrong as one that moves them, and a wrong answer costs more than a
look (docs/policy-study.md, "one look only").

One edge is known before learning: between programs that ran slower there than at the start and
others (`learning.known_edges`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from autofinity.learning.action_table import build_action_table
from autofinity.learning.discretiser import Discretiser, cuts_of
from autofinity.learning.elsewhere import WholeRuns
from autofinity.learning.feature_columns import events_of, with_gains
from autofinity.learning.hint_losses import workload_weights
from autofinity.learning.hint_samples import samples_in
from autofinity.learning.known_edges import with_known_edge
from autofinity.learning.leeway_hints import HintsOf
from autofinity.learning.regret_choice import choose_by_regret, held_out_labels
from autofinity.learning.regret_policy import tree_policy
from autofinity.learning.settings import Condense, LearningSettings
from autofinity.model.affinity import HINTS, SPREAD, Hint
from autofinity.model.errors import LearningError
from autofinity.model.policy import RulePolicy, SecondLook, looked_at
from autofinity.model.ratios import SPEED_GAIN, START
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]
type Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Samples that rules may use."""

    features: ObservationTable
    """Features of the samples, as counters; one row for each sample."""
    workload: Ints
    """Workload of each sample, numbered as the rows of the losses."""
    discretiser: Discretiser

    def take(self, rows: Ints | Mask) -> Seen:
        """Some of the samples."""
        return Seen(self.features.take(rows), self.workload[rows], self.discretiser)

    def cuts(self) -> dict[str, tuple[float, ...]]:
        """Cut points of each feature."""
        weights = workload_weights(self.workload)
        cuts = cuts_of(self.features.counters, weights, self.discretiser)
        if SPEED_GAIN in cuts:
            column = self.features.counters[SPEED_GAIN]
            cuts[SPEED_GAIN] = with_known_edge(cuts[SPEED_GAIN], column)
        return cuts

    def action_table(
        self,
        losses: Floats,
        cuts: Mapping[str, tuple[float, ...]],
        condense: Condense,
    ) -> pd.DataFrame:
        """Action table over the features of `cuts`, from whole runs; workloads weigh 1."""
        weights = workload_weights(self.workload)
        elsewhere = WholeRuns(self.workload, losses)
        return build_action_table(
            self.features, elsewhere, tuple(cuts), cuts, condense, weights=weights
        )

    def held_out(
        self, losses: Floats, features: tuple[str, ...], most_rules: int
    ) -> tuple[Ints, Floats]:
        """Label for each sample by rules that have not seen its fold, and each workload's mean
        loss.

        The mean loss is NaN without a sample or a known loss.
        """
        cuts = self.cuts()
        labels = held_out_labels(
            self.features,
            self.workload,
            losses,
            {name: cuts[name] for name in features},
            most_rules,
        )
        lost = losses[self.workload, labels]
        lost[labels < 0] = 0.0
        mean = np.full(len(losses), np.nan)
        share = workload_weights(self.workload)
        some = np.unique(self.workload[labels >= 0])
        mean[some] = np.bincount(self.workload, share * lost, len(losses))[some]
        return labels, mean


def with_second_look(
    policy: RulePolicy,
    first: Seen,
    seen: Seen,
    losses: Floats,
    settings: LearningSettings,
) -> tuple[RulePolicy, str]:
    """`policy` with a second look, if both together lose less on programs held out of the training
    set than `policy` alone; and a line with the reason.

    `policy` was learned from `first`, `losses` are those of `hint_losses.hint_losses`, and `seen`
    are the second samples (`both_samples`).
    """
    probe = Hint.parse(settings.probe)
    cuts = seen.cuts()
    _, before = first.held_out(losses, tuple(policy.cut_points), settings.most_rules)
    again = _mentioned(first.workload, len(losses)) & _mentioned(seen.workload, len(losses))
    if not again.any():
        return policy, f"no second look: no case was profiled in {probe.shown}, too"
    try:
        report = choose_by_regret(
            seen.features,
            seen.workload,
            losses,
            cuts,
            settings.k,
            settings.most_rules,
            policy.counters,
        )
    except LearningError as error:
        return policy, f"no second look: {error}"
    _, lost = seen.held_out(losses, report.chosen, settings.most_rules)
    told = (
        f"a second look in {probe.shown} at {again.sum()} cases takes their loss, when held "
        f"out, from {np.nansum(before[again]):.3g} to {np.nansum(lost[again]):.3g}"
    )
    if not report.chosen or not np.nansum(lost[again]) < np.nansum(before[again]):
        return policy, f"no second look: {told}"
    chosen = {name: cuts[name] for name in report.chosen}
    rows = seen.action_table(losses, chosen, settings.condense)
    counters = tuple(dict.fromkeys((*policy.counters, *events_of(report.chosen))))
    rules = tree_policy(rows, settings.most_rules)
    second = SecondLook(probe, HINTS, replace(rules, counters=looked_at(counters)))
    return replace(policy, counters=counters, second=second), told


def _mentioned(workloads: Ints, count: int) -> Mask:
    mask = np.zeros(count, bool)
    mask[workloads] = True
    return mask


def both_samples(
    table: ObservationTable, settings: LearningSettings, hints_of: HintsOf
) -> tuple[ObservationTable, Ints]:
    """Features of each sample in the second affinity (`LearningSettings.probe`) and of the
    program's mean at the start.

    The second value is the workload of each sample. Only programs that have both are included.
    """
    probe = Hint.parse(settings.probe)
    numbers = table.workload()
    start, rows = samples_in(SPREAD, table, hints_of, settings.window)
    of_start = numbers[rows]
    seen, rows = samples_in(probe, table, hints_of, settings.window)
    counts = np.bincount(of_start, minlength=int(numbers.max(initial=-1)) + 1)
    both = counts[numbers[rows]] > 0
    seen, workload = seen.take(both), numbers[rows][both]
    means = {
        START + name: np.bincount(of_start, values, len(counts))[workload] / counts[workload]
        for name, values in start.counters.items()
    }
    with_start = replace(seen, counters={**seen.counters, **means})
    return with_gains(with_start, settings.cross_core), workload
