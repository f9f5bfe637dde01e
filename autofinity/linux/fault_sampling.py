"""Page faults of a program and all its threads, one record each, by perf's software event.

    open_faults(pid) ─► a ring for each CPU (inherited by threads and children) ─► read() ─► Fault…
    ThreadFaults ─────► a ring for each thread of a program that runs already ───► read() ─► Fault…

An inherited event can be mapped only when it belongs to one CPU (cpu -1 gives EINVAL, measured), so
there is one a CPU. What runs already would need one for each thread and CPU; so there each thread
has its own, not inherited, and who looks after the program tells of new threads. Kernel faults are
excluded: counting them needs privileges.
Source: perf_event_open(2).
"""

from __future__ import annotations

import errno
import mmap
import os
import select
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from autofinity.linux.event_tables import Encoding
from autofinity.linux.perf import explain, open_event
from autofinity.model.errors import CapabilityError
from autofinity.model.topology import OsIndex

_PAGE_FAULTS = Encoding(1, 2)
_TID_TIME_ADDR_CPU = 0b1000_1110
_CPU_RING_PAGES: Final = 64  # 260 KiB with its head: half of what perf_event_mlock_kb allows
_THREAD_RING_PAGES: Final = 8  # 800 faults between two looks; 36 KiB, of some 500 KiB a CPU
_HEAD, _TAIL = 1024, 1032  # offsets of data_head and data_tail in the first page
_LOST, _FORK, _SAMPLE = 2, 7, 9


@dataclass(frozen=True, slots=True)
class Fault:
    """One page fault."""

    at_ns: int
    """Of perf's clock: orders faults of all threads."""
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


type Record = Fault | Born


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
                found.append(Fault(time_ns, pid, tid, address, OsIndex(cpu)))
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


class FaultSampler:
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


def open_faults(pid: int, cpus: Iterable[int]) -> FaultSampler:
    """Record the faults of process `pid` from its next exec on. Raises `CapabilityError`."""
    rings: list[_Ring] = []
    half = _CPU_RING_PAGES * mmap.PAGESIZE // 2
    try:
        for cpu in sorted(cpus):
            fd = open_event(
                _PAGE_FAULTS,
                pid,
                cpu=cpu,
                inherit=True,
                disabled=True,
                at_exec=True,
                with_births=True,
                sample_period=1,
                sample_type=_TID_TIME_ADDR_CPU,
                wake_bytes=half,
            )
            rings.append(_Ring(fd, _CPU_RING_PAGES))
    except OSError as error:
        FaultSampler(rings).close()
        raise _refused(error) from error
    return FaultSampler(rings)


class ThreadFaults:
    """The faults of threads that run already, from the moment each is first named. Close it."""

    def __init__(self) -> None:
        self._rings: dict[int, _Ring] = {}
        self.lost = 0
        """Records that the rings had no room for."""

    def follow(self, tids: Iterable[int]) -> None:
        """Record the faults of these threads, and of no others any more. A thread that has ended
        is nobody's loss. Raises `CapabilityError` when one cannot be sampled.
        """
        wanted = set(tids)
        for tid in [tid for tid in self._rings if tid not in wanted]:
            self._rings.pop(tid).close()
        for tid in wanted - self._rings.keys():
            try:
                fd = open_event(_PAGE_FAULTS, tid, sample_period=1, sample_type=_TID_TIME_ADDR_CPU)
                self._rings[tid] = _Ring(fd, _THREAD_RING_PAGES)
            except OSError as error:
                if error.errno != errno.ESRCH:
                    raise _refused(error) from error

    def read(self) -> list[Fault]:
        """What has come since the last call, in order of time."""
        found: list[Record] = []
        for ring in self._rings.values():
            self.lost += ring.drain(found)
        faults = [record for record in found if isinstance(record, Fault)]
        return sorted(faults, key=lambda fault: fault.at_ns)

    def close(self) -> None:
        """Give the rings back."""
        self.follow(())


def _refused(error: OSError) -> CapabilityError:
    return CapabilityError(f"page faults cannot be sampled: {explain(error.errno or 0)}")
