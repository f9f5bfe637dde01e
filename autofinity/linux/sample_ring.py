"""Touches that the kernel itself records, one by one: page faults, PEBS, IBS."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from autofinity.linux.record_ring import FORK, LOST, SAMPLE, RecordRing, born, lost_records
from autofinity.linux.touches import ADDRESS_BITS, Record, Touch
from autofinity.model.topology import OsIndex


class SampleRing:
    """The touches of one event, in samples with TID, TIME, ADDR and CPU."""

    def __init__(self, fd: int, ring_bytes: int) -> None:
        """Takes ownership of the descriptor. Raises the errors of `RecordRing`."""
        self.fd = fd
        self.lost = 0
        """Number of records that found no room."""
        self._records = RecordRing(fd, ring_bytes)

    def drain(self) -> Iterator[Record]:
        """New records since the last call."""
        for kind, _, body in self._records.take():
            if kind == SAMPLE:
                pid, tid, time_ns, address, cpu = struct.unpack_from("IIQQI", body)
                # Micro-operations of IBS that are no access have no address.
                if 0 < address < 1 << ADDRESS_BITS:
                    yield Touch(time_ns, pid, tid, address, OsIndex(cpu))
            elif kind == FORK:
                yield born(body)
            elif kind == LOST:
                self.lost += lost_records(body)

    def close(self) -> None:
        """Close the ring."""
        self._records.close()
