"""Arm's Statistical Profiling Extension: the packets that its hardware writes to memory.

    PC …  LD/ST  events  latencies  VA  data source  …  TS   one record, its end is TS or END
    b0 …  49     52      98 99 9a   b2  43               71

A packet is a header and 0, 1, 2, 4 or 8 bytes, little-endian; bits 5:4 of the header give the
number. An extended header is one of 20-23 before another header. Records may have padding inside
and after them, also up to a power of two (an alignment packet).
Source: Arm Architecture Reference Manual (DDI 0487), Statistical Profiling Extension sample record
packets; the masks also in the kernel's tools/perf.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_DATA_VIRTUAL: Final = rb"\x20?\xb2(?P<address>.{8})"
_OTHERS: Final = (
    rb"\x00+",  # padding
    rb"[\x42\x43\x48-\x4b].",  # events, data source, kind of operation
    rb"[\x52\x53].{2}",
    rb"[\x62-\x67].{4}",  # the first two as above, then context
    rb"[\x72\x73].{8}",
    rb"[\x20-\x23]?[\x98-\x9f].{2}",  # counters: latencies
    rb"[\x20-\x23]?[\xb0-\xb7].{8}",  # other addresses: of instructions, or physical
)
# Possessive: no packet can be read in two ways, so a failed match is final.
_PACKETS: Final = re.compile(
    rb"(?:" + _DATA_VIRTUAL + rb"|" + rb"|".join(_OTHERS) + rb")*+", re.DOTALL
)
_END, _TIMESTAMP = 0x01, 0x71
_TIMESTAMP_BYTES: Final = 9
_ALIGNMENT: Final = range(0x20, 0x30)  # before a zero
_UNTAGGED: Final = (1 << 56) - 1
"""Address bits without the top byte, which may be the program's own (a tag)."""


class SpeAccess(NamedTuple):
    """One sampled load or store."""

    ticks: int | None
    """Ticks of the generic timer; None where no time was requested."""
    address: int


class _Record:
    """Known parts of the record that is being read."""

    __slots__ = ("address", "begun", "empty", "sound")

    def __init__(self, begun: int) -> None:
        self.begun = begun
        self.address: bytes | None = None
        self.empty = True  # nothing but padding so far
        self.sound = True


def decode(data: bytes, offset: int = 0) -> tuple[list[SpeAccess], int]:
    """Accesses in a piece of the buffer at `offset`, and the number of bytes of unreadable records.

    A record is unreadable when it is cut off, or has an unknown packet. Any bytes are accepted.
    """
    found: list[SpeAccess] = []
    lost = at = 0
    record = _Record(0)
    while at < len(data):
        packets = _PACKETS.match(data, at)
        assert packets is not None  # the pattern also matches nothing
        at = packets.end()
        record.address = packets["address"] or record.address
        record.empty = record.empty and not packets[0].strip(b"\0")
        if at == len(data):
            break
        header = data[at]
        if header == _END or (header == _TIMESTAMP and at + _TIMESTAMP_BYTES <= len(data)):
            after = at + (1 if header == _END else _TIMESTAMP_BYTES)
            if not record.sound:
                lost += after - record.begun
            elif record.address is not None:
                ticks = None if header == _END else int.from_bytes(data[at + 1 : after], "little")
                address = int.from_bytes(record.address, "little") & _UNTAGGED
                found.append(SpeAccess(ticks, address))
            at = after
            record = _Record(at)
        elif header in _ALIGNMENT and data[at + 1 : at + 2] == b"\0":
            unit = 1 << (1 + header % 16)
            at = min(at + unit - (offset + at) % unit, len(data))
        else:
            at += 1
            record.sound = False
    if not (record.empty and record.sound):
        lost += len(data) - record.begun
    return found, lost
