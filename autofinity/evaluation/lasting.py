"""Runs of a minute: a region of interest is repeated, and only repeats that differ are replayed.

    threads move ─► repeats are replayed until two take the same time ═══ the last is played on ═══

A region of the training programs takes a millisecond to a tenth of a second, and a minute of it is
hours of simulating. The work of a program repeats, so a repeat in the same places with warm caches
takes as long as the one before. `LastingProcess` replays until that is so, and answers from the
record of the last repeat until threads or pages move. Nothing is shortened: a second is a second, a
look of 50 ms sees many repeats, and a move costs cold caches once. Time that a mechanism spends on
a core of the program is shared by all threads, as barriers share it.

Not in the record: noise, and a drift too slow for the repeats that are replayed. The region's place
is kept from move to move only as far as the replay got, so phases can shift by less than a repeat.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from autofinity.evaluation.lasting_samples import SAMPLE, LastingSamples
from autofinity.mechanisms.recipe import PAGE_BYTES
from autofinity.model.errors import SimulationError
from autofinity.model.memory import MOVED_BYTES_PER_S, MemoryByNode
from autofinity.ports import Action, Interval, MovePages, Outcome, ShowsMemory, SpendTime

MINUTE_S = 60.0
_LOOKS = 96
"""Number of looks at a repeat that is replayed."""
_FIRST_NS = 20_000
"""Length of the first look, which shows about how long a repeat takes."""
_LEAST_NS = 1_000
_SAME = 0.005
"""Relative difference of two repeats that count as equal."""
_MOST = 6
"""Largest number of repeats that are replayed; further repeats are taken from the record of these.
Under the operating system, which moves threads, no two repeats need be equal. The record leaves out
the first repeat, whose caches are cold."""

type _Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lasting:
    """Time course of a run of many repeats in one place."""

    done: float
    """Number of repeats that were replayed."""
    done_s: float
    """Time of the replayed repeats."""
    repeat_s: float
    """Time of each later repeat."""

    def time_s(self, repeats: float) -> float:
        """Time of `repeats` repeats."""
        return self.done_s + (repeats - self.done) * self.repeat_s


@dataclass(frozen=True, slots=True)
class _Record:
    """The course of some repeats with warm caches: sums from their begin, `marks` of them."""

    at_ns: _Floats
    """[marks]"""
    repeats: _Floats
    """[marks]"""
    counts: _Floats
    """[marks, `_sums`]"""
    runnable: npt.NDArray[np.int64]
    """[marks], threads that could run at each."""

    @property
    def length_ns(self) -> float:
        return float(self.at_ns[-1])

    def until(self, at_ns: float) -> tuple[float, _Floats]:
        """Repeats and counts from the begin of the record to `at_ns`, played again and again."""
        times, rest_ns = divmod(at_ns, self.length_ns)
        repeats = times * self.repeats[-1] + np.interp(rest_ns, self.at_ns, self.repeats)
        return float(repeats), times * self.counts[-1] + _between(self.at_ns, self.counts, rest_ns)

    def runnable_at(self, at_ns: float) -> int:
        """Threads that could run at the mark before `at_ns`."""
        at = np.searchsorted(self.at_ns, at_ns % self.length_ns, side="right") - 1
        return int(self.runnable[at])

    def when(self, repeats: float) -> float:
        """Nanoseconds from the begin of the record until this number of repeats is done."""
        times, rest = divmod(repeats, float(self.repeats[-1]))
        return times * self.length_ns + float(np.interp(rest, self.repeats, self.at_ns))


@dataclass
class _Course:
    """Sums since threads or pages were last moved, one mark a look."""

    at_ns: list[float] = field(default_factory=lambda: [0.0])
    repeats: list[float] = field(default_factory=lambda: [0.0])
    counts: list[_Floats] = field(default_factory=list)
    runnable: list[int] = field(default_factory=lambda: [0])

    def saw(self, length_ns: float, repeats: float, counts: _Floats, runnable: int) -> None:
        if not self.counts:
            self.counts.append(np.zeros_like(counts))
        self.runnable.append(runnable)
        self.at_ns.append(self.at_ns[-1] + length_ns)
        self.repeats.append(self.repeats[-1] + repeats)
        self.counts.append(self.counts[-1] + counts)

    def step_ns(self, before_ns: int) -> int:
        """Length of the next look. Looks grow twofold at most: a course begins with a stop."""
        pace_ns = self.at_ns[-1] / max(self.repeats[-1], 1e-9)
        return max(_LEAST_NS, min(2 * before_ns, round(pace_ns / _LOOKS)))

    def record(self) -> _Record | None:
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

    def _since(self, begin: int, end: int) -> _Record:
        at_ns, repeats, counts = map(np.array, (self.at_ns, self.repeats, self.counts))
        inside = (repeats > begin) & (repeats < end)
        marks = np.concatenate(([begin], repeats[inside], [end]))
        times = np.interp(marks, repeats, at_ns)
        sums = np.stack([_between(repeats, counts, mark) for mark in marks])
        before = np.searchsorted(repeats, marks, side="right") - 1
        runnable = np.array(self.runnable)[before]
        return _Record(times - times[0], marks - begin, sums - sums[0], runnable)


def _between(marks: _Floats, sums: _Floats, at: float) -> _Floats:
    """Row of `sums` at a point between two marks, with even progress assumed between them."""
    after = int(np.clip(np.searchsorted(marks, at), 1, len(marks) - 1))
    length = marks[after] - marks[after - 1]
    share = (at - marks[after - 1]) / length if length > 0 else 1.0  # a look without progress
    row: _Floats = sums[after - 1] + share * (sums[after] - sums[after - 1])
    return row


class LastingProcess:
    """`ports.ShowsMemory` over a process of very many repeats, which ends after `repeats` of them.
    Its progress is unknown, as that of programs on Linux.
    """

    def __init__(
        self,
        process: ShowsMemory,
        region: float,
        repeats: float = math.inf,
        *,
        page_bytes: int = PAGE_BYTES,
        denser: int = 1,
    ) -> None:
        """`region`: instructions of a repeat, all threads together (`region_of`). The process has
        detectors only if these sample; its samples are so many times `denser` than the program's.
        """
        self._process = process
        self._region = region
        self._repeats = repeats
        self._page_bytes = page_bytes
        self._samples = LastingSamples(denser)
        self._spent_ns: dict[str, float] = {}
        self._course = _Course()
        self._record: _Record | None = None
        self._played_ns = 0.0
        self._step_ns = _FIRST_NS
        self._last: Interval | None = None
        self.done = 0.0
        """Number of repeats done."""
        self.now_ns = 0.0
        self.unpaid_pages = 0
        """Pages that were moved, but not on a core of the program: the simulated machine copies
        them in no time."""

    @property
    def unpaid_s(self) -> float:
        """Time to copy `unpaid_pages`."""
        return self.unpaid_pages * self._page_bytes / MOVED_BYTES_PER_S

    @property
    def repeat_ns(self) -> float:
        """Time of a repeat where threads and pages are now; NaN until the record answers."""
        record = self._record
        return record.length_ns / float(record.repeats[-1]) if record else math.nan

    def advance(self, duration_ns: int) -> Interval:
        """Let the program run, at most until its repeats are done. Raises `SimulationError`."""
        begin_ns, end_ns = self.now_ns, self.now_ns + duration_ns
        parts: list[Interval] = []
        while self._record is None and self.now_ns < end_ns and self.done < self._repeats:
            parts.append(self._replayed(end_ns - self.now_ns))
        sums = sum((_sums(part) for part in parts), np.zeros(1))
        if self._record is not None and self.now_ns < end_ns and self.done < self._repeats:
            sums = sums + self._played(self._record, end_ns - self.now_ns)
        assert self._last is not None
        for part in parts:
            self._spend(part.overhead_ns)
        spent_ns, self._spent_ns = {**self._spent_ns, SAMPLE: float(sums[-1])}, {}
        sharing, pages = self._samples.take()
        return replace(
            _interval(self._last, sums, round(begin_ns), round(self.now_ns)),
            thread_events=tuple(event for part in parts for event in part.thread_events),
            sharing=sharing,
            pages=pages,
            progress=math.nan,
            runnable=self._runnable,
            ended=self.done >= self._repeats,
            overhead_ns={kind: round(ns) for kind, ns in spent_ns.items() if ns},
        )

    def _replayed(self, left_ns: float) -> Interval:
        """One look at the replay."""
        if self._last is not None and self._last.ended:
            raise SimulationError(
                f"the program ended after {self.done:.0f} repeats; expected to replay more of them"
            )
        interval = self._process.advance(max(1, round(min(left_ns, self._step_ns))))
        length_ns = interval.end_ns - interval.start_ns
        instructions = sum(each.counts["instructions"] for each in interval.samples)
        repeats = instructions / self._region
        self._course.saw(length_ns, repeats, _sums(interval), interval.runnable)
        self._samples.replayed(interval, repeats)
        self._pass(length_ns, repeats)
        self._step_ns = self._course.step_ns(self._step_ns)
        self._record = self._course.record()
        self._last = interval
        return interval

    def _played(self, record: _Record, left_ns: float) -> _Floats:
        """Counts of the time that is left, from the record."""
        done, counts = record.until(self._played_ns)
        ends_ns = record.when(done + self._repeats - self.done) if self._ends else math.inf
        until_ns = min(self._played_ns + left_ns, ends_ns)
        then, later = record.until(until_ns)
        self._samples.played(then - done)
        self._pass(until_ns - self._played_ns, then - done)
        self._played_ns = until_ns
        if until_ns == ends_ns:
            self.done = self._repeats
        return later - counts

    @property
    def _runnable(self) -> int:
        """Threads that can run now. At the ends of looks, which fall into all phases of a repeat,
        it shows how many run at a time.
        """
        if self._record is not None:
            return self._record.runnable_at(self._played_ns)
        return self._last.runnable if self._last is not None else 0

    @property
    def _ends(self) -> bool:
        return math.isfinite(self._repeats)

    def _pass(self, length_ns: float, repeats: float) -> None:
        self.now_ns += length_ns
        self.done += repeats

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Apply actions to the process, which is replayed again from there. Time that is spent
        while the record answers changes nothing else.
        """
        spent = [each for each in actions if isinstance(each, SpendTime)]
        if self._record is None or not spent:
            return self._applied(actions)
        assert self._last is not None
        for each in spent:
            self._spend({each.kind: each.duration_ns})
            self.now_ns += each.duration_ns / len(self._last.samples)
        others = [each for each in actions if not isinstance(each, SpendTime)]
        outcome = self._applied(others)
        return replace(outcome, done=outcome.done + len(spent))

    def _spend(self, spent_ns: Mapping[str, int]) -> None:
        for kind, ns in spent_ns.items():
            self._spent_ns[kind] = self._spent_ns.get(kind, 0) + ns

    def _applied(self, actions: Sequence[Action]) -> Outcome:
        outcome = self._process.apply(actions)
        if any(isinstance(each, MovePages) and each.thread is None for each in actions):
            self.unpaid_pages += outcome.done
        if outcome.done:
            self._course, self._record, self._played_ns = _Course(), None, 0.0
            self._samples.moved()
        return outcome

    def memory(self) -> MemoryByNode | None:
        """Memory of the process."""
        return self._process.memory()

    def pages_on(self, node: int) -> Iterator[Sequence[int]]:
        """Pages of the process on a node."""
        return self._process.pages_on(node)

    def lasting(self) -> Lasting:
        """Replay until the record answers: the time course of a run in which nothing moves."""
        while self._record is None:
            self._replayed(math.inf)
        return Lasting(self.done, self.now_ns / 1e9, self.repeat_ns / 1e9)


