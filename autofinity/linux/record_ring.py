"""perf's ring of records: a page that says how far each side has come, then the records.

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
"""`perf_event_type`; the others are passed over."""
_HEAD, _TAIL = 1024, 1032  # offsets of data_head and data_tail in the first page
_HEADER_BYTES: Final = 8
_TOLD_BYTES: Final = 24
_PIECE_BYTES: Final = 4096  # read at a time, so that very many rings cost little memory


class RecordRing:
    """The records of one event."""

    def __init__(self, fd: int, ring_bytes: int) -> None:
        """Takes the descriptor over. `ring_bytes`: a power of two; a page is the least.

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
        """(type, misc, what follows the header) of each record that has come until now; those that
        are not asked for any more stay.
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
            fence()  # what was read may be written over from now on
            struct.pack_into("Q", self.memory, _TAIL, tail)

    def close(self) -> None:
        """Give it back to the kernel."""
        self.memory.close()
        os.close(self.fd)


def mapped(fd: int, size_bytes: int, offset: int = 0) -> mmap.mmap:
    """Memory of an event. Raises `OSError`, and `CapabilityError` where none may be locked."""
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
    """What lies at `offset` of a ring that goes from `begin` to the end of its memory, and there
    begins anew.
    """
    start = begin + offset % (len(memory) - begin)
    data = memory[start : start + size]
    return data + memory[begin : begin + size - len(data)]


class Told(NamedTuple):
    """What an event that names all (`sample_id_all`) says at the end of each record."""

    pid: int
    tid: int
    time_ns: int
    cpu: int


def told_by(body: bytes) -> Told:
    """That of a record."""
    return Told(*struct.unpack_from("IIQI", body, len(body) - _TOLD_BYTES))


def born(body: bytes) -> Born:
    """What a FORK record says."""
    pid, _, tid, _, time_ns = struct.unpack_from("IIIIQ", body)
    return Born(time_ns, pid, tid)


def lost_records(body: bytes) -> int:
    """How many records there was no room for, by a LOST record."""
    _, count = struct.unpack_from("QQ", body)
    return int(count)
