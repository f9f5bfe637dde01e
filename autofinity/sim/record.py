"""A record of some repeats of a region, which is played again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autofinity.sim.likeness import Floats


@dataclass(frozen=True, slots=True)
class Record:
    """The course of some repeats with warm caches: sums from their begin, `marks` of them."""

    at_ns: Floats
    """[marks]"""
    repeats: Floats
    """[marks]"""
    counts: Floats
    """[marks, sums of a look]"""
    runnable: npt.NDArray[np.int64]
    """[marks], threads that could run at each."""

    @property
    def length_ns(self) -> float:
        """Time of all its repeats."""
        return float(self.at_ns[-1])

    def until(self, at_ns: float) -> tuple[float, Floats]:
        """Repeats and counts from the begin of the record to `at_ns`, played again and again."""
        times, rest_ns = divmod(at_ns, self.length_ns)
        repeats = times * self.repeats[-1] + np.interp(rest_ns, self.at_ns, self.repeats)
        return float(repeats), times * self.counts[-1] + between(self.at_ns, self.counts, rest_ns)

    def runnable_at(self, at_ns: float) -> int:
        """Threads that could run at the mark before `at_ns`."""
        at = np.searchsorted(self.at_ns, at_ns % self.length_ns, side="right") - 1
        return int(self.runnable[at])

    def when(self, repeats: float) -> float:
        """Nanoseconds from the begin of the record until this number of repeats is done."""
        times, rest = divmod(repeats, float(self.repeats[-1]))
        return times * self.length_ns + float(np.interp(rest, self.repeats, self.at_ns))


def between(marks: Floats, sums: Floats, at: float) -> Floats:
    """Row of `sums` at a point between two marks, with even progress assumed between them."""
    after = int(np.clip(np.searchsorted(marks, at), 1, len(marks) - 1))
    length = marks[after] - marks[after - 1]
    share = (at - marks[after - 1]) / length if length > 0 else 1.0  # a look without progress
    row: Floats = sums[after - 1] + share * (sums[after] - sums[after - 1])
    return row
