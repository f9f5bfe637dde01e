"""Whether a replay that starts from a private stage says what a replay of every access says.

    |staged - full| ≤ share · most + 3 · √(clump · most) + accesses / 100,000

`most` is the larger count. Single events scatter like a Poisson count, and more where they come in
clumps: a line moves 72 bytes on a link, and of threads that read the same pages, the one that is
ahead by a clock fetches all the lines of a page from memory for the others. An event in 100,000
accesses is nothing either way. Clocks that are no `cycles` are shares of the threads' time, running
or not: where threads hardly wait, a per cent of what they wait is nothing of their time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autofinity.sim.result import EVENT_INDEX

CYCLES_SHARE = 0.02
COUNTER_SHARE = 0.05

_DEVIATIONS = 3
_RARE = 1e-5  # events an access
_CLUMPS = {
    "link_bytes": 72,
    "link_request_bytes": 8,
    "dram_reads_local": 64,
    "dram_reads_remote": 64,
}
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

type Totals = npt.NDArray[np.uint64]
"""Counts of a run, [streams, events] or [events]."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Of one counter, beyond what scatters."""

    event: str
    full: int
    staged: int
    share: float
    """Of the larger count (clocks: of the threads' time) that the difference exceeds noise by."""

    @property
    def used(self) -> float:
        """Share of what is allowed; more than 1 is too far off."""
        return self.share / (CYCLES_SHARE if self.event == "cycles" else COUNTER_SHARE)

    def __str__(self) -> str:
        return f"{self.event} {self.staged} instead of {self.full}"


def farthest_off(full: Totals, staged: Totals) -> Difference:
    """The counter that uses most of what is allowed; sums over the streams are compared."""
    return max(differences(full, staged), key=lambda each: each.used)


def differences(full: Totals, staged: Totals) -> list[Difference]:
    """Of every counter."""
    sums = np.atleast_2d(full).sum(axis=0), np.atleast_2d(staged).sum(axis=0)
    count = {event: (int(sums[0][i]), int(sums[1][i])) for event, i in EVENT_INDEX.items()}
    thread_clocks = sum(count[event][0] for event in ("cycles", "cpu_clocks_halted"))
    rare = _RARE * count["data_cache_accesses"][0]
    found = []
    for event, (a, b) in count.items():
        most = max(a, b, 1)
        noise = _DEVIATIONS * (most * _CLUMPS.get(event, 1)) ** 0.5 + rare
        of = max(most, thread_clocks) if event in _CLOCKS else most
        found.append(Difference(event, a, b, max(0.0, abs(a - b) - noise) / of))
    return found
