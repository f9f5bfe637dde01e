"""Touches that Arm's SPE writes to memory by itself, assigned to threads.

    AUX record ─► its bytes ─► accesses ─► thread (which ran then) and time (perf's) ─► Touch…

The hardware writes no thread. Where the event belongs to one thread, the AUX record names the
thread. Where the event is inherited, the kernel may let two threads of a program swap places on a
CPU without stopping the hardware between them, so that one piece holds accesses of both: there the
records of switches show which thread ran when, and the accesses have times.
Source: the kernel's drivers/perf/arm_spe_pmu.c and kernel/events (ring_buffer.c, core.c).
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from autofinity.linux.aux_area import AuxArea
from autofinity.linux.perf import enable
from autofinity.linux.perf_clock import clock_of
from autofinity.linux.record_ring import (
    AUX,
    FORK,
    LOST,
    SWITCH,
    RecordRing,
    Told,
    born,
    lost_records,
    told_by,
)
from autofinity.linux.spe_packets import decode
from autofinity.linux.touches import ADDRESS_BITS, Record, Touch
from autofinity.model.errors import CapabilityError
from autofinity.model.topology import OsIndex

_TRUNCATED, _PARTIAL = 1 << 0, 1 << 2  # flags of an AUX record
_SWITCH_OUT: Final = 1 << 13  # in the header's misc
_RECORD_BYTES: Final = 64  # of an access with all its packets
_MOST_TURNS: Final = 4096


class SpeRing:
    """The touches of one event of an `arm_spe` PMU."""

    def __init__(self, fd: int, ring_bytes: int) -> None:
        """Takes ownership of the descriptor; locks `ring_bytes` for accesses and a quarter for
        records.

        Raises the errors of `RecordRing`, and `CapabilityError` where times are not available.
        """
        self.fd = fd
        self.lost = 0
        """Approximate number of accesses and records that found no room."""
        self._records = RecordRing(fd, ring_bytes // 4)
        try:
            clock = clock_of(self._records.memory)
            if clock is None:
                raise CapabilityError("the kernel does not report perf's clock; expected Linux 5.9")
            self._area = AuxArea(self._records, ring_bytes)
        except (OSError, CapabilityError):
            self._records.close()
            raise
        self._clock = clock
        self._turns = _Turns()
        self._took = False

    def drain(self) -> Iterator[Record]:
        """New touches since the last call."""
        # Read the head before the records: then the records announce all bytes before it.
        end = self._area.head
        taken = end > self._area.tail
        self._clock = clock_of(self._records.memory) or self._clock
        for kind, misc, body in self._records.take():
            if kind == AUX:
                yield from self._accesses(body)
            elif kind == SWITCH:
                self._turns.switch(told_by(body), out=bool(misc & _SWITCH_OUT))
            elif kind == FORK:
                yield born(body)
            elif kind == LOST:
                self.lost += lost_records(body)
                self._turns.unknown()
        if taken:
            self._area.free(end)
        if taken or self._took:
            # The kernel disables the event where there is no room, perhaps while room was made
            # here.
            enable(self.fd)
        self._took = taken

    def close(self) -> None:
        """Close the ring."""
        self._area.close()
        self._records.close()

    def _accesses(self, body: bytes) -> Iterator[Touch]:
        """Accesses that an AUX record announces."""
        offset, size, flags = struct.unpack_from("3Q", body)
        accesses, lost_bytes = decode(self._area.read(offset, size), offset)
        self.lost += -(-lost_bytes // _RECORD_BYTES) + (1 if flags & _TRUNCATED else 0)
        if flags & _PARTIAL and not lost_bytes:
            del accesses[-1:]  # damaged, although it can be decoded
        told = told_by(body)
        for access in accesses:
            time_ns = told.time_ns if access.ticks is None else self._clock.ns(access.ticks)
            who = self._turns.at(time_ns, told)
            if who is None:
                self.lost += 1
            elif 0 < access.address < 1 << ADDRESS_BITS:
                yield Touch(time_ns, *who, access.address, OsIndex(told.cpu))
        self._turns.forget()


class _Turns:
    """Which thread ran on a CPU when, as far as switches show."""

    def __init__(self) -> None:
        self._begun: list[int] = []
        self._who: list[tuple[int, int] | None] = []

    def switch(self, who: Told, *, out: bool) -> None:
        """Record that the thread was switched in, or out."""
        if out and not self._begun:
            self._add(0, (who.pid, who.tid))  # the thread ran before the first record
        self._add(who.time_ns, None if out else (who.pid, who.tid))

    def unknown(self) -> None:
        """Handle missing records: the thread that has run since the last switch is unknown."""
        if self._begun:
            self._add(self._begun[-1], None)

    def at(self, time_ns: int, told: Told) -> tuple[int, int] | None:
        """Process and thread at a time; None: unknown. Without any switch, those that the record
        names.
        """
        if not self._begun:
            return told.pid, told.tid
        place = bisect_right(self._begun, time_ns)
        return self._who[place - 1] if place else None

    def forget(self) -> None:
        """Forget all switches before the last one."""
        del self._begun[:-1], self._who[:-1]

    def _add(self, begun_ns: int, who: tuple[int, int] | None) -> None:
        if len(self._begun) == _MOST_TURNS:  # that many switches without an access
            del self._begun[: _MOST_TURNS // 2], self._who[: _MOST_TURNS // 2]
        self._begun.append(begun_ns)
        self._who.append(who)
