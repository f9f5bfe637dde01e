"""Rows of `perf stat`, whichever way it wrote them, as counts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from autofinity.measured.counts import (
    MOST_EVENTS,
    MOST_THREADS,
    Count,
    Measured,
    MeasuredError,
    at_work,
    number,
    total,
)

MOST_ROWS = 500_000
"""Rows of a day in seconds, five events each."""
_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class Row:
    """One event, of one thread, CPU or all, in one stretch of time."""

    event: str
    value: str
    """A number, or why there is none."""
    runtime_ns: float = math.nan
    percent: float = math.nan
    """Percent of the time of the request in which the event was counted."""
    interval: bool = False
    """Whether it is of a stretch of the run (`-I`); rows without one are then sums of these."""
    thread: str = ""
    """Name and number; empty: of no single thread."""

    @property
    def count(self) -> Count:
        """NaN where there is none."""
        value = math.nan if self.value.startswith("<") else number(self.value)
        untimed = value > 0 and self.runtime_ns == 0
        if not self.percent > 0 or math.isnan(self.runtime_ns) or untimed:
            return Count(value)
        running = min(self.percent / 100, 1.0)
        return Count(value, self.runtime_ns / _NS_PER_S / running, running)


def measured_of(form: str, rows: Iterable[Row]) -> Measured:
    """The sum of each event, of threads that compute. Raises `MeasuredError` for too many of them,
    or none.
    """
    every = list(islice(rows, MOST_ROWS + 1))
    if len(every) > MOST_ROWS:
        raise MeasuredError(f"got more than {MOST_ROWS} rows, expected fewer: a longer interval")
    if any(row.interval for row in every):
        every = [row for row in every if row.interval]
    computing = _at_work(every)
    if computing:
        every = [row for row in every if row.thread in computing]
    counts: dict[str, list[Count]] = {}
    failed: dict[str, str] = {}
    for row in every:
        count = row.count
        if math.isnan(count.value):
            failed.setdefault(row.event, row.value or "no count")
        else:
            counts.setdefault(row.event, []).append(count)
        if len(counts) + len(failed) > MOST_EVENTS:
            raise MeasuredError(
                f"got more than {MOST_EVENTS} events, expected what one run of perf stat counts"
            )
    if not counts and not failed:
        raise MeasuredError(
            f"got {form} without any event, expected counts of events; metrics alone "
            "(--metric-only) do not contain them"
        )
    return Measured(
        form,
        {event: total(some) for event, some in counts.items()},
        {event: why for event, why in failed.items() if event not in counts},
        threads=len(computing),
    )


def _at_work(rows: list[Row]) -> frozenset[str]:
    """Threads that compute; none where rows are of no threads."""
    spent: dict[str, float] = {}
    for row in rows:
        if row.thread:
            seconds = row.count.seconds
            longest = max(spent.get(row.thread, 0.0), 0.0 if math.isnan(seconds) else seconds)
            spent[row.thread] = longest
    if len(spent) > MOST_THREADS:
        raise MeasuredError(f"got more than {MOST_THREADS} threads, expected those of a run")
    return frozenset(at_work(spent))
