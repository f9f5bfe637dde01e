"""From timed windows of a sampled trace to the time and counts of the whole region.

    work      ├──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┤   intervals
    windows         [■■■]               [■■■]           [■■■]
    stretch   0  0  0  0  0  1  1  1  1  1  2  2  0  0  2  2  2  0
    meetings  │        │        │        │        │        │      │

Each interval of the region belongs to the stretch of the window that it is most like
(`likeness.py`); the window stands for its stretch. Work is done at the rates of the window: for
each stream its busy clocks per instruction. Between two meetings of all threads each stream needs
the sum of its own times, and the slowest stream decides (LoopPoint, HPCA 2022, does the same
between barriers). Where streams wait for each other elsewhere than at barriers, such waits are part
of their times; waits at barriers never are: streams of a capture are ahead of each other when a
window opens, and would wait at the next barrier for that. Where streams meet so often that several
meetings lie in a segment, the window's time has to do, for each part of the work.

Standard errors of the time, of each count and of energy are that of the mean of strata: each window
is estimated from the most similar window, and the difference is an estimate of the window's error
for its stretch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from autofinity.sim.likeness import Floats, Intervals, Likeness

ENOUGH = 0.1
"""Least share of the busiest stream's instructions in a window: a stream with less gives no rate of
its own."""
FITTED = 10
"""Number of rounds in which rates of windows and of streams are fitted to each other."""
COUPLED = 0.05
"""Share of time at locks and awaits from which on these waits are part of a stream's time."""


@dataclass(frozen=True, slots=True, eq=False)
class WorkLine:
    """Progress of each stream at given amounts of work of all streams together.

    Streams are the trace's; work is the number of accesses of all streams in the region.
    """

    work: Floats
    """Amounts of work, ascending, [points]."""
    instructions: Floats
    """Instructions of each stream since its beginning, [points, streams]; no column falls."""

    def at(self, work: Floats) -> Floats:
        """Instructions of each stream at these amounts of work, [amounts, streams]."""
        columns = [np.interp(work, self.work, column) for column in self.instructions.T]
        return np.stack(columns, axis=1) if columns else np.zeros((len(work), 0))

    def parts(self, edges: Floats) -> Floats:
        """Part of each stream in the instructions from each amount of work to the next,
        [edges - 1, streams]; 0 where there are no instructions.
        """
        done = np.diff(self.at(edges), axis=0)
        return done / np.maximum(done.sum(axis=1, keepdims=True), 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class RegionWork:
    """Work of the region, and the places of its windows and meetings, without any time."""

    line: WorkLine
    window_work: Floats
    """Begin and end of each window, [windows, 2]."""
    meeting_work: Floats
    """Work at the kept meetings; first the region's begin, last its end."""
    met: Floats
    """Number of meetings up to each of these, including those that are not kept."""
    intervals: Intervals
    """Activity of the streams in each interval."""

    @property
    def work(self) -> float:
        """Work of the whole region."""
        return float(self.meeting_work[-1] - self.meeting_work[0])


@dataclass(frozen=True, slots=True, eq=False)
class TimedWindow:
    """Measurements of a replay of one window."""

    number: int
    time_ns: float
    counts: npt.NDArray[np.uint64]
    """Counts, [streams, events]; the first event is `instructions`."""
    idle_ns: Floats
    """Time that each stream waited at barriers, or after its last event, [streams]."""
    blocked_ns: Floats
    """Time that each stream waited for others elsewhere: at locks and awaits, [streams]."""


@dataclass(frozen=True, slots=True, eq=False)
class RegionCourse:
    """Parts of the region in order, each in the stretch of one window."""

    stretch: npt.NDArray[np.intp]
    """Number of the stretch of each part, [parts]."""
    share: Floats
    """Share of the region's work, [parts]."""
    ns: Floats
    """Time, [parts]."""


@dataclass(frozen=True, slots=True, eq=False)
class Misfits:
    """Difference of each stretch by its own window from that by the window that is most like it.

    Empty where the whole region was replayed.
    """

    ns: Floats
    """Time, [windows]."""
    counts: Floats
    """Counts of all streams, [windows, events]."""

    @staticmethod
    def none() -> Misfits:
        """Misfits of a region that was replayed as a whole."""
        return Misfits(np.zeros(0), np.zeros((0, 0)))


@dataclass(frozen=True, slots=True, eq=False)
class RegionEstimate:
    """Estimate of the whole region, from some of its windows."""

    roi_ns: float
    error: float
    """Relative standard error of the time; NaN from fewer than two windows."""
    windows: tuple[int, ...]
    """Numbers of the timed windows, in order of work."""
    stretch_ns: Floats
    """Time of the stretch that each window stands for, [windows]."""
    counts: Floats
    """Counts of each stretch, [windows, streams, events]."""
    progress: Floats
    """Share of the region's work in this stretch and the earlier ones, [windows]."""
    busy_ns: Floats
    """Time of an instruction of each stream while it waits for no other, for each interval of the
    region, [intervals, streams]."""
    unit_ns: Floats
    """Time of an instruction of all streams together, [intervals]."""
    course: RegionCourse
    """Order of the stretches; the times of a stretch's parts add up to the stretch's time."""
    misfits: Misfits = field(default_factory=Misfits.none)

    @property
    def totals(self) -> Floats:
        """Counts of the region, [streams, events]."""
        whole: Floats = self.counts.sum(axis=0)
        return whole

    def lasting(self, roi_ns: float) -> RegionEstimate:
        """The same estimate, with each stretch longer in the proportion of the region."""
        longer = roi_ns / max(self.roi_ns, 1.0)
        course = replace(self.course, ns=self.course.ns * longer)
        misfits = replace(self.misfits, ns=self.misfits.ns * longer)
        stretch_ns = self.stretch_ns * longer
        return replace(self, roi_ns=roi_ns, stretch_ns=stretch_ns, course=course, misfits=misfits)


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
    own = _count_rates(timed)
    misfits = Misfits(
        _time_misfits(rates.together, stretch_ns, likeness.other),
        np.einsum("ws,wse->we", done, own - own[likeness.other]),
    )
    work = parts.work / max(region.work, 1.0)
    share = np.bincount(parts.stretch, work, minlength=len(timed))
    return RegionEstimate(
        roi_ns=float(stretch_ns.sum()),
        error=relative_error(misfits.ns, float(stretch_ns.sum())),
        windows=tuple(numbers),
        stretch_ns=stretch_ns,
        counts=done[:, :, None] * own,
        progress=np.cumsum(share),
        busy_ns=rates.busy[likeness.nearest],
        unit_ns=rates.mean[likeness.nearest],
        course=RegionCourse(parts.stretch, work, part_ns),
        misfits=misfits,
    )


def relative_error(misfits: Floats, total: float) -> float:
    """Relative standard error of a sum over stretches, by their misfits, [windows], each times
    1/sqrt(2), as both windows are off; NaN from fewer than two windows, and where there is nothing.
    """
    if len(misfits) < 2 or total <= 0:
        return float("nan")
    return float(np.sqrt((misfits**2).sum() / 2)) / total


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """The region cut at the edges of intervals and at the meetings, in order."""

    stretch: npt.NDArray[np.intp]
    segment: npt.NDArray[np.intp]
    """Number of the kept meeting before the part."""
    meets: npt.NDArray[np.bool_]
    """Whether more than one meeting lies in the part's segment."""
    work: Floats
    instructions: Floats
    """Instructions of the part, [parts, streams]."""

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
    """Nanoseconds of all streams as one, waiting included, [windows]."""
    busy: Floats
    """Nanoseconds of each stream while it waits for no other, [windows, streams]."""
    here: Floats
    """Nanoseconds of each stream, waits included except at barriers, [windows, streams]."""
    mean: Floats
    """Nanoseconds of all streams, while they wait for no other, [windows]."""
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
            _own_rates(busy_ns, done),
            _own_rates(here_ns * (done > 0), done),
            busy_ns.sum(axis=1) / np.maximum(done.sum(axis=1), 1.0),
            float((blocked_ns * (done > 0)).sum()) / working,
        )


