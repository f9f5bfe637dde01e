"""The steps of learning one by one, from observations or a file or folder of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from autofinity.learning.counter_selection import CounterReport
from autofinity.learning.discretise import bin_of
from autofinity.learning.feature_columns import with_facts
from autofinity.learning.labelled_rows import LabelledRows, rows_of_behaviours
from autofinity.learning.pipeline import chosen_features, cut, feature_report, make_table
from autofinity.learning.prepared import Prepared, prepare
from autofinity.learning.settings import LearningSettings
from autofinity.model.errors import LearningError, UsageError
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read
from autofinity.workflow.machine_events import settings_on
from autofinity.workflow.machine_facts import facts_on
from autofinity.workflow.observations import hints_for, known_machine, machine_of


@dataclass(frozen=True, slots=True)
class ChosenCounters:
    """Counters that a policy would use."""

    report: CounterReport
    insensitive: tuple[str, ...]
    """Names of workloads that were left out."""


@dataclass(frozen=True, slots=True)
class CutCounters:
    """The chosen counters, in the order in which they were chosen, in bins."""

    cut_points: dict[str, tuple[float, ...]]
    behaviours: dict[str, list[int]]
    """Number of behaviours in each bin; bins are (lower, upper], one more than cut points."""


@dataclass(frozen=True, slots=True, eq=False)
class ActionTable:
    """The action table, and its origin."""

    table: pd.DataFrame
    """The table; its columns are those of `learning.action_frame`."""
    insensitive: tuple[str, ...]
    """Names of workloads that were left out."""
    provenance: Mapping[str, object]


def chosen_counters(
    source: Path, settings: LearningSettings, *, machine: str | None = None
) -> ChosenCounters:
    """The counters and ratios that the settings choose, and their ranking.

    Hints are those of `machine`, or of the observed machine. Raises `StoreError` without
    observations, `LearningError` where nothing varies.
    """
    ready = _prepared(read(source), settings, machine)
    return ChosenCounters(feature_report(ready), ready.insensitive)


def cut_counters(
    source: Path, settings: LearningSettings, *, machine: str | None = None
) -> CutCounters:
    """Cut points of the chosen counters; arguments and errors are those of `chosen_counters`."""
    ready = _prepared(read(source), settings, machine)
    cuts = _cut_points(ready)
    behaviours = {}
    for name, points in cuts.items():
        found = bin_of(ready.behaviours.counters[name], points)
        behaviours[name] = np.bincount(found[found >= 0], minlength=len(points) + 1).tolist()
    return CutCounters(cuts, behaviours)


def action_table(
    source: Path, settings: LearningSettings, *, machine: str | None = None
) -> ActionTable:
    """The action table; arguments and errors are those of `chosen_counters`."""
    return action_table_of(read(source), settings, machine=machine)


def action_table_of(
    seen: ObservationTable, settings: LearningSettings, *, machine: str | None = None
) -> ActionTable:
    """The action table of observations. Raises `LearningError` where nothing varies."""
    ready = _prepared(seen, settings, machine)
    cuts = _cut_points(ready)
    provenance = {
        "machine": machine_of(seen),
        "settings": ready.settings.as_dict(),
        "observations": {"digest": seen.digest(), "rows": len(seen)},
    }
    return ActionTable(make_table(ready, tuple(cuts), cuts), ready.insensitive, provenance)


def labelled_rows(
    seen: ObservationTable,
    settings: LearningSettings,
    *,
    machine: str | None = None,
    features: Sequence[str] | None = None,
) -> LabelledRows:
    """Behaviours with the loss of each hint over whole runs, and with their programs.

    `features` are counters and ratios, by default all that the settings offer and that vary.
    `machine` is that of the affinities, by default the observed one. Raises `LearningError` where
    nothing varies or a feature is unknown, `UsageError` for settings whose labels are periods.
    """
    if settings.labels != "runs":
        raise UsageError(f"labels {settings.labels!r}: rows of programs have labels of runs only")
    named = settings if features is None else replace(settings, counters=tuple(features))
    ready = _prepared(seen, named, machine)
    cuts = cut(ready, tuple(ready.behaviours.counters))
    if features is None:
        cuts = {name: at for name, at in cuts.items() if at}
    if not cuts:
        raise LearningError("no feature varies over these observations; profile more programs")
    return rows_of_behaviours(ready.behaviours, ready.workload, ready.losses(), cuts)


def _prepared(seen: ObservationTable, settings: LearningSettings, machine: str | None) -> Prepared:
    """Common start of all steps. The settings get the counters of other cores' caches that the
    machine has.
    """
    name = machine or known_machine(seen)
    settings = settings_on(settings, name, seen.counters)
    hints_of = hints_for(seen, machine, settings.leeway)
    return prepare(with_facts(seen.placed_by("affinity"), facts_on(name)), settings, hints_of)


def _cut_points(ready: Prepared) -> dict[str, tuple[float, ...]]:
    counters, _ = chosen_features(ready)
    return cut(ready, counters)
