"""Features of observations: the counters as measured, ratios of them, or both."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from autofinity.learning.settings import Features
from autofinity.model.errors import LearningError, UnknownCounterError
from autofinity.model.facts import FACTS, FactsOf
from autofinity.model.ratios import CATALOGUE, GAINS, START, SUMS, Ratio, portable
from autofinity.policy.many import ratio_of
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]

RATIOS: Mapping[str, Ratio] = {ratio.name: ratio for ratio in (*CATALOGUE, *GAINS)}


def with_features(
    table: ObservationTable,
    features: Features,
    cross_core: Collection[str] = (),
    uncounted: Collection[str] = (),
) -> ObservationTable:
    """The table with these features in place of its counters.

    Rates are all counters except the `uncounted`. Portable ratios are those that need no counter of
    other cores' caches except `cross_core`.

    Raises `LearningError` when ratios are requested and none can be computed.
    """
    unknown = {*FACTS, *uncounted}
    rates = {name: values for name, values in table.counters.items() if name not in unknown}
    columns = rates if features in ("rates", "both") else {}
    if features != "rates":
        table = with_sums(table)
        offered = portable(cross_core) if features == "portable" else CATALOGUE
        possible = [ratio for ratio in offered if set(_needs(ratio)) <= set(table.counters)]
        if not possible and features != "both":
            raise LearningError(
                "no ratio of the catalogue can be computed from these observations; they have "
                f"{', '.join(table.counters) or 'no counters'}; choose --features rates"
            )
        columns |= {ratio.name: _ratio(table, ratio) for ratio in possible}
    return replace(table, counters=columns)


def with_facts(table: ObservationTable, facts_of: FactsOf) -> ObservationTable:
    """The table with facts of its machine for the thread count of each row, as counters."""
    counts, row = np.unique(table.threads, return_inverse=True)
    known = [facts_of(int(count)) for count in counts]
    columns = {name: np.array([facts[name] for facts in known])[row] for name in FACTS}
    return replace(table, counters={**table.counters, **columns})


def with_gains(table: ObservationTable, cross_core: Collection[str] = ()) -> ObservationTable:
    """The table with the features of a second look: portable ratios, as in `with_features`, and
    gains over the start.
    """
    table = with_sums(table)
    offered = (*portable(cross_core), *GAINS)
    possible = [ratio for ratio in offered if set(_needs(ratio)) <= set(table.counters)]
    columns = {ratio.name: _ratio(table, ratio) for ratio in possible}
    return replace(table, counters=columns)


def with_sums(table: ObservationTable) -> ObservationTable:
    """The table with the sums of `model.ratios.SUMS`, where rows lack a sum but have its parts."""
    columns = dict(table.counters)
    for name, parts in SUMS.items():
        if set(parts) <= set(columns):
            total = _sum(table, parts)
            known = columns.get(name, np.full(len(table), np.nan))
            columns[name] = np.where(np.isnan(known), total, known)
    return replace(table, counters=columns)


def with_named(table: ObservationTable, names: Sequence[str]) -> ObservationTable:
    """The table with only these counters or ratios. Raises `LearningError`, which names missing
    ones.
    """
    columns = {}
    table = with_sums(table)
    for name in names:
        ratio = RATIOS.get(name)
        if name in table.counters:
            columns[name] = table.counters[name]
        elif ratio is not None and set(_needs(ratio)) <= set(table.counters):
            columns[name] = _ratio(table, ratio)
        else:
            needs = f" (a ratio of {', '.join(_needs(ratio))})" if ratio is not None else ""
            raise UnknownCounterError(
                f"the counter {name!r}{needs} is not in these observations; they have "
                f"{', '.join(table.counters) or 'none'}"
            )
    return replace(table, counters=columns)


def measured(features: Sequence[str]) -> tuple[tuple[str, ...], tuple[Ratio, ...]]:
    """The counters to measure for some features, and the ratios among these features."""
    ratios = tuple(RATIOS[name] for name in features if name in RATIOS)
    needed = (RATIOS[name].counters if name in RATIOS else (name,) for name in features)
    return tuple(dict.fromkeys(counter for names in needed for counter in names)), ratios


def events_of(features: Sequence[str]) -> tuple[str, ...]:
    """The events that a PMU has to count for some features, of either look."""
    return tuple(dict.fromkeys(name.removeprefix(START) for name in measured(features)[0]))


def fits(features: Sequence[str], k: int) -> bool:
    """Whether the features need at most `k` events."""
    return len(events_of(features)) <= k


def _ratio(table: ObservationTable, ratio: Ratio) -> Floats:
    """Values of `Ratio.of`, for all rows; divided by the column of the ratio's fact."""
    values = ratio_of(replace(ratio, fact=""), table.counters, len(table))
    return values / table.counters[ratio.fact] if ratio.fact else values


def _needs(ratio: Ratio) -> tuple[str, ...]:
    """The columns that a ratio is computed from."""
    return (*ratio.counters, ratio.fact) if ratio.fact else ratio.counters


def _sum(table: ObservationTable, names: Sequence[str]) -> Floats:
    total = table.counters[names[0]]
    for name in names[1:]:
        total = total + table.counters[name]
    return total
