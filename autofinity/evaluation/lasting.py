"""Runs that stand for a minute: a region of interest is repeated, and only the repeats that differ
from later ones are replayed.

    (a first repeat, cold) ─► repeats with decisions ─ one more repeat ═══ the rest

A region of the training programs takes a millisecond to a tenth of a second, and a minute of it is
hours of simulating. The work of a program repeats. So after the last decision each repeat takes as
long as the one before, and the rest of the minute is a multiple of that time.

A minute is shortened, too: times of the mechanism are scaled (`mechanism_run`), so that the looks
of a minute are few repeats apart. The cost of a move is not scaled, and weighs more by this factor
than in a minute of that very program: it is the cost for a program with more memory and cache by
this factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from autofinity.mechanisms.recipe import PAGE_BYTES
from autofinity.model.counters import Behaviour
from autofinity.model.memory import MemoryByNode
from autofinity.ports import Action, Interval, MovePages, Outcome, ShowsMemory, ThreadEvent
from autofinity.profiling.sampling import behaviour_of

MINUTE_S = 60.0
_LOOKS = 24
"""Number of looks at a repeat that is timed."""
_LOOK_NS = 20_000
_FIRST_NS = 20_000
"""Time of the first look, which shows about how long a repeat takes."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """Time course of a run of many repeats."""

    done: float
    """Number of repeats that were replayed."""
    done_s: float
    """Time of the replayed repeats."""
    repeat_s: float
    """Time of each later repeat."""

    def time_s(self, repeats: float) -> float:
        """Time of `repeats` repeats."""
        return self.done_s + (repeats - self.done) * self.repeat_s


@dataclass
class Watched:
    """A process of many repeats that is watched as long as anything changes.

    A loop over the process ends as soon as `final` is set; the process goes on for `to_the_end`.
    """

    process: ShowsMemory
    region: float
    """Instructions of a repeat, all threads together; 1 while unknown, for a process that is
    watched to its end (`whole`)."""
    final: bool = False
    progress: list[float] = field(default_factory=lambda: [0.0])
    """Number of repeats done: at the beginning, and after each look."""
    at_ns: list[float] = field(default_factory=lambda: [0.0])
    """Times of these numbers, from the beginning."""
    intervals: list[Interval] = field(default_factory=list)
    """Looks at the repeat that was timed last."""
    ended: bool = False
    begin_ns: int = -1
    repeat_ns: float = 0.0
    """Time of the repeat that was timed last."""
    moved_bytes: int = 0
    _instructions: int = 0
    _unseen: tuple[ThreadEvent, ...] = ()

    def advance(self, duration_ns: int) -> Interval:
        """Advance the process and record its interval."""
        interval = self.process.advance(duration_ns)
        if self.begin_ns < 0:
            self.begin_ns = interval.start_ns
        self._instructions += sum(each.counts["instructions"] for each in interval.samples)
        self.progress.append(self._instructions / self.region)
        self.at_ns.append(float(interval.end_ns - self.begin_ns))
        self.ended = interval.ended
        self.intervals.append(interval)
        events, self._unseen = (*self._unseen, *interval.thread_events), ()
        return replace(interval, thread_events=events, ended=interval.ended or self.final)

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Apply actions to the process, and count the bytes of moved pages.

        The simulated machine copies pages in no time, if not on a core of the program.
        """
        outcome = self.process.apply(actions)
        if any(isinstance(action, MovePages) for action in actions):
            self.moved_bytes += PAGE_BYTES * outcome.done
        return outcome

    def memory(self) -> MemoryByNode | None:
        """Memory of the process."""
        return self.process.memory()

    def pages_on(self, node: int) -> Iterator[Sequence[int]]:
        """Pages of the process on a node."""
        return self.process.pages_on(node)

    @classmethod
    def whole(cls, process: ShowsMemory, repeats: int) -> Watched:
        """Watch the process to its end, after `repeats` repeats, which gives the instructions of a
        repeat.
        """
        seen = cls(process, 1.0)
        while not seen.ended:
            seen.advance(_LOOK_NS)
        seen.region = seen._instructions / repeats
        seen.progress = [done / seen.region for done in seen.progress]
        return seen

    def begin(self) -> None:
        """Run the first, cold repeat, which does not count.

        The repeat takes less time than a look of an unshortened minute, and is a thousandth of that
        minute. The next look reports the beginnings of its threads.
        """
        self._to(1.0)
        self._unseen = tuple(event for each in self.intervals for event in each.thread_events)
        self.begin_ns = self.intervals[-1].end_ns
        self.intervals.clear()
        self.progress, self.at_ns, self._instructions = [0.0], [0.0], 0

    def to_the_end(self, timed: int = 1, cold: int = 0) -> Lasting:
        """Replay `cold` more repeats, in which caches fill, and `timed` ones; the others are
        assumed equal to these.
        """
        self._to(self.progress[-1] + cold)
        start = self.progress[-1]
        self.intervals.clear()
        self._to(start + timed)
        last = min(start + timed, self.progress[-1])
        begin_ns, end_ns = self.when(start), self.when(last)
        # A run that ended before has no further repeat: its mean is that of all its repeats.
        self.repeat_ns = (end_ns - begin_ns) / (last - start) if last > start else end_ns / last
        return Lasting(last, end_ns / 1e9, self.repeat_ns / 1e9)

    def behaviour(self, threads: int) -> Behaviour:
        """Rates of the repeat that was timed last."""
        first, last = self.intervals[0], self.intervals[-1]
        samples = tuple(sample for each in self.intervals for sample in each.samples)
        return behaviour_of(Interval(first.start_ns, last.end_ns, samples), threads)

    def when(self, repeats_done: float) -> float:
        """Nanoseconds from the beginning, with even progress assumed between two looks."""
        return float(np.interp(repeats_done, self.progress, self.at_ns))

    def steady_ns(self, begin: float, end: float) -> float:
        """Time of the work between two numbers of repeats at the pace of the last repeat.

        The time is computed part by part: parts of a region have different paces. Call this after
        `to_the_end`.
        """
        last = self.progress[-1]

        def since(done: float) -> float:
            behind = math.floor(last - done)
            return self.when(done + behind) - behind * self.repeat_ns

        return since(end) - since(begin)

    def _to(self, repeats_done: float) -> None:
        while not self.ended and self.progress[-1] < repeats_done:
            done, at_ns = self.progress[-1], self.at_ns[-1]
            about_ns = at_ns / done if done > 0 else _FIRST_NS * _LOOKS
            self.advance(max(1000, round(about_ns / _LOOKS)))
