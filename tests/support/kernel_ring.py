"""The kernel's side of a perf ring with an AUX area, in a file in memory.

Layout by linux/perf_event.h (`perf_event_mmap_page`); an event here is the descriptor of the file.
"""

from __future__ import annotations

import mmap
import os
import struct

AUX, LOST, FORK, SWITCH = 11, 2, 7, 14
SWITCHED_OUT = 1 << 13
TRUNCATED, PARTIAL, COLLISION = 1, 4, 8
PAGE = mmap.PAGESIZE

# A generic timer of 25 MHz: 40 ns a tick, and perf's clock began later.
ZERO_NS, NS_PER_TICK, SHIFT = 1_000_000_000, 40, 24


def ns(ticks: int) -> int:
    return ZERO_NS + ticks * NS_PER_TICK


class KernelRing:
    """A ring that its user must close. `tells_time`: as Linux 5.9 and later do."""

    def __init__(self, records_bytes: int, area_bytes: int, *, tells_time: bool = True) -> None:
        self._records_bytes, self._area_bytes = records_bytes, area_bytes
        self.fd = os.memfd_create("ring")
        os.ftruncate(self.fd, PAGE + records_bytes + area_bytes)
        self._memory = mmap.mmap(self.fd, 0)
        struct.pack_into("Q", self._memory, 40, (1 << 4) * tells_time)
        struct.pack_into("=HI", self._memory, 50, SHIFT, NS_PER_TICK << SHIFT)
        struct.pack_into("Q", self._memory, 64, ZERO_NS)

    def close(self) -> None:
        self._memory.close()
        os.close(self.fd)

    def descriptor(self) -> int:
        """A descriptor for the reader, which closes it."""
        return os.dup(self.fd)

    @property
    def asked_area(self) -> tuple[int, int]:
        """Offset and size of the area, as the reader asks for them."""
        return struct.unpack_from("2Q", self._memory, 1072)

    @property
    def free_records(self) -> int:
        head, tail = struct.unpack_from("2Q", self._memory, 1024)
        return int(self._records_bytes - (head - tail))

    @property
    def free_area(self) -> int:
        head, tail = struct.unpack_from("2Q", self._memory, 1056)
        return int(self._area_bytes - (head - tail))

    def pad(self, size: int) -> None:
        """Leave out bytes of the area: no record covers them."""
        (head,) = struct.unpack_from("Q", self._memory, 1056)
        struct.pack_into("Q", self._memory, 1056, head + size)

    def traced(
        self, data: bytes, pid: int, tid: int, time_ns: int, cpu: int = 0, flags: int = 0
    ) -> None:
        """Record that the hardware has written `data`, until now."""
        assert len(data) <= self.free_area
        (head,) = struct.unpack_from("Q", self._memory, 1056)
        self._put(PAGE + self._records_bytes, self._area_bytes, head, data)
        self.record(AUX, struct.pack("3Q", head, len(data), flags), pid, tid, time_ns, cpu)
        struct.pack_into("Q", self._memory, 1056, head + len(data))

    def switched(self, pid: int, tid: int, time_ns: int, *, out: bool, cpu: int = 0) -> None:
        self.record(SWITCH, b"", pid, tid, time_ns, cpu, SWITCHED_OUT if out else 0)

    def record(
        self,
        kind: int,
        body: bytes,
        pid: int,
        tid: int,
        time_ns: int,
        cpu: int = 0,
        misc: int = 0,
    ) -> None:
        """Write a record, with process, thread, time and CPU at its end."""
        body += struct.pack("IIQII", pid, tid, time_ns, cpu, 0)
        data = struct.pack("IHH", kind, misc, 8 + len(body)) + body
        assert len(data) <= self.free_records
        (head,) = struct.unpack_from("Q", self._memory, 1024)
        self._put(PAGE, self._records_bytes, head, data)
        struct.pack_into("Q", self._memory, 1024, head + len(data))

    def _put(self, start: int, size: int, head: int, data: bytes) -> None:
        for at, byte in enumerate(data):
            self._memory[start + (head + at) % size] = byte
