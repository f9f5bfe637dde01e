"""Which thread of a program was at which address: page faults, or accesses that a PMU samples.

    open_touches(pid) ─► a ring for each CPU (inherited by threads and children) ─► read() ─► Touch…
    ThreadTouches ─────► a ring for each thread of a program that runs already ───► read() ─► Touch…

An inherited event can be mapped only when it belongs to one CPU (cpu -1 gives EINVAL, measured), so
there is one a CPU. What runs already would need one for each thread and CPU; so there each thread
has its own, not inherited, and who looks after the program tells of new threads.
Source: perf_event_open(2).
"""

from __future__ import annotations

import errno
import select
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Final, Protocol

from autofinity.linux.access_events import (
    NO_ACCESS_PMU,
    PAGE_FAULTS,
    AccessEvent,
    pmu_events,
)
from autofinity.linux.perf import enable, explain
from autofinity.linux.pmus import DEVICES
from autofinity.linux.sample_ring import SampleRing
from autofinity.linux.spe_ring import SpeRing
from autofinity.linux.touches import Record, Touch
from autofinity.model.errors import CapabilityError
from autofinity.model.topology import OsIndex

_CPU_RING_BYTES: Final = 256 << 10
"""Half of what perf_event_mlock_kb allows; those of SPE take 64 KiB more."""
_THREAD_RING_BYTES: Final = 32 << 10  # 800 records between two looks; of some 500 KiB a CPU
_ALL_RINGS_BYTES: Final = 1 << 20  # of the threads of a program, for they count as ours
_TIME: Final[Callable[[Record], int]] = attrgetter("at_ns")


class _Ring(Protocol):
    """The records of one event."""

    fd: int
    lost: int
    """Records that there was no room for."""

    def drain(self) -> Iterator[Record]:
        """What has come until now, and was not yet told; that of one thread in order of time."""
        ...

    def close(self) -> None:
        """Give it back to the kernel."""
        ...


class TouchSampler:
    """Open rings. Close it."""

    def __init__(self, rings: Iterable[_Ring]) -> None:
        self._rings = tuple(rings)
        self._poll = select.poll()
        for ring in self._rings:
            self._poll.register(ring.fd, select.POLLIN)

    @property
    def lost(self) -> int:
        """Records that the rings had no room for."""
        return sum(ring.lost for ring in self._rings)

    def wait(self, milliseconds: int) -> None:
        """Until a ring is half full, or the time has passed."""
        self._poll.poll(milliseconds)

    def read(self) -> list[Record]:
        """What has come since the last call, in order of time."""
        return sorted(chain.from_iterable(ring.drain() for ring in self._rings), key=_TIME)

    def close(self) -> None:
        """Give the rings back."""
        for ring in self._rings:
            ring.close()


def open_touches(
    pid: int, cpus: Iterable[int], events: Sequence[AccessEvent] = (PAGE_FAULTS,)
) -> TouchSampler:
    """Record those of process `pid` from its next exec on. Raises `CapabilityError`."""
    rings: list[_Ring] = []
    try:
        for cpu in sorted(map(OsIndex, cpus)):
            here = [event for event in events if event.cpus is None or cpu in event.cpus]
            for event in here:
                rings += _open(event, pid, _share(_CPU_RING_BYTES, here), cpu=cpu, following=True)
    except CapabilityError:
        TouchSampler(rings).close()
        raise
    return TouchSampler(rings)


class ThreadTouches:
    """Those of threads that run already, from the moment each is first named. Close it."""

    def __init__(self, events: Sequence[AccessEvent] = (PAGE_FAULTS,)) -> None:
        self._events = tuple(events)
        self._rings: dict[int, list[_Ring]] = {}
        self._lost = 0  # of threads that are not followed any more

    @property
    def lost(self) -> int:
        """Records that the rings had no room for."""
        return self._lost + sum(ring.lost for rings in self._rings.values() for ring in rings)

    def follow(self, tids: Iterable[int]) -> None:
        """Record those of these threads, and of no others any more. A thread that has ended is
        nobody's loss. Raises `CapabilityError` when one cannot be sampled.
        """
        wanted = set(tids)
        for tid in [tid for tid in self._rings if tid not in wanted]:
            for ring in self._rings.pop(tid):
                self._lost += ring.lost
                ring.close()
        ring_bytes = _THREAD_RING_BYTES
        while ring_bytes * len(wanted) > _ALL_RINGS_BYTES:
            ring_bytes //= 2
        for tid in wanted - self._rings.keys():
            rings = self._rings[tid] = []
            for event in self._events:
                rings += _open(event, tid, _share(ring_bytes, self._events))

    def read(self) -> Iterator[Touch]:
        """What has come since the last call, in order of time; it is never in memory as a whole."""
        each = (ring.drain() for rings in self._rings.values() for ring in rings)
        return (record for record in merge(*each, key=_TIME) if isinstance(record, Touch))

    def close(self) -> None:
        """Give the rings back."""
        self.follow(())


def usable_events(devices: Path = DEVICES) -> tuple[tuple[AccessEvent, ...], str]:
    """The PMU's events, if the kernel lets us have them; else none, and why."""
    events = pmu_events(devices)
    why_not = refusal(events)
    return ((), why_not) if why_not else (events, "")


def refusal(events: Sequence[AccessEvent]) -> str:
    """Why accesses cannot be sampled by these events of PMUs; empty: they can."""
    if not events:
        return NO_ACCESS_PMU
    ours = ThreadTouches(events)
    try:
        ours.follow([0])
    except CapabilityError as error:
        return str(error)
    finally:
        ours.close()
    return ""


def _open(
    event: AccessEvent, tid: int, ring_bytes: int, *, cpu: int = -1, following: bool = False
) -> list[_Ring]:
    """The ring of an event, which records from now on, or when `following` from the next exec on.
    None when the thread has ended. Raises `CapabilityError`.
    """
    try:
        # The kernel cuts it to what a ring holds: that of SPE is smaller, and its area wakes, too.
        wake_bytes = ring_bytes // 2 if following else 0
        fd = event.open(tid, cpu=cpu, following=following, wake_bytes=wake_bytes)
        ring = SpeRing(fd, ring_bytes) if event.spe else SampleRing(fd, ring_bytes)
    except OSError as error:
        if error.errno == errno.ESRCH:
            return []
        raise _refused(event, explain(error.errno or 0)) from error
    except CapabilityError as error:
        raise _refused(event, str(error)) from error
    if not following:
        enable(fd)
    return [ring]


def _share(ring_bytes: int, events: Sequence[AccessEvent]) -> int:
    """Of each event, that all of them lock no more; a power of two, as `ring_bytes`."""
    return ring_bytes >> (len(events) - 1).bit_length()


def _refused(event: AccessEvent, why: str) -> CapabilityError:
    return CapabilityError(f"{event.name} are not recorded: {why}")
