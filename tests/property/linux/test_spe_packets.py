"""Arm's SPE packets: any bytes are read to their end, and whole records exactly."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autofinity.linux.spe_packets import SpeAccess, decode
from tests.support.spe_records import (
    END,
    MINOR_PACKETS,
    PAD,
    access,
    data_address,
    operation,
    timestamp,
)

ADDRESSES = st.integers(0, (1 << 56) - 1)
MINOR = st.lists(st.sampled_from(MINOR_PACKETS), max_size=6).map(b"".join)
TICKS = st.none() | st.integers(0, (1 << 64) - 1)


@st.composite
def records(draw: st.DrawFn) -> tuple[bytes, SpeAccess]:
    address, ticks = draw(ADDRESSES), draw(TICKS)
    parts = [draw(MINOR), operation(draw(st.integers(0, 255))), draw(MINOR)]
    parts += [data_address(address, draw(st.integers(0, 255))), draw(MINOR)]
    parts += [END if ticks is None else timestamp(ticks), PAD * draw(st.integers(0, 70))]
    return b"".join(parts), SpeAccess(ticks, address)


@given(st.lists(records(), max_size=8))
def test_records_with_any_packets_in_them_are_read_exactly(
    written: list[tuple[bytes, SpeAccess]],
) -> None:
    data = b"".join(packets for packets, _ in written)
    assert decode(data) == ([meaning for _, meaning in written], 0)


@given(st.binary(max_size=400), st.integers(0, 1 << 40))
def test_any_bytes_are_read_or_counted_as_lost(data: bytes, offset: int) -> None:
    found, lost = decode(data, offset)
    assert 0 <= lost <= len(data)
    assert 10 * len(found) <= len(data) - lost  # an address and an end


@given(
    st.lists(st.sampled_from([*MINOR_PACKETS, b"\x20\x00", b"\x2f\x00", b"\xff", END]), max_size=80)
)
def test_what_has_no_address_gives_none(parts: list[bytes]) -> None:
    assert decode(b"".join(parts))[0] == []


@given(st.binary(max_size=60), st.integers(0, 1 << 40))
def test_behind_damage_the_next_but_one_record_is_read(noise: bytes, address: int) -> None:
    """One record at most is taken for a part of what is damaged; so is one that the noise's last
    packet reaches into.
    """
    data = noise + b"".join(access(address, ticks) for ticks in range(3))
    assert SpeAccess(2, address) in decode(data)[0]
