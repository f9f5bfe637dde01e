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
import mmap
import os
import select
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from autofinity.linux.access_events import PAGE_FAULTS, AccessEvent
from autofinity.linux.perf import explain
from autofinity.model.errors import CapabilityError
from autofinity.model.topology import OsIndex

_TID_TIME_ADDR_CPU = 0b1000_1110
_CPU_RING_PAGES: Final = 64  # 260 KiB with its head: half of what perf_event_mlock_kb allows
_THREAD_RING_PAGES: Final = 8  # 800 records between two looks; 36 KiB, of some 500 KiB a CPU
_ADDRESS_BITS: Final = 48  # what lies above is the kernel's
_HEAD, _TAIL = 1024, 1032  # offsets of data_head and data_tail in the first page
_LOST, _FORK, _SAMPLE = 2, 7, 9


@dataclass(frozen=True, slots=True)
class Touch:
    """One fault or access."""

    at_ns: int
    """Of perf's clock: orders those of all threads."""
    pid: int
    tid: int
    address: int
    cpu: OsIndex
    """Where the thread was."""


@dataclass(frozen=True, slots=True)
class Born:
    """A thread or process began."""

    at_ns: int
    pid: int
    tid: int


type Record = Touch | Born


class _Ring:
    """The records of one event."""

    def __init__(self, fd: int, pages: int) -> None:
        """Takes the descriptor over. Raises `OSError`."""
        self.fd = fd
        self._bytes = pages * mmap.PAGESIZE
        try:
            self._memory = mmap.mmap(fd, mmap.PAGESIZE + self._bytes)
        except OSError:
            os.close(fd)
            raise

    def drain(self, found: list[Record]) -> int:
        """Append what has come since the last call; how many records there was no room for."""
        page, ring, lost = mmap.PAGESIZE, self._memory, 0
        head, tail = struct.unpack_from("2Q", ring, _HEAD)
        start, size = page + tail % self._bytes, head - tail
        data = ring[start : start + size]
        data += ring[page : page + size - len(data)]  # at its end the ring begins anew
        at = 0
        while at + 8 <= size:
            kind, _, length = struct.unpack_from("IHH", data, at)
            if kind == _SAMPLE:
                pid, tid, time_ns, address, cpu = struct.unpack_from("IIQQI", data, at + 8)
                # Micro-operations of IBS that are no access have no address.
                if 0 < address < 1 << _ADDRESS_BITS:
                    found.append(Touch(time_ns, pid, tid, address, OsIndex(cpu)))
            elif kind == _FORK:
                pid, _, tid, _, time_ns = struct.unpack_from("IIIIQ", data, at + 8)
                found.append(Born(time_ns, pid, tid))
            elif kind == _LOST:
                lost += struct.unpack_from("QQ", data, at + 8)[1]
            at += length
        struct.pack_into("Q", ring, _TAIL, head)
        return lost

    def close(self) -> None:
        self._memory.close()
        os.close(self.fd)


class TouchSampler:
    """Open rings. Close it."""

    def __init__(self, rings: Iterable[_Ring]) -> None:
        self._rings = tuple(rings)
        self._poll = select.poll()
        for ring in self._rings:
            self._poll.register(ring.fd, select.POLLIN)
        self.lost = 0
        """Records that the rings had no room for."""

    def wait(self, milliseconds: int) -> None:
        """Until a ring is half full, or the time has passed."""
        self._poll.poll(milliseconds)

    def read(self) -> list[Record]:
        """What has come since the last call, in order of time."""
        found: list[Record] = []
        for ring in self._rings:
            self.lost += ring.drain(found)
        return sorted(found, key=lambda record: record.at_ns)

    def close(self) -> None:
        """Give the rings back."""
        for ring in self._rings:
            ring.close()


def open_touches(
    pid: int, cpus: Iterable[int], events: Sequence[AccessEvent] = (PAGE_FAULTS,)
) -> TouchSampler:
    """Record those of process `pid` from its next exec on. Raises `CapabilityError`."""
    rings: list[_Ring] = []
    pages = _CPU_RING_PAGES >> (len(events) - 1).bit_length()
    try:
        for cpu in sorted(cpus):
            for event in events:
                fd = event.open(
                    pid,
                    _TID_TIME_ADDR_CPU,
                    cpu=cpu,
                    following=True,
                    wake_bytes=pages * mmap.PAGESIZE // 2,
                )
                rings.append(_Ring(fd, pages))
    except OSError as error:
        TouchSampler(rings).close()
        raise _refused(events, error) from error
    return TouchSampler(rings)


class ThreadTouches:
    """Those of threads that run already, from the moment each is first named. Close it."""

    def __init__(self, events: Sequence[AccessEvent] = (PAGE_FAULTS,)) -> None:
        self._events = tuple(events)
        self._rings: dict[int, list[_Ring]] = {}
        self.lost = 0
        """Records that the rings had no room for."""

    def follow(self, tids: Iterable[int]) -> None:
        """Record those of these threads, and of no others any more. A thread that has ended is
        nobody's loss. Raises `CapabilityError` when one cannot be sampled.
        """
        wanted = set(tids)
        for tid in [tid for tid in self._rings if tid not in wanted]:
            for ring in self._rings.pop(tid):
                ring.close()
        for tid in wanted - self._rings.keys():
            rings = self._rings[tid] = []
            try:
                for event in self._events:
                    fd = event.open(tid, _TID_TIME_ADDR_CPU)
                    rings.append(_Ring(fd, _THREAD_RING_PAGES))
            except OSError as error:
                if error.errno != errno.ESRCH:
                    raise _refused(self._events, error) from error

    def read(self) -> list[Touch]:
        """What has come since the last call, in order of time."""
        found: list[Record] = []
        for rings in self._rings.values():
            for ring in rings:
                self.lost += ring.drain(found)
        touches = [record for record in found if isinstance(record, Touch)]
        return sorted(touches, key=lambda touch: touch.at_ns)

    def close(self) -> None:
        """Give the rings back."""
        self.follow(())


def _refused(events: Sequence[AccessEvent], error: OSError) -> CapabilityError:
    names = ", ".join(event.name for event in events)
    return CapabilityError(f"{names} cannot be sampled: {explain(error.errno or 0)}")