def _own_rates(busy_ns: Floats, done: Floats) -> Floats:
    """Rates of each stream in each window.

    A stream with very few instructions in a window is assumed to be slower than others there in the
    same proportion as in other windows.
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
    """Time of each part; the times of a segment's parts add up to the segment's time."""
    own = rates.here if rates.blocked > COUPLED else rates.busy
    alone = parts.instructions * own[parts.stretch]
    together = parts.instructions.sum(axis=1) * rates.together[parts.stretch]
    segments = int(parts.segment.max()) + 1
    slowest = _sum_by(parts.segment, alone, segments).max(axis=1)
    shares = np.bincount(parts.segment, together, minlength=segments)
    with np.errstate(divide="ignore", invalid="ignore"):
        stretched = np.where(shares > 0, slowest / shares, 0.0)
    result: Floats = np.where(parts.meets, together, together * stretched[parts.segment])
    return result


def _sum_by(index: npt.NDArray[np.intp], rows: Floats, length: int) -> Floats:
    sums = np.zeros((length, rows.shape[1]))
    np.add.at(sums, index, rows)
    return sums


def _time_misfits(rate: Floats, stretch_ns: Floats, other: npt.NDArray[np.intp]) -> Floats:
    """Time of each stretch less that by the rate of the most similar window, [windows]."""
    off: Floats = (rate - rate[other]) / np.maximum(rate, 1e-12) * stretch_ns
    return off


def _count_rates(timed: Sequence[TimedWindow]) -> Floats:
    """Counts of each stream per instruction, [windows, streams, events].

    A stream with very few instructions in the window gets the counts per instruction of all
    streams.
    """
    counts = np.array([window.counts for window in timed], dtype=np.float64)
    measured = counts[:, :, 0]
    together = counts.sum(axis=1) / np.maximum(measured.sum(axis=1), 1.0)[:, None]
    enough = measured >= ENOUGH * measured.max(axis=1, keepdims=True)
    own = counts / np.maximum(measured, 1.0)[:, :, None]
    result: Floats = np.where(enough[:, :, None], own, together[:, None, :])
    return result
