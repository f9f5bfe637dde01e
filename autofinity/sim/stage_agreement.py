"""Whether a replay that starts from a private stage says what a replay of every access says.

What counts often, a thousand events or a hundredth of the threads' time, has to agree as it was
counted: cycles within 2 %, every counter within 5 %. Only waits may differ by a wake-up of every
thread besides: one that is a clock longer than threads spin costs it. Of all counters

    |staged - full| ≤ share · most + 3 · √(clump · most) + accesses / 100,000

holds, where `most` is the larger count. Single events scatter like a Poisson count, and more where
they come in clumps: a line moves 72 bytes on a link, and of threads that read the same pages, the
one that is ahead by a clock fetches all the lines of a page from memory for the others. An event in
100,000 accesses is nothing either way. Clocks that are no `cycles` are shares of the threads' time,
running or not: where threads hardly wait, a per cent of what they wait is nothing of their time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autofinity.sim.result import EVENT_INDEX

CYCLES_SHARE = 0.02
COUNTER_SHARE = 0.05
CLOCKS_AHEAD = 10
"""By which cores run ahead of each other in a full stream that tells what the order of races alone
decides: less than it takes a line to come from any other core."""

MANY = 1000
"""Events, or messages where bytes are counted: such a counter agrees as it was counted."""

_LONG = 0.01
"""Of the threads' time: so do clocks from here on."""
_DEVIATIONS = 3
_RARE = 1e-5  # events an access
_MESSAGES = {"link_bytes": 72, "link_request_bytes": 8}
"""Bytes that come at once, where bytes are counted."""
_CLUMPS = {**_MESSAGES, "dram_reads_local": 64, "dram_reads_remote": 64}
"""How many come at once."""
_CLOCKS = frozenset(
    {
        "cpu_clocks_halted",
        "memory_queue_clocks",
        "link_queue_clocks",
        "stall_cycles_memory",
        "stall_cycles_sync",
    }
)
"""Events that count clocks, but `cycles`."""
_WAITS = frozenset({"cpu_clocks_halted", "stall_cycles_sync"})

type Totals = npt.NDArray[np.uint64]
"""Counts of a run, [streams, events] or [events]."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Of one counter."""

    event: str
    full: int
    staged: int
    share: float
    """Of the larger count (clocks: of the threads' time) that the difference exceeds noise by, or
    of the full count where it counts often."""

    @property
    def used(self) -> float:
        """Share of what is allowed; more than 1 is too far off."""
        return self.share / (CYCLES_SHARE if self.event == "cycles" else COUNTER_SHARE)

    def __str__(self) -> str:
        return f"{self.event} {self.staged} instead of {self.full}"


class ByRaces(Difference):
    """Of the full stream itself, whose cores run ahead of each other in what is `staged` here."""

    __slots__ = ()

    @staticmethod
    def of(moved: Difference) -> ByRaces:
        """That a counter moved so means this."""
        return ByRaces(moved.event, moved.full, moved.staged, moved.share)


def farthest_off(full: Totals, staged: Totals) -> Difference:
    """The counter that uses most of what is allowed; sums over the streams are compared."""
    return max(differences(full, staged), key=lambda each: each.used)


def counted_often(full: Totals, staged: Totals, wake_clocks: float) -> list[Difference]:
    """Of the counters that count often: shares of the full count, whatever scatters.

    Args:
        full: counts of a replay of every access.
        staged: of one that starts from the stage.
        wake_clocks: what a wake-up of every thread takes, in clocks of all threads together.

    """
    count = _sums(full, staged)
    long = _LONG * _thread_clocks(count)
    found = []
    for event, (a, b) in count.items():
        if a == 0 or a < (long if event in _CLOCKS else MANY * _MESSAGES.get(event, 1)):
            continue
        off = max(0.0, abs(a - b) - (wake_clocks if event in _WAITS else 0.0))
        found.append(Difference(event, a, b, off / a))
    return found


def differences(full: Totals, staged: Totals) -> list[Difference]:
    """Of every counter, beyond what scatters."""
    count = _sums(full, staged)
    thread_clocks = _thread_clocks(count)
    rare = _RARE * count["data_cache_accesses"][0]
    found = []
    for event, (a, b) in count.items():
        most = max(a, b, 1)
        noise = _DEVIATIONS * (most * _CLUMPS.get(event, 1)) ** 0.5 + rare
        of = max(most, thread_clocks) if event in _CLOCKS else most
        found.append(Difference(event, a, b, max(0.0, abs(a - b) - noise) / of))
    return found


def _sums(full: Totals, staged: Totals) -> dict[str, tuple[int, int]]:
    """Of every event, over the streams: full and staged."""
    sums = np.atleast_2d(full).sum(axis=0), np.atleast_2d(staged).sum(axis=0)
    return {event: (int(sums[0][i]), int(sums[1][i])) for event, i in EVENT_INDEX.items()}


def _thread_clocks(count: dict[str, tuple[int, int]]) -> int:
    """Of the full stream, running or not."""
    return sum(count[event][0] for event in ("cycles", "cpu_clocks_halted"))
