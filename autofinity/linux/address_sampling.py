"""Records which thread of a program accessed which address: page faults, or accesses sampled by a
PMU.

    open_touches(pid) ─► a ring for each CPU (inherited by threads and children) ─► read() ─► Touch…
    ThreadTouches ─────► a ring for each thread of a program that runs already ───► read() ─► Touch…

An inherited event can be mapped only when it belongs to one CPU (cpu -1 gives EINVAL, measured), so
there is one event for each CPU. A program that already runs would need one event for each thread
and CPU; so there each thread has its own event, not inherited, and the caller names new threads.
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
    AccessEvent,
    pmu_events,
)
from autofinity.linux.perf import enable, explain
from autofinity.linux.pmus import DEVICES
from autofinity.linux.sample_ring import SampleRing
from autofinity.linux.touches import Record, Touch
from autofinity.model.errors import CapabilityError
from autofinity.model.topology import OsIndex

_CPU_RING_BYTES: Final = 256 << 10
"""Half of what perf_event_mlock_kb allows; rings of SPE take 64 KiB more."""
_THREAD_RING_BYTES: Final = 32 << 10  # 800 records between two looks; of some 500 KiB a CPU
_ALL_RINGS_BYTES: Final = 1 << 20  # of a program's threads: they count as this process's memory
_TIME: Final[Callable[[Record], int]] = attrgetter("at_ns")


class _Ring(Protocol):
    """The records of one event."""

    fd: int
    lost: int
    """Number of records that found no room."""

    def drain(self) -> Iterator[Record]:
        """New records since the last call; those of one thread are in order of time."""
        ...

    def close(self) -> None:
        """Close the ring."""
        ...


class TouchSampler:
    """Open rings. Close the sampler after use."""

    def __init__(self, rings: Iterable[_Ring]) -> None:
        self._rings = tuple(rings)
        self._poll = select.poll()
        for ring in self._rings:
            self._poll.register(ring.fd, select.POLLIN)

    @property
    def lost(self) -> int:
        """Number of records that found no room in the rings."""
        return sum(ring.lost for ring in self._rings)

    def wait(self, milliseconds: int) -> None:
        """Wait until a ring is half full, or the time has passed."""
        self._poll.poll(milliseconds)

    def read(self) -> list[Record]:
        """New records since the last call, in order of time."""
        return sorted(chain.from_iterable(ring.drain() for ring in self._rings), key=_TIME)

    def close(self) -> None:
        """Close the rings."""
        for ring in self._rings:
            ring.close()


def open_touches(pid: int, cpus: Iterable[int], events: Sequence[AccessEvent]) -> TouchSampler:
    """Record the accesses of process `pid` from its next exec on. Raises `CapabilityError`."""
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
    """Accesses of threads that already run, each from the moment it is first named. Close after
    use.
    """

    def __init__(self, events: Sequence[AccessEvent]) -> None:
        self._events = tuple(events)
        self._rings: dict[int, list[_Ring]] = {}
        self._lost = 0  # of threads that are no longer followed

    @property
    def lost(self) -> int:
        """Number of records that found no room in the rings."""
        return self._lost + sum(ring.lost for rings in self._rings.values() for ring in rings)

    def follow(self, tids: Iterable[int]) -> None:
        """Record the accesses of these threads, and of no others.

        A thread that has ended is ignored, and one that may not be sampled where others may (of a
        setuid program). Raises `CapabilityError` when threads cannot be sampled.
        """
        wanted = set(tids)
        for tid in [tid for tid in self._rings if tid not in wanted]:
            for ring in self._rings.pop(tid):
                self._lost += ring.lost
                ring.close()
        ring_bytes = _THREAD_RING_BYTES
        while ring_bytes * len(wanted) > _ALL_RINGS_BYTES:
            ring_bytes //= 2
        refusal: CapabilityError | None = None
        for tid in wanted - self._rings.keys():
            rings = self._rings[tid] = []
            try:
                for event in self._events:
                    rings += _open(event, tid, _share(ring_bytes, self._events))
            except CapabilityError as error:
                if getattr(error.__cause__, "errno", 0) != errno.EACCES:
                    raise
                refusal = error
        if refusal is not None and not any(self._rings.values()):
            raise refusal

    def read(self) -> Iterator[Touch]:
        """New records since the last call, in order of time; they are never all in memory."""
        each = (ring.drain() for rings in self._rings.values() for ring in rings)
        return (record for record in merge(*each, key=_TIME) if isinstance(record, Touch))

    def close(self) -> None:
        """Close the rings."""
        self.follow(())


def usable_events(devices: Path = DEVICES) -> tuple[tuple[AccessEvent, ...], str]:
    """Events of the PMU and "", if the kernel permits them; else no events, and the reason."""
    events = pmu_events(devices)
    why_not = refusal(events)
    return ((), why_not) if why_not else (events, "")


def refusal(events: Sequence[AccessEvent]) -> str:
    """Reason why accesses cannot be sampled by these PMU events; empty: they can."""
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
    """Rings of an event, which records from now on, or with `following` from the next exec on.

    Empty when the thread has ended. Raises `CapabilityError`.
    """
    try:
        # The kernel limits the value to the ring's size: SPE's is smaller, and its area wakes, too.
        wake_bytes = ring_bytes // 2 if following else 0
        fd = event.open(tid, cpu=cpu, following=following, wake_bytes=wake_bytes)
        ring = _spe_ring(fd, ring_bytes) if event.spe else SampleRing(fd, ring_bytes)
    except OSError as error:
        if error.errno == errno.ESRCH:
            return []
        raise _refused(event, explain(error.errno or 0)) from error
    except CapabilityError as error:
        raise _refused(event, str(error)) from error
    if not following:
        enable(fd)
    return [ring]


def _spe_ring(fd: int, ring_bytes: int) -> _Ring:
    from autofinity.linux.spe_ring import SpeRing  # few machines have SPE

    return SpeRing(fd, ring_bytes)


def _share(ring_bytes: int, events: Sequence[AccessEvent]) -> int:
    """Ring size of each event, so that all events together lock no more than `ring_bytes`.

    Both sizes are powers of two.
    """
    return ring_bytes >> (len(events) - 1).bit_length()


def _refused(event: AccessEvent, why: str) -> CapabilityError:
    return CapabilityError(f"{event.name} are not recorded: {why}")
