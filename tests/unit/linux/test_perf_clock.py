"""perf's time from a counter, by the numbers that the kernel writes into a ring's page."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from autofinity.linux.perf_clock import PerfClock, clock_of

WORD = 1 << 64
HAS_ZERO, HAS_MASK = 1 << 4, 1 << 5


def page(*, capabilities: int, lock: int = 2, cycles: int = 0, mask: int = WORD - 1) -> bytearray:
    made = bytearray(1024)
    struct.pack_into("I", made, 8, lock)
    struct.pack_into("Q", made, 40, capabilities)
    struct.pack_into("=HI", made, 50, 10, 3 << 10)
    struct.pack_into("Q", made, 64, 500)
    struct.pack_into("2Q", made, 80, cycles, mask)
    return made


@given(st.integers(0, WORD - 1), st.integers(0, 32), st.integers(0, (1 << 32) - 1))
def test_times_are_those_of_the_kernels_way_of_doing_it_in_64_bits(
    count: int, shift: int, mult: int
) -> None:
    zero_ns = WORD - 1000  # it may be before the counter began
    whole, rest = count >> shift, count & ((1 << shift) - 1)
    expected = (zero_ns + whole * mult % WORD + (rest * mult >> shift)) % WORD
    assert PerfClock(shift, mult, zero_ns).ns(count) == expected


def test_the_page_tells_it() -> None:
    clock = clock_of(page(capabilities=HAS_ZERO))
    assert clock is not None
    assert clock.ns(1000) == 3500


def test_a_counter_of_fewer_bits_goes_on_from_where_the_kernel_saw_it() -> None:
    near = page(capabilities=HAS_ZERO | HAS_MASK, cycles=0x5_F0, mask=0xFF)
    clock = clock_of(near)
    assert clock is not None
    assert clock.ns(0xF4) == 500 + 3 * 0x5_F4
    assert clock.ns(0x03) == 500 + 3 * 0x6_03  # wrapped around since


def test_without_the_kernels_word_or_while_it_writes_there_is_no_clock() -> None:
    assert clock_of(page(capabilities=HAS_MASK)) is None
    assert clock_of(page(capabilities=HAS_ZERO, lock=3)) is None
