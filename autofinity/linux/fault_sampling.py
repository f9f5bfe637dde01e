"""Page faults of a program and all its threads, one record each, by perf's software event.

    open_faults(pid) ─► a ring for each CPU (inherited by threads and children) ─► read() ─► Fault…

An inherited event can be mapped only when it belongs to one CPU (cpu -1 gives EINVAL, measured), so
there is one a CPU. Kernel faults are excluded: counting them needs privileges.
Source: perf_event_open(2).
"""

from __future__ import annotations

import mmap
import os
import select
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from autofinity.linux.event_tables import Encoding
from autofinity.linux.perf import explain, open_event
from autofinity.model.errors import CapabilityError

_PAGE_FAULTS = Encoding(1, 2)
_TID_TIME_ADDR = 0b1110
_RING_PAGES = 64  # 260 KiB with its head: half of what perf_event_mlock_kb allows by default
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


@dataclass(frozen=True, slots=True)
class Born:
    """A thread or process began."""

    at_ns: int
    pid: int
    tid: int


type Record = Fault | Born


class FaultSampler:
    """Open rings. Close it."""

    def __init__(self, rings: Iterable[tuple[int, mmap.mmap]]) -> None:
        self._rings = tuple(rings)
        self._poll = select.poll()
        for fd, _ in self._rings:
            self._poll.register(fd, select.POLLIN)
        self.lost = 0
        """Records that the rings had no room for."""

    def wait(self, milliseconds: int) -> None:
        """Until a ring is half full, or the time has passed."""
        self._poll.poll(milliseconds)

    def read(self) -> list[Record]:
        """What has come since the last call, in order of time."""
        found: list[Record] = []
        for _, ring in self._rings:
            self._drain(ring, found)
        return sorted(found, key=lambda record: record.at_ns)

    def close(self) -> None:
        """Give the rings back."""
        for fd, ring in self._rings:
            ring.close()
            os.close(fd)

    def _drain(self, ring: mmap.mmap, found: list[Record]) -> None:
        page = mmap.PAGESIZE
        head, tail = struct.unpack_from("2Q", ring, _HEAD)
        start, size = page + tail % (_RING_PAGES * page), head - tail
        data = ring[start : start + size]
        data += ring[page : page + size - len(data)]  # at its end the ring begins anew
        at = 0
        while at + 8 <= size:
            kind, _, length = struct.unpack_from("IHH", data, at)
            if kind == _SAMPLE:
                pid, tid, time_ns, address = struct.unpack_from("IIQQ", data, at + 8)
                found.append(Fault(time_ns, pid, tid, address))
            elif kind == _FORK:
                pid, _, tid, _, time_ns = struct.unpack_from("IIIIQ", data, at + 8)
                found.append(Born(time_ns, pid, tid))
            elif kind == _LOST:
                self.lost += struct.unpack_from("QQ", data, at + 8)[1]
            at += length
        struct.pack_into("Q", ring, _TAIL, head)


def open_faults(pid: int, cpus: Iterable[int]) -> FaultSampler:
    """Record the faults of process `pid` from its next exec on. Raises `CapabilityError`."""
    rings: list[tuple[int, mmap.mmap]] = []
    half = _RING_PAGES * mmap.PAGESIZE // 2
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
                sample_type=_TID_TIME_ADDR,
                wake_bytes=half,
            )
            try:
                ring = mmap.mmap(fd, (1 + _RING_PAGES) * mmap.PAGESIZE)
            except OSError:
                os.close(fd)
                raise
            rings.append((fd, ring))
    except OSError as error:
        FaultSampler(rings).close()
        raise CapabilityError(
            f"page faults cannot be sampled: {explain(error.errno or 0)}"
        ) from error
    return FaultSampler(rings)
