"""Looks at a run, each with the counts of its threads, and a record of them that stays small.

A run of any length has at most 64 looks on record, or as many as were asked for: of neighbours
between which no thread was moved, the two that last shortest become one, with the sum of their
counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from autofinity.model.reads_by_node import is_by_node
from autofinity.model.timeline import TimelineStep
from autofinity.ports import Interval

MOST_LOOKS = 64
MOST_THREADS = 64
"""Threads on record: those with the smallest numbers, by creation."""
KEPT = (
    *("instructions", "task_clock_ns", "run_delay_ns"),
    *("dram_reads_local", "dram_reads_remote", "llc_misses"),
)
"""Counts on record, where they are measured; reads by node, too."""


def look_of(alive: tuple[tuple[int, int], ...], interval: Interval) -> TimelineStep:
    """One look. `alive` are (number, tid) of the threads that were alive before it."""
    numbers = {tid: number for number, tid in alive}
    numbers |= {each.tid: each.thread for each in interval.thread_events if each.kind == "begin"}
    return TimelineStep(
        interval.start_ns,
        interval.end_ns,
        {
            numbers[sample.tid]: {name: sample.scaled(name) for name in sample.counts}
            for sample in interval.samples
            if sample.tid in numbers
        },
        {number: cpu for number, cpu in enumerate(interval.cpus) if cpu >= 0},
    )


class LookSeries:
    """The looks of one run."""

    def __init__(self, most: int = MOST_LOOKS, kept: Sequence[str] = KEPT) -> None:
        """At most `most` looks are on record, with the counts in `kept` and the reads by node."""
        self._most = most
        self._kept = frozenset(kept)
        self._looks: list[TimelineStep] = []
        self._in_place = 0

    def add(self, look: TimelineStep, place: str) -> None:
        """Add the next look, in which the threads were at `place`."""
        counts = {
            number: {
                name: count
                for name, count in counts.items()
                if name in self._kept or is_by_node(name)
            }
            for number, counts in sorted(look.counts.items())[:MOST_THREADS]
        }
        moved = bool(self._looks) and self._looks[-1].place != place
        self._in_place = 1 if moved else self._in_place + 1
        self._looks.append(replace(look, counts=counts, cpus={}, place=place))
        if len(self._looks) > self._most:
            self._merge()

    @property
    def is_due(self) -> bool:
        """Whether the record is to be written: at the 1st, 2nd, 4th, 8th … 64th look in a place,
        then at every 64th.

        So readers see each change of place at once, and at any time at least half of the looks in
        the present place, or all but the latest 63.
        """
        looks = self._in_place
        return looks > 0 and (looks & (looks - 1) == 0 or looks % MOST_LOOKS == 0)

    def looks(self) -> tuple[TimelineStep, ...]:
        """All looks on record, in order of time."""
        return tuple(self._looks)

    def _merge(self) -> None:
        pairs = range(1, len(self._looks))
        alike = [at for at in pairs if self._looks[at - 1].place == self._looks[at].place]
        at = min(
            alike or pairs, key=lambda at: self._looks[at].end_ns - self._looks[at - 1].start_ns
        )
        self._looks[at - 1 : at + 1] = [_together(self._looks[at - 1], self._looks[at])]


def _together(first: TimelineStep, second: TimelineStep) -> TimelineStep:
    numbers = first.counts.keys() | second.counts.keys()
    counts = {
        number: _sum(first.counts.get(number, {}), second.counts.get(number, {}))
        for number in sorted(numbers)[:MOST_THREADS]
    }
    return replace(second, start_ns=first.start_ns, counts=counts)


def _sum(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Sums by name; a thread that was not there counted nothing."""
    return {name: first.get(name, 0.0) + second.get(name, 0.0) for name in {**first, **second}}
