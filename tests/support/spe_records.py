"""Records of Arm's SPE in the form that its hardware writes, from the architecture's packet
layout.
"""

from __future__ import annotations

PAD, END = b"\x00", b"\x01"
LOAD, STORE = 0, 1
MINOR_PACKETS = (
    b"\x52\x16\x00",  # retired, accessed the L1, accessed the TLB
    b"\x62\x02\x00\x00\x00",
    b"\x99\x04\x00",  # 4 clocks until it was issued
    b"\x98\x0c\x00",  # 12 clocks in all
    b"\x9a\x01\x00",  # 1 clock of translation
    b"\x21\x98\x05\x00",  # a counter of the extended kind
    b"\x65\x80\x5f\x00\x00",  # context
    b"\x43\x0c",  # source of the data
    b"\x53\x0c\x00",
    PAD * 3,
)


def program_counter(address: int) -> bytes:
    return b"\xb0" + address.to_bytes(7, "little") + b"\x80"


def operation(kind: int) -> bytes:
    return bytes((0x49, kind))


def data_address(address: int, tag: int = 0) -> bytes:
    return b"\xb2" + (address | tag << 56).to_bytes(8, "little")


def physical_address(address: int) -> bytes:
    return b"\xb3" + (address | 1 << 63).to_bytes(8, "little")


def timestamp(ticks: int) -> bytes:
    return b"\x71" + ticks.to_bytes(8, "little")


def access(address: int, ticks: int, *, kind: int = LOAD, tag: int = 0) -> bytes:
    """A whole record of 64 bytes, for an access by a program."""
    packets = (
        program_counter(0xAAAA_0000_1000),
        operation(kind),
        *MINOR_PACKETS[:1],
        *MINOR_PACKETS[2:4],
        data_address(address, tag),
        MINOR_PACKETS[4],
        physical_address(address + (1 << 36)),
        MINOR_PACKETS[7],
    )
    written = b"".join(packets)
    return written + PAD * (64 - 9 - len(written)) + timestamp(ticks)
