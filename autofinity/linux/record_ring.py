"""perf's ring of records: a page with the positions of both sides, then the records.

Source: perf_event_open(2), MMAP layout; linux/perf_event.h.
"""

from __future__ import annotations

import errno
import mmap
import os
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from autofinity._core.detect import fence
from autofinity.linux.touches import Born
from autofinity.model.errors import CapabilityError

LOST, FORK, SAMPLE, AUX, SWITCH = 2, 7, 9, 11, 14
"""Values of `perf_event_type`; records of other types are skipped."""
_HEAD, _TAIL = 1024, 1032  # offsets of data_head and data_tail in the first page
_HEADER_BYTES: Final = 8
_TOLD_BYTES: Final = 24
_PIECE_BYTES: Final = 4096  # read at a time, so that very many rings cost little memory


class RecordRing:
    """The records of one event."""

    def __init__(self, fd: int, ring_bytes: int) -> None:
        """Takes ownership of the descriptor. `ring_bytes`: a power of two, at least a page.

        Raises `OSError`, and `CapabilityError` where no more memory may be locked.
        """
        self.fd = fd
        self.end = mmap.PAGESIZE + max(ring_bytes, mmap.PAGESIZE)
        """Bytes of the page and the ring."""
        try:
            self.memory = mapped(fd, self.end)
        except (OSError, CapabilityError):
            os.close(fd)
            raise

    def take(self) -> Iterator[tuple[int, int, bytes]]:
        """(type, misc, content after the header) of each record that has come until now.

        Records that the caller does not take stay in the ring.
        """
        head, tail = struct.unpack_from("2Q", self.memory, _HEAD)
        fence()  # the kernel wrote the records before the head; Arm may read them before it
        while tail < head:
            size = min(head - tail, _PIECE_BYTES)
            data = read_round(self.memory, mmap.PAGESIZE, tail, size)
            at = 0
            while at + _HEADER_BYTES <= len(data):
                kind, misc, length = struct.unpack_from("IHH", data, at)
                if length < _HEADER_BYTES or at + length > len(data):
                    break
                yield kind, misc, data[at + _HEADER_BYTES : at + length]
                at += length
            tail = tail + at if at else head  # the kernel's records are smaller than a piece
            fence()  # bytes that were read may be overwritten from now on
            struct.pack_into("Q", self.memory, _TAIL, tail)

    def close(self) -> None:
        """Unmap the ring and close its descriptor."""
        self.memory.close()
        os.close(self.fd)


def mapped(fd: int, size_bytes: int, offset: int = 0) -> mmap.mmap:
    """Memory of an event. Raises `OSError`, and `CapabilityError` where no memory may be locked."""
    try:
        return mmap.mmap(fd, size_bytes, offset=offset)
    except OSError as error:
        if error.errno != errno.EPERM:
            raise
        raise CapabilityError(
            "EPERM: no more memory may be locked for perf's rings; raise "
            "kernel.perf_event_mlock_kb, or the limit of locked memory (ulimit -l)"
        ) from error


def read_round(memory: mmap.mmap, begin: int, offset: int, size: int) -> bytes:
    """Bytes at `offset` of a ring that goes from `begin` to the end of its memory and wraps to
    `begin`.
    """
    start = begin + offset % (len(memory) - begin)
    data = memory[start : start + size]
    return data + memory[begin : begin + size - len(data)]


class Told(NamedTuple):
    """Fields at the end of each record of an event that names all (`sample_id_all`)."""

    pid: int
    tid: int
    time_ns: int
    cpu: int


def told_by(body: bytes) -> Told:
    """Those fields of a record."""
    return Told(*struct.unpack_from("IIQI", body, len(body) - _TOLD_BYTES))


def born(body: bytes) -> Born:
    """Beginning of a thread or process, from a FORK record."""
    pid, _, tid, _, time_ns = struct.unpack_from("IIIIQ", body)
    return Born(time_ns, pid, tid)


def lost_records(body: bytes) -> int:
    """Number of records that found no room, from a LOST record."""
    _, count = struct.unpack_from("QQ", body)
    return int(count)
