"""A recipe's view of a running program: the threads that compute, numbered from 0, and the sharing
among these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autofinity.mechanisms.recipe import NS_PER_S
from autofinity.model.counters import CounterSample
from autofinity.model.sharing import SharingMatrix
from autofinity.ports import Interval, ThreadEvent
from autofinity.runtime.workers import Workers

CLOCK_HZ = 1e9
"""Where nobody counts cycles, a nanosecond on a CPU stands for one."""
_FEWEST_EVENTS = 4  # of sharing, a thread


def narrowed(
    workers: Workers, computing: Sequence[int], interval: Interval, *, begins: bool
) -> Interval:
    """The interval as threads `computing`, in this order, have seen it; they have begun in it where
    the recipe `begins`.
    """
    tids = dict(workers.alive)
    began = tuple(
        ThreadEvent("begin", thread, tids[number], interval.start_ns)
        for thread, number in enumerate(computing)
        if begins
    )
    cpus = interval.cpus
    return replace(
        interval,
        samples=tuple(_complete(s) for s in interval.samples if s.tid in workers.tids),
        thread_events=began,
        sharing=_among(interval.sharing, computing),
        cpus=tuple(cpus[number] for number in computing) if cpus else (),
    )


def is_believed(sharing: SharingMatrix) -> bool:
    """Whether enough was seen for a recipe to look at. On a simulated machine pages fault thousands
    of times before the first look; a kernel takes them away once a second or less, and a lone page
    of a library, which is everybody's, would deal out the seats.
    """
    return sum(map(sum, sharing.cells)) >= _FEWEST_EVENTS * sharing.threads


def _among(sharing: SharingMatrix | None, computing: Sequence[int]) -> SharingMatrix | None:
    if sharing is None:
        return None
    cells = sharing.cells
    known = len(cells)
    return SharingMatrix(
        tuple(
            tuple(cells[i][j] if max(i, j) < known else 0.0 for j in computing) for i in computing
        )
    )


def _complete(sample: CounterSample) -> CounterSample:
    """With what recipes count on and a machine without a PMU does not count: time on a CPU for
    cycles, and no read of remote memory, so that no page is moved on account of one.
    """
    busy = sample.counts.get("task_clock_ns", 0) * CLOCK_HZ / NS_PER_S
    counts = {"cycles": round(busy), "dram_reads_remote": 0, **sample.counts}
    return replace(sample, counts=counts)
