"""Threads with much to do and threads with little share caches, where their numbers would part
them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from made_up_machine import machine

from autofinity.model.topology import OsIndex
from autofinity.runtime.creation_seats import masks_of_next_run
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.seat_order import SeatOrder, evens_out, exchanged, uneven

MACHINE = machine(packages=2, llcs=2, cores=4)  # CPUs 0-3, 4-7 | 8-11, 12-15
ALL = tuple(map(OsIndex, range(16)))
BY_NUMBER, EXCHANGED = SeatOrder(by_number=True), SeatOrder(exchanged=True)


def llcs(seats: tuple[OsIndex, ...]) -> list[int]:
    return [MACHINE.by_os_index[cpu].llc for cpu in seats]


def test_each_cache_keeps_half_of_its_threads_and_gets_half_of_a_cache_far_away() -> None:
    found = exchanged(MACHINE, ALL)
    assert found == (0, 1, 10, 11, 4, 5, 14, 15, 8, 9, 2, 3, 12, 13, 6, 7)
    assert llcs(found) == [0, 0, 2, 2, 1, 1, 3, 3, 2, 2, 0, 0, 3, 3, 1, 1]


def test_of_an_odd_number_of_caches_the_middle_one_keeps_its_threads() -> None:
    assert exchanged(MACHINE, ALL[:12]) == (0, 1, 10, 11, 4, 5, 6, 7, 8, 9, 2, 3)


def test_a_cache_with_one_thread_and_a_lone_cache_keep_theirs() -> None:
    assert exchanged(MACHINE, (ALL[0], ALL[4], ALL[8], ALL[12])) == (0, 4, 8, 12)
    assert exchanged(MACHINE, ALL[:4]) == ALL[:4]


@given(st.lists(st.sampled_from(ALL), unique=True, max_size=16).map(tuple))
def test_an_exchange_fills_caches_as_before_and_moves_half_of_their_threads_at_most(
    seats: tuple[OsIndex, ...],
) -> None:
    found = exchanged(MACHINE, seats)
    assert sorted(found) == sorted(seats)
    assert Counter(llcs(found)) == Counter(llcs(seats))
    moved = Counter(
        llc for llc, here, there in zip(llcs(seats), seats, found, strict=True) if here != there
    )
    assert all(2 * count <= Counter(llcs(seats))[llc] for llc, count in moved.items())


def test_work_is_uneven_by_what_caches_have_beyond_the_share_of_their_threads() -> None:
    larger_parts_first = [2.0] * 8 + [1.0] * 8
    assert abs(uneven(MACHINE, ALL, larger_parts_first) - 1 / 3) < 1e-12
    assert uneven(MACHINE, exchanged(MACHINE, ALL), larger_parts_first) < 1e-12
    assert evens_out(MACHINE, ALL, larger_parts_first)
    assert uneven(MACHINE, ALL[:5], [1.0] * 5) < 1e-12  # four in a cache and one in another
    assert uneven(MACHINE, ALL, [0.0] * 16) == 0.0


def test_an_exchange_is_nothing_for_even_work_or_work_that_it_does_not_even_out() -> None:
    assert not evens_out(MACHINE, ALL, [1.0] * 16)
    assert not evens_out(MACHINE, ALL, [2.0, 1.0] * 8)  # every cache has as much
    one_has_most = [100.0] + [1.0] * 15
    assert not evens_out(MACHINE, ALL, one_has_most)


UNEVEN = LiveState(
    placed=tuple(range(16)),
    seated=tuple(range(16)),
    seats=ALL,
    available=MACHINE.allowed,
    work={n: 2.0 if n < 8 else 1.0 for n in range(16)},
)


def seats_of_next_run(state: LiveState) -> tuple[int, ...]:
    return tuple(min(mask) for mask in masks_of_next_run(MACHINE, state, "core"))


def test_the_next_run_begins_with_even_caches() -> None:
    assert seats_of_next_run(UNEVEN) == exchanged(MACHINE, ALL)
    assert seats_of_next_run(replace(UNEVEN, work={})) == ALL
    kept = replace(UNEVEN, work={}, order=EXCHANGED)
    assert seats_of_next_run(kept) == exchanged(MACHINE, ALL)


def test_the_next_run_begins_by_number_where_that_was_faster_or_an_exchange_slower() -> None:
    assert seats_of_next_run(replace(UNEVEN, order=BY_NUMBER)) == ALL
    assert seats_of_next_run(replace(UNEVEN, slower_orders=frozenset({EXCHANGED}))) == ALL
