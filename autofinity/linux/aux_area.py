"""The AUX area of an event: memory that the hardware fills by itself, beside the ring of records.

    records: … AUX(offset, size, flags) …   ─► which bytes have come
    area:    [ taken | come | free … ]         offsets only grow; in memory they go round

The kernel stops the event when the area is full.
Source: perf_event_open(2), AUX area.
"""

from __future__ import annotations

import mmap
import struct

from autofinity._core.detect import fence
from autofinity.linux.record_ring import RecordRing, mapped, read_round

_HEAD, _TAIL, _OFFSET_SIZE = 1056, 1064, 1072  # aux_head, aux_tail, aux_offset and aux_size
_LEAST_PAGES = 2


class AuxArea:
    """The area of an event that has a ring of records."""

    def __init__(self, records: RecordRing, area_bytes: int) -> None:
        """`area_bytes`: a power of two, at least two pages. Raises the errors of `mapped`."""
        self._page = records.memory
        size_bytes = max(area_bytes, _LEAST_PAGES * mmap.PAGESIZE)
        struct.pack_into("2Q", self._page, _OFFSET_SIZE, records.end, size_bytes)
        self._memory = mapped(records.fd, size_bytes, records.end)

    @property
    def head(self) -> int:
        """Offset behind all bytes that have come. A record has announced all bytes before it."""
        (head,) = struct.unpack_from("Q", self._page, _HEAD)
        fence()
        return int(head)

    @property
    def tail(self) -> int:
        """Offset behind all bytes that have been taken."""
        (tail,) = struct.unpack_from("Q", self._page, _TAIL)
        return int(tail)

    def read(self, offset: int, size: int) -> bytes:
        """The `size` bytes at `offset`."""
        return read_round(self._memory, 0, offset, min(size, len(self._memory)))

    def free(self, offset: int) -> None:
        """Release all bytes before `offset`."""
        fence()
        struct.pack_into("Q", self._page, _TAIL, offset)

    def close(self) -> None:
        """Unmap the area; the records' ring is closed after it."""
        self._memory.close()
