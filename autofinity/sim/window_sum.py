"""From timed windows of a sampled trace to the time and counts of the whole region.

    work      ├──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┤   intervals
    windows         [■■■]               [■■■]           [■■■]
    stretch   0  0  0  0  0  1  1  1  1  1  2  2  0  0  2  2  2  0
    meetings  │        │        │        │        │        │      │

Each interval of the region belongs to the stretch of the window that it is most like
(`likeness.py`); the window stands for its stretch. Work is done at the rates of the window: of each
stream its busy clocks an instruction. Between two meetings of all threads each stream needs the sum
of its own, and the slowest decides (LoopPoint, HPCA 2022, does the same between barriers). Where
threads meet so often that meetings lie within a window, or wait for each other otherwise, the
window's time already holds the waiting, and the stretch takes that time for each part of its work.

The standard error is that of the mean of strata: each window is guessed from the one that is most
like it, and how far off that is tells how far off a window may be for its stretch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from autofinity.sim.likeness import Floats, Intervals, Likeness

ENOUGH = 0.1
"""Of what the busiest stream did in a window: a stream with less tells nothing of its own rate."""
FITTED = 10
"""Rounds in which rates of windows and of streams are fitted to each other."""
COUPLED = 0.05
"""Share of time at locks and awaits from which on threads go at each other's pace."""


@dataclass(frozen=True, slots=True, eq=False)
class WorkLine:
    """How far each stream had got when all streams together had done so much work.

    Streams are the trace's; work is the number of accesses of all streams in the region.
    """

    work: Floats
    """Ascending, [points]."""
    instructions: Floats
    """Of each stream since its beginning, [points, streams]; no column falls."""

    def at(self, work: Floats) -> Floats:
        """Instructions of each stream at these amounts of work, [amounts, streams]."""
        columns = [np.interp(work, self.work, column) for column in self.instructions.T]
        return np.stack(columns, axis=1) if columns else np.zeros((len(work), 0))


@dataclass(frozen=True, slots=True, eq=False)
class RegionWork:
    """What was done in the region, and where its windows and meetings lie. No time is in it."""

    line: WorkLine
    window_work: Floats
    """Begin and end of each window, [windows, 2]."""
    meeting_work: Floats
    """Of the meetings that are kept; first the region's begin, last its end."""
    met: Floats
    """Meetings up to each of these, those that are not kept included."""
    intervals: Intervals
    """What was done when."""

    @property
    def work(self) -> float:
        """Of the whole region."""
        return float(self.meeting_work[-1] - self.meeting_work[0])


@dataclass(frozen=True, slots=True, eq=False)
class TimedWindow:
    """What a replay of one window measured."""

    number: int
    time_ns: float
    counts: npt.NDArray[np.uint64]
    """[streams, events]; the first event is `instructions`."""
    idle_ns: Floats
    """How long each stream waited at barriers, or after its last event, [streams]."""
    blocked_ns: Floats
    """How long each stream waited for others elsewhere: at locks and awaits, [streams]."""


@dataclass(frozen=True, slots=True, eq=False)
class RegionEstimate:
    """The whole region, from some of its windows."""

    roi_ns: float
    error: float
    """Relative standard error of the time; NaN from fewer than two windows."""
    windows: tuple[int, ...]
    """Numbers of those that were timed, in order of work."""
    stretch_ns: Floats
    """Time of the stretch that each of them stands for, [windows]."""
    counts: Floats
    """Of each stretch, [windows, streams, events]."""
    progress: Floats
    """Share of the region's work in this stretch and those before, [windows]."""
    busy_ns: Floats
    """Of each interval of the region: an instruction of each stream while it waits for no other,
    [intervals, streams]."""
    unit_ns: Floats
    """The same of all streams together, [intervals]."""

    @property
    def totals(self) -> Floats:
        """Counts of the region, [streams, events]."""
        whole: Floats = self.counts.sum(axis=0)
        return whole

    def lasting(self, roi_ns: float) -> RegionEstimate:
        """The same, with each stretch as much longer as the region."""
        longer = roi_ns / max(self.roi_ns, 1.0)
        return replace(self, roi_ns=roi_ns, stretch_ns=self.stretch_ns * longer)


