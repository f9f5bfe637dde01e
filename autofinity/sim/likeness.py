"""Finds the most similar window of a sampled trace for each interval of its region.

For each interval a trace has the pauses since lines were touched before, the share of writes, the
number of instructions and the number of threads at work. SimPoint (ASPLOS 2002) uses basic blocks,
and BarrierPoint (ISPASS 2014) blocks and reuse distances together. Windows are timed, intervals are
not; an interval gets the speed of the nearest window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

type Floats = npt.NDArray[np.float64]

NEAR = 0.05
"""Distance in traits that equals the whole length of the region: among similar windows, the nearer
one is preferred."""


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Activity of all streams over the work of the region."""

    edges: Floats
    """Work at the beginning of each interval, and at the end of the last, [intervals + 1]."""
    traits: Floats
    """Traits, [intervals, traits]; each is a share or a logarithm, so that differences compare."""

    @staticmethod
    def of(
        work: float, touches: Floats, writes: Floats, instructions: Floats, streams: Floats
    ) -> Intervals:
        """Intervals of equal `work`.

        `touches`: by their pauses, [intervals, pauses]; `streams`: number of active streams.
        """
        number = len(touches)
        lines = np.maximum(touches.sum(axis=1), 1.0)
        traits: Floats = np.column_stack(
            [
                np.cumsum(touches, axis=1)[:, :-1] / lines[:, None],
                writes / lines,
                np.log2(np.maximum(instructions, 1.0) / lines) / 4,
                np.log2(lines / work) / 4,
                np.log2(np.maximum(streams, 1.0)),
            ]
        )
        edges: Floats = np.arange(number + 1, dtype=np.float64) * work
        return Intervals(edges, traits)

    @property
    def length(self) -> float:
        """Work of all intervals, at least 1."""
        return max(float(self.edges[-1] - self.edges[0]), 1.0)

    def of_windows(self, window_work: Floats) -> Floats:
        """Mean traits over each window, [windows, traits]."""
        begin, end = window_work[:, :1], window_work[:, 1:]
        overlap = np.minimum(end, self.edges[None, 1:]) - np.maximum(begin, self.edges[None, :-1])
        weight = np.maximum(overlap, 0.0)
        weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-12)
        mean: Floats = weight @ self.traits
        return mean


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Nearest windows of intervals and of other windows."""

    nearest: npt.NDArray[np.intp]
    """Position of the nearest window, for each interval."""
    other: npt.NDArray[np.intp]
    """Position of the nearest other window, for each window; its own where there is no other."""

    @staticmethod
    def of(intervals: Intervals, window_work: Floats) -> Likeness:
        """Nearest windows; `window_work` has begin and end of each window, [windows, 2]."""
        traits, when = intervals.of_windows(window_work), window_work.mean(axis=1)
        between = _distances(traits, traits)
        between += NEAR * np.abs(when[:, None] - when[None, :]) / intervals.length
        if len(when) > 1:
            np.fill_diagonal(between, np.inf)
        far = distances_to_windows(intervals, window_work)
        return Likeness(far.argmin(axis=1), between.argmin(axis=1))


def distances_to_windows(intervals: Intervals, window_work: Floats) -> Floats:
    """Distance of each interval from each window, [intervals, windows]."""
    middle = (intervals.edges[:-1] + intervals.edges[1:]) / 2
    far = _distances(intervals.traits, intervals.of_windows(window_work))
    far += NEAR * np.abs(middle[:, None] - window_work.mean(axis=1)[None, :]) / intervals.length
    return far


def covering_order(intervals: Intervals, window_work: Floats) -> list[int]:
    """Windows in an order whose first few represent all intervals as well as that number can."""
    if len(window_work) == 0:
        return []
    far = distances_to_windows(intervals, window_work)
    order: list[int] = []
    left = list(range(len(window_work)))
    nearest = np.full((len(far), 1), np.inf)
    while left:
        uncovered = np.minimum(nearest, far[:, left]).sum(axis=0)
        best = left.pop(int(np.argmin(uncovered)))
        nearest = np.minimum(nearest, far[:, [best]])
        order.append(best)
    return order


def _distances(left: Floats, right: Floats) -> Floats:
    """Mean absolute differences, [left, right]."""
    return np.stack([np.abs(left - each).mean(axis=1) for each in right], axis=1)


def streams_at_work(who: npt.NDArray[np.uint64], reach: float) -> Floats:
    """Number of streams that were active within `reach` intervals before or after each interval.

    `who`: bits of the active streams' numbers modulo 64, for each interval. Within a short interval
    some threads run on the capturing host while others wait for a core.
    """
    near = who.copy()
    for distance in range(1, max(1, round(reach)) + 1):
        near[distance:] |= who[:-distance]
        near[:-distance] |= who[distance:]
    counts: Floats = np.bitwise_count(near).astype(np.float64)
    return counts
