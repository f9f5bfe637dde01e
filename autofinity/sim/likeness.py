"""Which window of a sampled trace each interval of its region is most like.

A trace tells of each interval how long ago lines had been touched before, how many touches were
writes, how many instructions they took and how many threads were at work: as SimPoint (ASPLOS 2002)
reads basic blocks, and BarrierPoint (ISPASS 2014) blocks and reuse distances together. Windows are
timed, intervals are not; an interval takes after the nearest window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

type Floats = npt.NDArray[np.float64]

NEAR = 0.05
"""Distance in traits that the whole length of the region counts as much as: of intervals that are
alike, the nearer one."""


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """What all streams did over the work of the region."""

    edges: Floats
    """Work at which each interval begins, and the last one ends, [intervals + 1]."""
    traits: Floats
    """[intervals, traits]; each is a share or a logarithm, so that differences compare."""

    @staticmethod
    def of(
        work: float, touches: Floats, writes: Floats, instructions: Floats, streams: Floats
    ) -> Intervals:
        """`touches`: by their pauses, [intervals, pauses]; `streams`: how many did something. Each
        interval has so much `work`.
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
        """Work of all of them, at least 1."""
        return max(float(self.edges[-1] - self.edges[0]), 1.0)

    def of_windows(self, window_work: Floats) -> Floats:
        """Mean traits of what lies in each window, [windows, traits]."""
        begin, end = window_work[:, :1], window_work[:, 1:]
        overlap = np.minimum(end, self.edges[None, 1:]) - np.maximum(begin, self.edges[None, :-1])
        weight = np.maximum(overlap, 0.0)
        weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-12)
        mean: Floats = weight @ self.traits
        return mean


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Windows that intervals and other windows are nearest to."""

    nearest: npt.NDArray[np.intp]
    """Of each interval, a place among the windows."""
    other: npt.NDArray[np.intp]
    """Of each window, the one among the others; its own place where there is no other."""

    @staticmethod
    def of(intervals: Intervals, window_work: Floats) -> Likeness:
        """`window_work`: begin and end of each window, [windows, 2]."""
        traits, when = intervals.of_windows(window_work), window_work.mean(axis=1)
        between = _distances(traits, traits)
        between += NEAR * np.abs(when[:, None] - when[None, :]) / intervals.length
        if len(when) > 1:
            np.fill_diagonal(between, np.inf)
        far = distances_to_windows(intervals, window_work)
        return Likeness(far.argmin(axis=1), between.argmin(axis=1))


def distances_to_windows(intervals: Intervals, window_work: Floats) -> Floats:
    """How unlike each interval is to each window, [intervals, windows]."""
    middle = (intervals.edges[:-1] + intervals.edges[1:]) / 2
    far = _distances(intervals.traits, intervals.of_windows(window_work))
    far += NEAR * np.abs(middle[:, None] - window_work.mean(axis=1)[None, :]) / intervals.length
    return far


def covering_order(intervals: Intervals, window_work: Floats) -> list[int]:
    """Windows, so ordered that each first few are as like all intervals as so many can be."""
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
    """How many streams did something within so many intervals before or after each.

    `who`: of each interval, bits of the streams' numbers modulo 64. Within a short interval the
    capturing host lets some threads run and others wait for a core.
    """
    near = who.copy()
    for distance in range(1, max(1, round(reach)) + 1):
        near[distance:] |= who[:-distance]
        near[:-distance] |= who[distance:]
    counts: Floats = np.bitwise_count(near).astype(np.float64)
    return counts
