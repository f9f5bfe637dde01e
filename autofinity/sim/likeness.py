"""Finds the most similar window of a sampled trace for each interval of its region.

For each interval a trace has the pauses since lines were touched before, the share of writes, the
number of instructions, the number of threads at work, and the part of each thread in the work.
SimPoint (ASPLOS 2002) uses basic blocks, and BarrierPoint (ISPASS 2014) blocks and reuse distances
together. Windows are timed, intervals are not; an interval gets the speed of the nearest window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

type Floats = npt.NDArray[np.float64]

NEAR = 0.05
"""Distance in traits that equals the whole length of the region: among similar windows, the nearer
one is preferred."""
PARTS = 1.0
"""Distance of two intervals that differ only in that other streams do all the work."""


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Activity of all streams over the work of the region."""

    edges: Floats
    """Work at the beginning of each interval, and at the end of the last, [intervals + 1]."""
    traits: Floats
    """Traits, [intervals, traits]; each is a share or a logarithm, so that differences compare."""
    parts: Floats
    """Part that each stream has in the instructions, [intervals, streams]. Phases may differ in
    nothing else: where threads change partners, another one is far from its partner."""

    @staticmethod
    def of(
        work: float,
        touches: Floats,
        writes: Floats,
        instructions: Floats,
        streams: Floats,
        parts: Floats,
    ) -> Intervals:
        """Intervals of equal `work`.

        `touches`: by their pauses, [intervals, pauses]; `streams`: number of active streams;
        `parts`: as the attribute.
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
        return Intervals(edges, traits, parts)

    @property
    def length(self) -> float:
        """Work of all intervals, at least 1."""
        return max(float(self.edges[-1] - self.edges[0]), 1.0)

    def of_windows(self, window_work: Floats) -> Intervals:
        """Means over each window, in place of intervals; the edges stay those of the intervals."""
        begin, end = window_work[:, :1], window_work[:, 1:]
        overlap = np.minimum(end, self.edges[None, 1:]) - np.maximum(begin, self.edges[None, :-1])
        weight = np.maximum(overlap, 0.0)
        weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-12)
        return Intervals(self.edges, weight @ self.traits, weight @ self.parts)

    def distances(self, others: Intervals) -> Floats:
        """Mean absolute differences of traits, and `PARTS` of the work that other streams do,
        [these, others].
        """
        elsewhere = _distances(self.parts, others.parts) * (self.parts.shape[1] / 2)
        far: Floats = _distances(self.traits, others.traits) + PARTS * elsewhere
        return far


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
        windows, when = intervals.of_windows(window_work), window_work.mean(axis=1)
        between = windows.distances(windows)
        between += NEAR * np.abs(when[:, None] - when[None, :]) / intervals.length
        if len(when) > 1:
            np.fill_diagonal(between, np.inf)
        far = distances_to_windows(intervals, window_work)
        return Likeness(far.argmin(axis=1), between.argmin(axis=1))


def distances_to_windows(intervals: Intervals, window_work: Floats) -> Floats:
    """Distance of each interval from each window, [intervals, windows]."""
    middle = (intervals.edges[:-1] + intervals.edges[1:]) / 2
    far = intervals.distances(intervals.of_windows(window_work))
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
