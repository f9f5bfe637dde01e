"""From timed windows of a sampled trace to the time and counts of the whole region.

    work     ├───────── stretch 0 ─────────┼───────── stretch 1 ─────────┤
    windows         [■■■]                         [■■■]
    meetings │      │      │      │      │      │      │      │      │   │

A stretch is what lies nearer to one window than to another; the window stands for it. Work is done
at the rates of the window: of each stream its busy clocks an instruction. Between two meetings of
all threads each stream needs the sum of its own, and the slowest decides (LoopPoint, HPCA 2022,
does the same between barriers). Where threads meet so often that meetings lie within a window, or
wait for each other otherwise, the window's time already holds the waiting, and the stretch takes
that time for each part of its work.

The standard error is that of systematic sampling, from differences of neighbouring windows
(Wolter, Introduction to Variance Estimation, 2007, section 8.2, estimator v2): what drifts slowly
over a run does not count as scatter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

type Floats = npt.NDArray[np.float64]


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
    barrier_wait_ns: Floats
    """How long each stream waited at barriers, [streams]."""


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
    """Share of the region's work done at the end of each stretch, [windows]."""

    @property
    def totals(self) -> Floats:
        """Counts of the region, [streams, events]."""
        whole: Floats = self.counts.sum(axis=0)
        return whole


def estimate(region: RegionWork, timed: Sequence[TimedWindow]) -> RegionEstimate:
    """Add the windows up. `timed` may be any of the region's windows, in any order, at least one.

    Raises `ValueError` without a window.
    """
    if not timed:
        raise ValueError("got no timed window; expected at least one")
    timed = sorted(timed, key=lambda window: window.number)
    spans = region.window_work[[window.number for window in timed]]
    edges = _stretch_edges(spans, region.meeting_work[0], region.meeting_work[-1])
    parts = _Parts.between(region, edges)
    rates = _Rates.of(timed)
    part_ns = _part_times(parts, rates)
    stretch_ns = np.bincount(parts.stretch, part_ns, minlength=len(timed))
    done = _sum_by(parts.stretch, parts.instructions, len(timed))
    return RegionEstimate(
        roi_ns=float(stretch_ns.sum()),
        error=_relative_error(stretch_ns, np.diff(edges)),
        windows=tuple(window.number for window in timed),
        stretch_ns=stretch_ns,
        counts=_scaled_counts(timed, done),
        progress=(edges[1:] - edges[0]) / max(edges[-1] - edges[0], 1.0),
    )


def _stretch_edges(spans: Floats, begin: float, end: float) -> Floats:
    """Where one window's stretch ends and the next one's begins: half way between them."""
    between = (spans[:-1, 1] + spans[1:, 0]) / 2
    return np.concatenate([[begin], between, [end]])


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """The region cut at the edges of stretches and at the meetings, in order."""

    stretch: npt.NDArray[np.intp]
    segment: npt.NDArray[np.intp]
    """Number of the kept meeting before it."""
    meets: npt.NDArray[np.bool_]
    """Whether more than one meeting lies in its segment."""
    instructions: Floats
    """Done in it, [parts, streams]."""

    @staticmethod
    def between(region: RegionWork, edges: Floats) -> _Parts:
        cuts = np.unique(np.concatenate([edges, region.meeting_work]))
        middle = (cuts[:-1] + cuts[1:]) / 2
        segment = np.clip(
            np.searchsorted(region.meeting_work, middle, side="right") - 1,
            0,
            len(region.meeting_work) - 2,
        )
        stretch = np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, len(edges) - 2)
        meetings = np.diff(region.met)
        return _Parts(
            stretch,
            segment,
            meetings[segment] > 1,
            np.maximum(np.diff(region.line.at(cuts), axis=0), 0.0),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Rates:
    """Nanoseconds an instruction, window by window."""

    together: Floats
    """All streams as one, waiting included, [windows]."""
    busy: Floats
    """Of each stream while it does not wait at barriers, [windows, streams]."""

    @staticmethod
    def of(timed: Sequence[TimedWindow]) -> _Rates:
        time_ns = np.array([window.time_ns for window in timed])
        done = np.array([window.counts[:, 0] for window in timed], dtype=np.float64)
        busy_ns = time_ns[:, None] - np.array([window.barrier_wait_ns for window in timed])
        together = time_ns / np.maximum(done.sum(axis=1), 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            busy = np.where(done > 0, np.maximum(busy_ns, 0.0) / done, np.nan)
        return _Rates(together, _filled(busy, together, done))


def _filled(busy: Floats, together: Floats, done: Floats) -> Floats:
    """Streams that did nothing in a window take their mean in others, else that of all streams."""
    weight = np.where(np.isnan(busy), 0.0, done)
    known = weight.sum(axis=0)
    own = np.nansum(np.nan_to_num(busy) * weight, axis=0) / np.maximum(known, 1.0)
    streams = np.maximum((done > 0).sum(axis=1), 1)
    filled = np.where(known > 0, own[None, :], (together * streams)[:, None])
    result: Floats = np.where(np.isnan(busy), filled, busy)
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
    result: Floats = np.where(parts.meets, together, together * stretched[parts.segment])
    return result


def _sum_by(index: npt.NDArray[np.intp], rows: Floats, length: int) -> Floats:
    sums = np.zeros((length, rows.shape[1]))
    np.add.at(sums, index, rows)
    return sums


def _relative_error(stretch_ns: Floats, work: Floats) -> float:
    """Of the sum, from how much neighbours differ in time a unit of work."""
    if len(stretch_ns) < 2:
        return float("nan")
    rate = stretch_ns / np.maximum(work, 1.0)
    differences = np.diff(rate) ** 2
    variance = float(differences.mean()) / 2 * float((work**2).sum())
    total = float(stretch_ns.sum())
    return float(np.sqrt(variance)) / total if total > 0 else float("nan")


def _scaled_counts(timed: Sequence[TimedWindow], done: Floats) -> Floats:
    """Every stream's counts, by how much more it did in the stretch than in the window."""
    counts = np.array([window.counts for window in timed], dtype=np.float64)
    measured = counts[:, :, 0]
    together = done.sum(axis=1) / np.maximum(measured.sum(axis=1), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(measured > 0, done / np.maximum(measured, 1.0), together[:, None])
    result: Floats = counts * own[:, :, None]
    return result
