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
from dataclasses import dataclass, replace

import numpy as np

from autofinity.evaluation.lasting_samples import SAMPLE, LastingSamples
from autofinity.evaluation.repeat_record import Course
from autofinity.mechanisms.recipe import PAGE_BYTES
from autofinity.model.errors import SimulationError
from autofinity.model.memory import MOVED_BYTES_PER_S, MemoryByNode
from autofinity.ports import Action, Interval, MovePages, Outcome, ShowsMemory, SpendTime
from autofinity.sim.likeness import Floats
from autofinity.sim.record import Record

MINUTE_S = 60.0
_FIRST_NS = 20_000
"""Length of the first look, which shows about how long a repeat takes."""


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
        self._course = Course()
        self._record: Record | None = None
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
        """Time of a repeat where threads and pages are now, until the record answers by what was
        replayed there; NaN before anything was.
        """
        record = self._record
        if record is None:
            return self._course.pace_ns
        return record.length_ns / float(record.repeats[-1])

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
        rest_ns = (self._repeats - self.done) * self._course.pace_ns if self._ends else math.nan
        step_ns = min(left_ns, self._step_ns)
        if rest_ns < step_ns:  # so that the run ends with its last repeat
            step_ns = math.ceil(rest_ns)
        interval = self._process.advance(max(1, round(step_ns)))
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

    def _played(self, record: Record, left_ns: float) -> Floats:
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
            self._course, self._record, self._played_ns = Course(), None, 0.0
            self._samples.moved()
        return outcome

    def memory(self) -> MemoryByNode | None:
        """Memory of the process."""
        return self._process.memory()

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        """Pages of the process on a node."""
        return self._process.pages_on(node, one_in)

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


def _sums(interval: Interval) -> Floats:
    """Counts, [threads x counters]; lines read, [threads x nodes] or none; joules, and those of the
    memory; and the time that samples take.
    """
    counts = [count for each in interval.samples for count in each.counts.values()]
    reads = [lines for each in interval.reads_by_node for lines in each]
    last = interval.energy_j, interval.dram_energy_j, interval.overhead_ns.get(SAMPLE, 0)
    return np.array([*counts, *reads, *last], dtype=float)


def _interval(like: Interval, sums: Floats, start_ns: int, end_ns: int) -> Interval:
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


def _rows(sums: Floats, threads: int) -> list[list[int]]:
    rows: list[list[int]] = (
        np.maximum(np.rint(sums.reshape(threads, -1)), 0).astype(np.int64).tolist()
    )
    return rows
