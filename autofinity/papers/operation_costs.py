"""Time and number of a mechanism's operations, by kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

from autofinity.evaluation.comparison import MechanismCase
from autofinity.model.mechanism_run import MechanismRun
from autofinity.papers.beside import beside
from autofinity.papers.figure import AnyFigure
from autofinity.papers.mechanism_figure import Runs
from autofinity.papers.values import LABELS
from autofinity.report.chart import Chart

COUNTED: Mapping[str, Callable[[MechanismRun], int]] = {
    "page copy": lambda run: run.page_migrations,
    "thread migration": lambda run: run.thread_migrations,
}
"""Kinds of overhead whose operations a run counts."""


@dataclass(frozen=True, slots=True)
class _OfRuns:
    """Needs all runs of a mechanism."""

    mechanism: str

    def data(self, runs: Runs) -> list[MechanismRun]:
        """All runs of the mechanism."""
        return runs_of(self.mechanism, runs.cases((self.mechanism,)))


@dataclass(frozen=True, slots=True)
class OperationCosts(_OfRuns):
    """CPU time in % of the run's time, as kMAF'14 (section 5.4) and kMAF'16 (table 5) give it, or
    ns of one operation.
    """

    of: Literal["run", "operation"]

    def draw(self, figure: AnyFigure, runs: Sequence[MechanismRun], on: str) -> Chart:
        """By kind of operation."""
        if self.of == "run":
            return beside(figure, shares_by_kind(runs), on, "operation", LABELS["cpu_time"])
        return beside(figure, ns_by_kind(runs), on, "operation", "ns")


@dataclass(frozen=True, slots=True)
class CostsOfEach(_OfRuns):
    """Least, quartiles and most of the time of one operation; medians over the runs."""

    def draw(self, figure: AnyFigure, runs: Sequence[MechanismRun], on: str) -> Chart:
        """A series for each kind."""
        kinds = dict.fromkeys(kind for run in runs for kind in run.operation_ns)
        found = {
            kind: [run.operation_ns[kind] for run in runs if kind in run.operation_ns]
            for kind in kinds
        }
        return Chart(
            f"{figure.title}, {on}",
            "over operations",
            "ns",
            ("least", "lower quartile", "median", "upper quartile", "most"),
            {kind: tuple(map(median, zip(*each, strict=True))) for kind, each in found.items()},
            kind="lines",
        )


@dataclass(frozen=True, slots=True)
class EventCounts(_OfRuns):
    """How often each operation was made, in relation to others, so that runs of different lengths
    and sizes can be compared.
    """

    fault_ns: float
    """Time of an extra fault, which is the same for all of them."""
    update_ns: float
    """Time to update the tables on a fault, extra or not: the others are the program's own."""

    def draw(self, figure: AnyFigure, runs: Sequence[MechanismRun], on: str) -> Chart:
        """Means over the runs."""
        each = [self._of(run) for run in runs]
        ours = {
            name: fmean(known) if (known := [of[name] for of in each if name in of]) else math.nan
            for name in figure.numbers
        }
        return beside(figure, ours, on, "operation", "ratio of counts")

    def _of(self, run: MechanismRun) -> dict[str, float]:
        faults = run.overhead_ns.get("fault", 0) / self.fault_ns
        updates = run.overhead_ns.get("update", 0) / self.update_ns
        return {
            name: count / of
            for name, count, of in (
                ("normal page faults a 1,000 extra faults", 1000 * (updates - faults), faults),
                ("matrix updates a 1,000 extra faults", 1000 * updates, faults),
                ("page migrations a 1,000 extra faults", 1000 * run.page_migrations, faults),
                ("mappings a 1,000 extra faults", 1000 * run.mappings, faults),
                ("thread migrations a mapping", run.thread_migrations, run.mappings),
            )
            if of > 0
        }


def runs_of(mechanism: str, cases: Sequence[MechanismCase]) -> list[MechanismRun]:
    """Those that there are."""
    return [case.run for case in cases if case.mechanism == mechanism and case.run is not None]


def shares_by_kind(runs: Sequence[MechanismRun]) -> dict[str, float]:
    """CPU time of each kind of overhead in % of the run's time, mean over the runs."""
    kinds = dict.fromkeys(kind for run in runs for kind in run.overhead_ns)
    return {
        kind: 100 * fmean(run.overhead_of(kind) * run.threads for run in runs) for kind in kinds
    }


def ns_by_kind(runs: Sequence[MechanismRun]) -> dict[str, float]:
    """Time of one operation of each kind that is counted; NaN where there was none."""
    found = {}
    for kind, count in COUNTED.items():
        operations = sum(map(count, runs))
        spent = sum(run.overhead_ns.get(kind, 0) for run in runs)
        found[kind] = spent / operations if operations else math.nan
    return found
