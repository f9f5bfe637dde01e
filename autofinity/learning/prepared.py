"""Observations made ready for learning: those of sensitive programs, with the metric.

observations ─► metric ─► sensitive programs ─► behaviours, with the inputs of rules
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autofinity.checked_file import shown
from autofinity.learning.feature_columns import with_features, with_named
from autofinity.learning.hint_losses import hint_losses
from autofinity.learning.hint_samples import samples_in
from autofinity.learning.leeway_hints import HintsOf
from autofinity.learning.metric import insensitive_workloads, normalised, performance_of
from autofinity.learning.settings import LearningSettings
from autofinity.model.affinity import SPREAD
from autofinity.model.errors import LearningError
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Observations that training may use, with the metric."""

    table: ObservationTable
    metric: Floats
    """Performance as measured, which counters are chosen by."""
    performance: Floats
    """Performance that consequences are computed from, normalised if `settings.normalise`."""
    behaviours: ObservationTable
    """Behaviours that were seen, one row each, with the inputs of rules as counters."""
    workload: Ints
    """Workload of each behaviour, numbered as in `table.workload()`."""
    insensitive: tuple[str, ...]
    """Workloads that were left out."""
    settings: LearningSettings
    hints_of: HintsOf

    def losses(self) -> Floats:
        """Losses of each hint, workloads × 8 (`hint_losses.hint_losses`)."""
        return hint_losses(self.table, self.metric, self.hints_of, self.settings.condense)


def prepare(
    observations: ObservationTable,
    settings: LearningSettings,
    hints_of: HintsOf,
    *,
    everything: bool = False,
) -> Prepared:
    """Apply the metric, and leave insensitive programs out unless `everything` is set. A policy
    never learns from these programs: with them, the default policy is as good
    (docs/policy-study.md).

    Raises `LearningError` without observations, for observations of several machines, or for
    missing features.
    """
    observations = observations.placed_by("affinity")
    if len(observations) == 0:
        raise LearningError("there are no observations, expected at least one; profile first")
    machines = [observations.machine.names[c] for c in np.unique(observations.machine.codes)]
    if len(machines) > 1:
        names = ", ".join([*map(shown, machines[:4]), *(["…"] if len(machines) > 4 else [])])
        raise LearningError(
            f"observations of {len(machines)} machines ({names}), expected one: name the file of "
            "one machine, or keep its observations in a folder of their own; `autofinity rules "
            "--machine any` learns one policy from a folder with a file for each machine"
        )
    metric = performance_of(observations, settings.metric, settings.labels)
    workload = observations.workload()
    insensitive = {} if everything else insensitive_workloads(observations)
    keep = ~np.isin(workload, list(insensitive))
    performance = normalised(metric, workload) if settings.normalise else metric
    table = observations.take(keep)
    behaviours, of_workload = _behaviours(table, settings, hints_of)
    return Prepared(
        table,
        metric[keep],
        performance[keep],
        behaviours,
        of_workload,
        tuple(insensitive.values()),
        settings,
        hints_of,
    )


def _behaviours(
    table: ObservationTable, settings: LearningSettings, hints_of: HintsOf
) -> tuple[ObservationTable, Ints]:
    """Samples, with features as their counters, and the workload of each row."""
    if settings.labels == "periods":
        seen, workload = table, table.workload()
    else:
        seen, rows = samples_in(SPREAD, table, hints_of, settings.window)
        workload = table.workload()[rows]
    if settings.counters is not None:
        return with_named(seen, settings.counters), workload
    return with_features(seen, settings.features, settings.cross_core, settings.uncounted), workload
