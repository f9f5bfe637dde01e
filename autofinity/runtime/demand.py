"""Number of a program's threads that want to run at a time, which GETAFFINITY is asked for. Pure.

A pipeline has many threads that wait for each other, and a pool has more threads than are needed: a
core for each would be too many, and the promised number may be too few. In each look the number is
the largest of

- the CPU time that the threads had, or waited for, over the time of the look: the mean;
- the number of threads that were at work for most of the look: a team that meets at barriers is
  idle at times and runs all at once;
- the number of threads that could run at the end of the look: many such values find the peak.

An oscillating number gets enough room: the largest of the looks of the last seconds counts, and of
the last 32 ends of looks. Threads that meet at barriers and run all at once for an eighth of the
time are seen to do so at one of 32 ends with a probability of 0.99, and at one of four with 0.41:
so a key search was put on half of its cores every few seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

_REMEMBERED_NS = 3_000_000_000  # as long as a thread that idles counts as a worker
_FEWEST_LOOKS = 4  # that are remembered in any case
_ENDS = 32
_FEWEST_ENDS = 8  # before it is believed that threads take turns
_MOST_OF_A_LOOK = 0.5
_NEARLY_ALWAYS = 0.75  # of the time; what such a thread leaves of a core is worth little
_NEWEST = 0.3  # weight of the last look in a thread's share
_NOTHING = 0.05  # of a CPU


@dataclass(frozen=True, slots=True)
class Demand:
    """Recent looks. Start with `Demand()`."""

    looks: tuple[tuple[int, int], ...] = ()
    """(nanoseconds, threads that wanted to run at a time), oldest first."""
    ends: tuple[int, ...] = ()
    """Threads that could run at the ends of the last looks, oldest first."""
    shares: Mapping[int, float] = field(default_factory=dict)
    """Share of the time that each computing thread wanted to run, by number; the last looks count
    most."""

    def after(self, wanted: Mapping[int, float], runnable: int, elapsed_ns: int) -> Demand:
        """The record with one more look.

        `wanted` holds the share of the time that each computing thread wanted to run; `runnable`
        threads could run at the end of the look.
        """
        each = {number: min(share, 1.0) for number, share in wanted.items()}
        mean = math.ceil(math.fsum(each.values()) - _NOTHING)
        at_it = sum(share >= _MOST_OF_A_LOOK for share in each.values())
        looks = _remembered((*self.looks, (elapsed_ns, max(mean, at_it))))
        ends = (*self.ends, min(runnable, len(each)))[-_ENDS:]
        known = self.shares
        shares = {
            n: x if n not in known else known[n] + _NEWEST * (x - known[n]) for n, x in each.items()
        }
        return Demand(looks, ends, shares)

    @property
    def most(self) -> int:
        """Largest number of threads that wanted to run at a time; 0: nothing was seen."""
        return max((*(count for _, count in self.looks), *self.ends), default=0)

    @property
    def settled(self) -> bool:
        """Whether enough ends of looks were seen, where threads that can run are counted."""
        return len(self.ends) >= _FEWEST_ENDS or not any(self.ends)

    def always(self, number: int) -> bool:
        """Whether the thread hardly ever waits."""
        return self.shares.get(number, 0.0) >= _NEARLY_ALWAYS


def _remembered(looks: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    total_ns = sum(ns for ns, _ in looks)
    while len(looks) > _FEWEST_LOOKS and total_ns - looks[0][0] >= _REMEMBERED_NS:
        total_ns -= looks[0][0]
        looks = looks[1:]
    return looks