def estimate(region: RegionWork, timed: Sequence[TimedWindow]) -> RegionEstimate:
    """Add the windows up. `timed` may be any of the region's windows, in any order, at least one.

    Raises `ValueError` without a window.
    """
    if not timed:
        raise ValueError("got no timed window; expected at least one")
    timed = sorted(timed, key=lambda window: window.number)
    numbers = [window.number for window in timed]
    likeness = Likeness.of(region.intervals, region.window_work[numbers])
    parts = _Parts.between(region, likeness.nearest)
    rates = _Rates.of(timed)
    part_ns = _part_times(parts, rates)
    stretch_ns = np.bincount(parts.stretch, part_ns, minlength=len(timed))
    done = _sum_by(parts.stretch, parts.instructions, len(timed))
    share = np.bincount(parts.stretch, parts.work, minlength=len(timed)) / max(region.work, 1.0)
    return RegionEstimate(
        roi_ns=float(stretch_ns.sum()),
        error=_relative_error(rates.together, stretch_ns, likeness.other),
        windows=tuple(numbers),
        stretch_ns=stretch_ns,
        counts=_scaled_counts(timed, done),
        progress=np.cumsum(share),
        busy_ns=rates.busy[likeness.nearest],
        unit_ns=rates.mean[likeness.nearest],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """The region cut at the edges of intervals and at the meetings, in order."""

    stretch: npt.NDArray[np.intp]
    segment: npt.NDArray[np.intp]
    """Number of the kept meeting before it."""
    meets: npt.NDArray[np.bool_]
    """Whether more than one meeting lies in its segment."""
    work: Floats
    instructions: Floats
    """Done in it, [parts, streams]."""

    @staticmethod
    def between(region: RegionWork, nearest: npt.NDArray[np.intp]) -> _Parts:
        begin, end = region.meeting_work[0], region.meeting_work[-1]
        edges = region.intervals.edges
        inner = edges[(edges > begin) & (edges < end)]
        cuts = np.unique(np.concatenate([inner, region.meeting_work]))
        middle = (cuts[:-1] + cuts[1:]) / 2
        segment = np.clip(
            np.searchsorted(region.meeting_work, middle, side="right") - 1,
            0,
            len(region.meeting_work) - 2,
        )
        interval = np.searchsorted(edges, middle, side="right") - 1
        stretch = nearest[np.clip(interval, 0, len(nearest) - 1)]
        meetings = np.diff(region.met)
        return _Parts(
            stretch,
            segment,
            meetings[segment] > 1,
            np.diff(cuts),
            np.maximum(np.diff(region.line.at(cuts), axis=0), 0.0),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Rates:
    """Nanoseconds an instruction, window by window."""

    together: Floats
    """All streams as one, waiting included, [windows]."""
    busy: Floats
    """Of each stream while it waits for nobody, [windows, streams]."""
    mean: Floats
    """Of all streams, while they wait for nobody, [windows]."""
    blocked: float
    """Share of the streams' time in which they wait for others elsewhere than at barriers."""

    @staticmethod
    def of(timed: Sequence[TimedWindow]) -> _Rates:
        time_ns = np.array([window.time_ns for window in timed])
        done = np.array([window.counts[:, 0] for window in timed], dtype=np.float64)
        here_ns = time_ns[:, None] - np.array([window.idle_ns for window in timed])
        blocked_ns = np.array([window.blocked_ns for window in timed])
        busy_ns = np.maximum(here_ns - blocked_ns, 0.0) * (done > 0)
        working = max(float((here_ns * (done > 0)).sum()), 1.0)
        return _Rates(
            time_ns / np.maximum(done.sum(axis=1), 1.0),
            _busy_rates(busy_ns, done),
            busy_ns.sum(axis=1) / np.maximum(done.sum(axis=1), 1.0),
            float((blocked_ns * (done > 0)).sum()) / working,
        )


def _busy_rates(busy_ns: Floats, done: Floats) -> Floats:
    """Streams that did next to nothing in a window are as much slower there than others as they are
    elsewhere.
    """
    factor = np.ones(done.shape[1])
    rate = np.ones(done.shape[0])
    for _ in range(FITTED):
        rate = busy_ns.sum(axis=1) / np.maximum(done @ factor, 1e-12)
        expected = rate @ done
        factor = np.where(expected > 0, busy_ns.sum(axis=0) / np.maximum(expected, 1e-12), 1.0)
    enough = done >= ENOUGH * done.max(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = busy_ns / done
    result: Floats = np.where(enough & (done > 0), own, rate[:, None] * factor[None, :])
    return result


def _part_times(parts: _Parts, rates: _Rates) -> Floats:
    """Of each part, so that those of a segment add up to its time."""
    alone = parts.instructions * rates.busy[parts.stretch]
    together = parts.instructions.sum(axis=1) * rates.together[parts.stretch]
    segments = int(parts.segment.max()) + 1
    slowest = _sum_by(parts.segment, alone, segments).max(axis=1)
    shares = np.bincount(parts.segment, together, minlength=segments)
    with np.errstate(divide="ignore", invalid="ignore"):
        stretched = np.where(shares > 0, slowest / shares, 0.0)
    coupled = parts.meets | (rates.blocked > COUPLED)
    result: Floats = np.where(coupled, together, together * stretched[parts.segment])
    return result


def _sum_by(index: npt.NDArray[np.intp], rows: Floats, length: int) -> Floats:
    sums = np.zeros((length, rows.shape[1]))
    np.add.at(sums, index, rows)
    return sums


def _relative_error(rate: Floats, stretch_ns: Floats, other: npt.NDArray[np.intp]) -> float:
    """Of the sum: each window's rate is off as the one most like it differs, by 1/sqrt(2)."""
    total = float(stretch_ns.sum())
    if len(rate) < 2 or total <= 0:
        return float("nan")
    off = (rate - rate[other]) / np.maximum(rate, 1e-12) * stretch_ns
    return float(np.sqrt((off**2).sum() / 2)) / total


def _scaled_counts(timed: Sequence[TimedWindow], done: Floats) -> Floats:
    """Every stream's counts, by how much more it did in the stretch than in the window; of a stream
    that did next to nothing there, what all did an instruction.
    """
    counts = np.array([window.counts for window in timed], dtype=np.float64)
    measured = counts[:, :, 0]
    together = counts.sum(axis=1) / np.maximum(measured.sum(axis=1), 1.0)[:, None]
    enough = measured >= ENOUGH * measured.max(axis=1, keepdims=True)
    own = counts / np.maximum(measured, 1.0)[:, :, None]
    result: Floats = done[:, :, None] * np.where(enough[:, :, None], own, together[:, None, :])
    return result
