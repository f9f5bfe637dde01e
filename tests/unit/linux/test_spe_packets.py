"""Arm's SPE packets: records that others have published, and damaged ones."""

from __future__ import annotations

import pytest

from autofinity.linux.spe_packets import SpeAccess, decode
from tests.support.spe_records import (
    END,
    PAD,
    access,
    data_address,
    operation,
    program_counter,
    timestamp,
)

# Dumps of hardware with what perf (or its counterpart) reads in them.
PUBLISHED = {
    # Linux, the commit that brought SPE to perf (2018): VA 0xffff00000f293bc0, TS 39395093558.
    "kernel load": (
        "49 00 b2 c0 3b 29 0f 00 00 ff ff b3 c0 eb 24 fb 00 00 00 80 9a 00 00 42 16"
        "b0 00 c4 15 08 00 00 ff ff 98 00 00 71 36 6c 21 2c 09 00 00 00",
        SpeAccess(39395093558, 0xFF00000F293BC0),
    ),
    # An Ampere Altra, with a source and padding: VA 0xff403ef1d79e50, TS 7966055570099.
    "missed load": (
        "49 00 52 1e 03 99 51 01 98 f5 01 b2 50 9e d7 f1 3e 40 ff 00 9a 01 00"
        "b3 50 9e d7 71 3f 40 00 80 43 0c 00 00 71 b3 9a e9 bd 3e 07 00 00",
        SpeAccess(7966055570099, 0xFF403EF1D79E50),
    ),
    # The guest of the series that brings SPE to KVM: an operation of no memory, TS 86447955951.
    "no access": (
        "b0 7c f9 29 10 00 80 ff a0 99 02 00 98 03 00 52 02 00 48 00 00 00 00"
        "71 ef 1f b3 20 14 00 00 00",
        None,
    ),
    # A program's own load; its time is of the record before: VA 0xaaaae65dda43.
    "program's load": (
        "b0 00 b6 a9 e4 aa aa 00 80 49 00 52 16 00 99 04 00 98 08 00 b2 43 da 5d e6 aa aa 00 00"
        "9a 01 00 b3 43 5a 95 2c 03 08 00 80 43 00 71 6c f8 a5 83 00 0c 00 00",
        SpeAccess(13196348225644, 0xAAAAE65DDA43),
    ),
}
HERE = 0xFFFF_8000_1234


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_records_are_read_as_published(name: str) -> None:
    packets, meaning = PUBLISHED[name]
    assert decode(bytes.fromhex(packets)) == ([meaning] if meaning else [], 0)


def test_records_follow_each_other_with_padding_between() -> None:
    data = PAD * 5 + access(HERE, 1) + PAD * 64 + access(HERE + 8, 2, kind=1) + PAD
    assert decode(data) == ([SpeAccess(1, HERE), SpeAccess(2, HERE + 8)], 0)


def test_a_programs_tag_is_no_part_of_the_address() -> None:
    assert decode(access(HERE, 7, tag=0xB4))[0] == [SpeAccess(7, HERE)]


def test_a_record_may_end_without_a_time() -> None:
    assert decode(operation(0) + data_address(HERE) + END)[0] == [SpeAccess(None, HERE)]


def test_only_the_virtual_address_of_data_counts() -> None:
    extended = b"\x21" + data_address(HERE)  # index 10: some other address
    data = program_counter(HERE) + extended + timestamp(1)
    assert decode(data) == ([], 0)
    assert decode(b"\x20" + data_address(HERE) + timestamp(1))[0] == [SpeAccess(1, HERE)]


@pytest.mark.parametrize(("offset", "skipped"), [(0, 16), (5, 11), (4094, 2)])
def test_an_alignment_packet_reaches_to_its_boundary_in_the_buffer(
    offset: int, skipped: int
) -> None:
    # To a multiple of 16. Between, whatever was there before.
    data = b"\x23\x00" + b"\xff" * (skipped - 2) + access(HERE, 3)
    assert decode(data, offset) == ([SpeAccess(3, HERE)], 0)


def test_a_record_that_is_cut_is_lost_and_the_ones_before_are_not() -> None:
    whole = access(HERE, 1 << 40)
    for cut in range(1, len(whole)):
        found, lost = decode(whole + whole[:cut])
        assert found == [SpeAccess(1 << 40, HERE)]
        assert 0 < lost <= cut


def test_a_packet_that_nobody_knows_costs_its_record() -> None:
    damaged = operation(0) + b"\xff" + data_address(HERE) + timestamp(1)
    assert decode(damaged + access(HERE, 2)) == ([SpeAccess(2, HERE)], len(damaged))
