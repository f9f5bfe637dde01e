"""Behaviour of each thread of a watched program over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autofinity.model.topology import OsIndex


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """One look at a program."""

    start_ns: int
    end_ns: int
    counts: Mapping[int, Mapping[str, float]]
    """By number of the thread: counts of the look, extrapolated where the PMU counted only part of
    the time; NaN where it did not count at all."""
    cpus: Mapping[int, OsIndex] = field(default_factory=dict)
    """By number of the thread: PU where it last ran, where that is known."""
    place: str = ""
    """Affinity in which the threads were placed; empty: where the system put them, or not known."""

    def rate(self, thread: int, counter: str) -> float:
        """Counts of a thread per second; NaN where nothing is known."""
        count = self.counts.get(thread, {}).get(counter, float("nan"))
        elapsed_ns = self.end_ns - self.start_ns
        return count * 1e9 / elapsed_ns if elapsed_ns > 0 else float("nan")
