"""The course of a few repeats of a region, of which the last is put on record."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from autofinity.sim.likeness import Floats
from autofinity.sim.record import Record, between

_LOOKS = 96
"""Number of looks at a repeat that is replayed."""
_LEAST_NS = 1_000
_SAME = 0.005
"""Relative difference of two repeats that count as equal."""
_MOST = 6
"""Largest number of repeats that are replayed; further repeats are taken from the record of these.
Under the operating system, which moves threads, no two repeats need be equal. The record leaves out
the first repeat, whose caches are cold."""


@dataclass
class Course:
    """Sums since threads or pages were last moved, one mark a look."""

    at_ns: list[float] = field(default_factory=lambda: [0.0])
    repeats: list[float] = field(default_factory=lambda: [0.0])
    counts: list[Floats] = field(default_factory=list)
    runnable: list[int] = field(default_factory=lambda: [0])

    def saw(self, length_ns: float, repeats: float, counts: Floats, runnable: int) -> None:
        """Add a look: its length, repeats and sums, and the threads that could run at its end."""
        if not self.counts:
            self.counts.append(np.zeros_like(counts))
        self.runnable.append(runnable)
        self.at_ns.append(self.at_ns[-1] + length_ns)
        self.repeats.append(self.repeats[-1] + repeats)
        self.counts.append(self.counts[-1] + counts)

    @property
    def pace_ns(self) -> float:
        """Nanoseconds of a repeat; NaN before any part of one is done."""
        return self.at_ns[-1] / self.repeats[-1] if self.repeats[-1] > 0 else math.nan

    def step_ns(self, before_ns: int) -> int:
        """Length of the next look. Looks grow twofold at most: a course begins with a stop."""
        pace_ns = self.at_ns[-1] / max(self.repeats[-1], 1e-9)
        return max(_LEAST_NS, min(2 * before_ns, round(pace_ns / _LOOKS)))

    def record(self) -> Record | None:
        """The last repeat where it took as long as the one before; after `_MOST` repeats all but
        the first; else None.
        """
        whole = math.floor(self.repeats[-1])
        if whole < 2:
            return None
        before, last = (self._time_ns(n, n + 1) for n in (whole - 2, whole - 1))
        if abs(last - before) <= _SAME * last:
            return self._since(whole - 1, whole)
        return self._since(1, whole) if whole >= _MOST else None

    def _time_ns(self, begin: float, end: float) -> float:
        return float(np.diff(np.interp([begin, end], self.repeats, self.at_ns))[0])

    def _since(self, begin: int, end: int) -> Record:
        at_ns, repeats, counts = map(np.array, (self.at_ns, self.repeats, self.counts))
        inside = (repeats > begin) & (repeats < end)
        marks = np.concatenate(([begin], repeats[inside], [end]))
        times = np.interp(marks, repeats, at_ns)
        sums = np.stack([between(repeats, counts, mark) for mark in marks])
        before = np.searchsorted(repeats, marks, side="right") - 1
        runnable = np.array(self.runnable)[before]
        return Record(times - times[0], marks - begin, sums - sums[0], runnable)
