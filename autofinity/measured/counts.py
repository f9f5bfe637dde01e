"""Content of a file of measurements, whatever tool wrote it."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

AT_WORK = 0.1
"""Share of the busiest thread's work from which on a thread computes (as in runs, docs/run.md)."""
MOST_EVENTS = 4096
"""Different events in a file; nobody counts so many."""
MOST_THREADS = 65_536
"""Different threads or CPUs in a file."""


class MeasuredError(ValueError):
    """An error in a file's content: what was got, what was expected, what to do."""


@dataclass(frozen=True, slots=True)
class Count:
    """Count of one event, over all that the file has of the event."""

    value: float
    """As if it had been counted all the time; NaN where it was not counted."""
    seconds: float = math.nan
    """For which it was asked for, of all threads (or CPUs) together; NaN: the file does not say."""
    running: float = 1.0
    """Share of that time in which it was counted: less than 1 where the PMU had to take turns."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Sampled accesses, one a place in each array."""

    tids: array[int] = field(default_factory=lambda: array("q"))
    cpus: array[int] = field(default_factory=lambda: array("q"))
    """-1: the file does not say."""
    pages: array[int] = field(default_factory=lambda: array("q"))
    """Address / 4096; -1: the file does not say."""
    sources: bytearray = field(default_factory=bytearray)
    """`measured.data_source.Source` of each."""

    def __len__(self) -> int:
        return len(self.sources)


@dataclass(frozen=True, slots=True)
class Measured:
    """All that a file says."""

    format: str
    """As people call it: `perf stat -j`."""
    counts: Mapping[str, Count]
    """By event, as the file calls it."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Events that were not counted, with what the file says of it."""
    threads: int = 0
    """That compute; 0: the file does not show it."""
    cpus: tuple[int, ...] = ()
    """Where each of them was last; empty: the file does not show it."""
    samples: Samples | None = None
    """Where counts are of sampled accesses; then only their ratios mean something."""
    shows: tuple[str, ...] = ()
    """Further content of the file for people, a line each."""


def at_work[Who](used: Mapping[Who, float]) -> tuple[Who, ...]:
    """Those that compute, of how much each was used, in the order in which they came."""
    busiest = max(used.values(), default=0.0)
    return tuple(who for who, much in used.items() if busiest and much >= AT_WORK * busiest)


def total(counts: Iterable[Count]) -> Count:
    """Total of one event that is in several rows: of threads, CPUs, or stretches of time."""
    rows = list(counts)
    seconds = math.fsum(row.seconds for row in rows)
    counted = math.fsum(row.seconds * row.running for row in rows)
    return Count(
        math.fsum(row.value for row in rows),
        seconds,
        counted / seconds if seconds > 0 else rows[0].running,
    )


def number(text: str) -> float:
    """A finite number of 0 or more, with a point or a comma before its decimals; else NaN."""
    if len(text) > 40:
        return math.nan
    try:
        value = float(text.replace(",", ".", 1) if "." not in text else text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) and value >= 0 else math.nan
