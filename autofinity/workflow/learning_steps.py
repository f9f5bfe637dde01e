"""The steps of learning one by one, from a file or folder of observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from autofinity.learning.counter_selection import CounterReport
from autofinity.learning.discretise import bin_of
from autofinity.learning.leeway_hints import HintsOf
from autofinity.learning.pipeline import (
    Prepared,
    chosen_features,
    cut,
    feature_report,
    make_table,
    prepare,
)
from autofinity.learning.settings import LearningSettings
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read
from autofinity.workflow.machine_events import on_machine
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
    start = _Start.of(source, settings, machine)
    report = feature_report(start.ready, start.settings, start.hints_of)
    return ChosenCounters(report, start.ready.insensitive)


def cut_counters(
    source: Path, settings: LearningSettings, *, machine: str | None = None
) -> CutCounters:
    """Cut points of the chosen counters; arguments and errors are those of `chosen_counters`."""
    start = _Start.of(source, settings, machine)
    cuts = start.cut_points()
    behaviours = {}
    for name, points in cuts.items():
        found = bin_of(start.ready.behaviours.counters[name], points)
        behaviours[name] = np.bincount(found[found >= 0], minlength=len(points) + 1).tolist()
    return CutCounters(cuts, behaviours)


def action_table(
    source: Path, settings: LearningSettings, *, machine: str | None = None
) -> ActionTable:
    """The action table; arguments and errors are those of `chosen_counters`."""
    start = _Start.of(source, settings, machine)
    cuts = start.cut_points()
    table = make_table(start.ready, tuple(cuts), cuts, start.settings, start.hints_of)
    provenance = {
        "machine": machine_of(start.seen),
        "settings": start.settings.as_dict(),
        "observations": {"digest": start.seen.digest(), "rows": len(start.seen)},
    }
    return ActionTable(table, start.ready.insensitive, provenance)


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """Common start of all three steps."""

    seen: ObservationTable
    settings: LearningSettings
    """Settings, with the counters of other cores' caches that the machine has."""
    ready: Prepared
    hints_of: HintsOf

    @classmethod
    def of(cls, source: Path, settings: LearningSettings, machine: str | None) -> _Start:
        seen = read(source)
        settings = on_machine(settings, machine or known_machine(seen), seen.counters)
        hints_of = hints_for(seen, machine, settings.leeway)
        return cls(seen, settings, prepare(seen, settings, hints_of), hints_of)

    def cut_points(self) -> dict[str, tuple[float, ...]]:
        counters, _ = chosen_features(self.ready, self.settings, self.hints_of)
        return cut(self.ready, counters, self.settings)
