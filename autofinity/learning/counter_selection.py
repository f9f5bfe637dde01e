"""Selects the k counters to measure: correlation-based selection with a greedy search.

Source: paper, section 3.1: WEKA's CfsSubsetEval over about 60 events, grown greedily, and the first
k, where k is the number of events that the PMU counts at once without multiplexing. The search by
itself stops as soon as a further counter does not raise the merit, often before k; the report has
the place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autofinity.learning.cfs import correlations, deviations, greedy_ranking
from autofinity.learning.feature_columns import fits
from autofinity.model.errors import LearningError, UsageError
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A counter, and the merit of the set that it completes."""

    counter: str
    merit: float


@dataclass(frozen=True, slots=True)
class CounterReport:
    """Chosen counters, and the reasons."""

    chosen: tuple[str, ...]
    ranking: tuple[Ranked, ...]
    """All counters that vary, in the order in which the greedy search adds them."""
    stopped_at: int
    """Number of counters that the search alone would have taken."""
    left_out: tuple[str, ...]
    """Counters that never vary or were never measured."""
    note: str


def choose_counters(table: ObservationTable, target: Floats, k: int) -> CounterReport:
    """The k counters that together predict `target` best (the metric, one value for each row).

    As in WEKA's CfsSubsetEval by default, counters weigh by their standard deviations, and a
    counter that repeats another in other units is ranked like any other. numpy computes the
    ranking, which equals WEKA's (`tests/contract/learning/test_weka.py`). Raises `UsageError` for k
    < 1, `LearningError` when no counter varies.
    """
    if k < 1:
        raise UsageError(f"k={k}: expected at least 1")
    usable = np.isfinite(target)
    names, left_out = [], []
    columns: list[Floats] = []
    for name, column in table.counters.items():
        finite = np.where(np.isfinite(column), column, np.nan)[usable]
        known = finite[~np.isnan(finite)]
        deviation = float(np.std(known)) if len(known) else 0.0
        if not deviation > 1e-12 * float(np.abs(known).max(initial=0.0)):
            left_out.append(name)
            continue
        names.append(name)
        columns.append(finite)
    if not names:
        raise LearningError(
            f"no counter can be chosen: none of {len(table.counters)} varies over "
            f"{int(usable.sum())} observations; profile more programs or affinities"
        )
    values = np.column_stack(columns)
    ranking = greedy_ranking(*correlations(values, target[usable]), deviations(values))
    ranked = tuple(Ranked(names[index], merit) for index, merit in ranking)
    stopped_at = _stop(ranked)
    chosen = _that_fit(ranked, k)
    note = f"{len(chosen)} of {len(names)} counters by CFS"
    if stopped_at < len(chosen):
        note += f"; the search alone would have stopped after {stopped_at}"
    if len(chosen) < k:
        note += f"; only {len(chosen)} vary, {k} were asked for"
    return CounterReport(chosen, ranked, stopped_at, tuple(left_out), note)


def _that_fit(ranking: Sequence[Ranked], k: int) -> tuple[str, ...]:
    """Counters from the first on, each as long as it still fits into `k` events (a ratio needs
    several).
    """
    chosen: tuple[str, ...] = ()
    for ranked in ranking:
        if fits((*chosen, ranked.counter), k):
            chosen = (*chosen, ranked.counter)
    return chosen


def _stop(ranking: Sequence[Ranked]) -> int:
    """Number of counters before the first one that does not raise the merit."""
    for i in range(1, len(ranking)):
        if not ranking[i].merit > ranking[i - 1].merit:
            return i
    return len(ranking)