def region_of(process: ShowsMemory) -> float:
    """Instructions of a process of one repeat, all threads together."""
    instructions = 0
    while True:
        interval = process.advance(_FIRST_NS)
        instructions += sum(each.counts["instructions"] for each in interval.samples)
        if interval.ended:
            return float(instructions)


def _sums(interval: Interval) -> _Floats:
    """Counts, [threads x counters]; lines read, [threads x nodes] or none; joules, and those of the
    memory; and the time that samples take.
    """
    counts = [count for each in interval.samples for count in each.counts.values()]
    reads = [lines for each in interval.reads_by_node for lines in each]
    last = interval.energy_j, interval.dram_energy_j, interval.overhead_ns.get(SAMPLE, 0)
    return np.array([*counts, *reads, *last], dtype=float)


def _interval(like: Interval, sums: _Floats, start_ns: int, end_ns: int) -> Interval:
    """An interval of the same threads and counters with these `_sums`."""
    length_ns, threads = end_ns - start_ns, len(like.samples)
    counted = sum(len(each.counts) for each in like.samples)
    energy_j, dram_energy_j = sums[-3:-1].tolist()
    samples = (
        replace(
            each,
            start_ns=start_ns,
            end_ns=end_ns,
            counts=dict(zip(each.counts, row, strict=True)),
            enabled_ns=length_ns,
            running_ns=length_ns,
        )
        for each, row in zip(like.samples, _rows(sums[:counted], threads), strict=True)
    )
    reads = _rows(sums[counted:-3], threads) if like.reads_by_node else []
    return replace(
        like,
        start_ns=start_ns,
        end_ns=end_ns,
        samples=tuple(samples),
        reads_by_node=tuple(map(tuple, reads)),
        energy_j=energy_j,
        dram_energy_j=dram_energy_j,
    )


def _rows(sums: _Floats, threads: int) -> list[list[int]]:
    rows: list[list[int]] = (
        np.maximum(np.rint(sums.reshape(threads, -1)), 0).astype(np.int64).tolist()
    )
    return rows
