"""A replay without a machine: only the order that a trace asks for, under random schedules.

Under every schedule, a trace of a program that ended must replay to its end.
"""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import numpy as np

ACCESS, LOCK, UNLOCK, BARRIER, POST, AWAIT, UNIT_BEGIN, UNIT_END = range(8)
ROI_BEGIN, ROI_END, THREAD_BEGIN, THREAD_END, COMPUTE, HEARTBEAT = range(8, 14)
SHARED = 1  # aux of a reader's lock
NAMES = (
    *("access", "lock", "unlock", "barrier", "post", "await", "unit_begin", "unit_end"),
    *("roi_begin", "roi_end", "thread_begin", "thread_end", "compute", "heartbeat"),
)


def synchronisation(trace: Any, stream: int) -> list[tuple[int, int, int]]:
    """(kind, value, aux) of the events of a stream, without its accesses."""
    events = trace.events(stream)
    chosen = events[np.isin(events["kind"], (ACCESS, COMPUTE), invert=True)]
    return [(int(e["kind"]), int(e["value"]), int(e["aux"])) for e in chosen]


def needs_of_locks(events: list[tuple[int, int, int]]) -> dict[int, set[int]]:
    """By lock event: the tokens that its section awaits before it posts any. The lock is not taken
    before these tokens are posted.
    """
    needs: dict[int, set[int]] = {}
    open_locks: list[tuple[int, int, bool]] = []  # event, object, whether something was posted
    for number, (kind, value, _) in enumerate(events):
        if kind == LOCK:
            open_locks.append((number, value, False))
        elif kind == POST:
            open_locks = [(event, lock, True) for event, lock, _ in open_locks]
        elif kind == AWAIT:
            for event, _, posted in open_locks:
                if not posted:
                    needs.setdefault(event, set()).add(value)
        elif kind == UNLOCK:
            inner = next(o for o in reversed(open_locks) if o[1] == value)
            open_locks.remove(inner)
    return needs


def replay(trace: Any, schedules: int) -> None:
    """Replay under so many random schedules; AssertionError names the events that block one."""
    streams = [synchronisation(trace, i) for i in range(trace.streams)]
    needs = [needs_of_locks(events) for events in streams]
    for seed in range(schedules):
        _replay(streams, needs, random.Random(seed))


def _replay(
    streams: list[list[tuple[int, int, int]]],
    needs: list[dict[int, set[int]]],
    rng: random.Random,
) -> None:
    at = [0] * len(streams)
    posted: set[int] = set()
    holder: dict[int, int] = {}
    readers: dict[int, list[int]] = defaultdict(list)
    arrived: dict[int, list[int]] = defaultdict(list)
    passed: set[tuple[int, int]] = set()

    def can(i: int) -> bool:
        kind, value, aux = streams[i][at[i]]
        if kind == AWAIT:
            return value in posted
        if kind == LOCK:
            if not needs[i].get(at[i], set()) <= posted:
                return False
            return holder.get(value) is None and (aux == SHARED or not readers[value])
        if kind == BARRIER:
            if (i, at[i]) not in passed:
                if i not in arrived[value]:
                    arrived[value].append(i)
                if len(arrived[value]) == aux:
                    passed.update((j, at[j]) for j in arrived[value])
                    arrived[value].clear()
            return (i, at[i]) in passed
        return True

    def do(i: int) -> None:
        kind, value, aux = streams[i][at[i]]
        if kind == POST:
            assert value not in posted, f"token {value} is posted twice"
            posted.add(value)
        elif kind == LOCK and aux == SHARED:
            readers[value].append(i)
        elif kind == LOCK:
            holder[value] = i
        elif kind == UNLOCK and i in readers[value]:
            readers[value].remove(i)
        elif kind == UNLOCK:
            assert holder.get(value) == i, f"stream {i} unlocks {value}, which it does not hold"
            holder[value] = None  # type: ignore[assignment]
        at[i] += 1

    live = [i for i in range(len(streams)) if streams[i]]
    while live:
        rng.shuffle(live)
        moved = False
        for i in list(live):
            for _ in range(rng.choice((1, 1, 2, 5, 50))):
                if at[i] == len(streams[i]):
                    break
                if not can(i):
                    break
                do(i)
                moved = True
        live = [i for i in live if at[i] < len(streams[i])]
        assert moved or not live, "deadlock: " + ", ".join(
            f"stream {i} event {at[i]} {NAMES[streams[i][at[i]][0]]} {streams[i][at[i]][1:]}"
            for i in live
        )
    assert not [o for o, i in holder.items() if i is not None], "a lock is held at the end"
    assert not any(readers.values()), "a reader holds a lock at the end"
