"""Touches that the kernel itself records, one by one: page faults, PEBS, IBS."""

from __future__ import annotations

import struct

from autofinity.linux.record_ring import FORK, LOST, SAMPLE, RecordRing, born, lost_records
from autofinity.linux.touches import ADDRESS_BITS, Record, Touch
from autofinity.model.topology import OsIndex


class SampleRing:
    """The touches of one event, in samples with TID, TIME, ADDR and CPU."""

    def __init__(self, fd: int, ring_bytes: int) -> None:
        """Takes the descriptor over. Raises as `RecordRing`."""
        self.fd = fd
        self._records = RecordRing(fd, ring_bytes)

    def drain(self, found: list[Record]) -> int:
        """Append what has come since the last call; how many records there was no room for."""
        lost = 0
        for kind, _, body in self._records.take():
            if kind == SAMPLE:
                pid, tid, time_ns, address, cpu = struct.unpack_from("IIQQI", body)
                # Micro-operations of IBS that are no access have no address.
                if 0 < address < 1 << ADDRESS_BITS:
                    found.append(Touch(time_ns, pid, tid, address, OsIndex(cpu)))
            elif kind == FORK:
                found.append(born(body))
            elif kind == LOST:
                lost += lost_records(body)
        return lost

    def close(self) -> None:
        """Give it back to the kernel."""
        self._records.close()
