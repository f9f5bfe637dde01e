"""Threads with much to do and threads with little share caches, where their numbers would part
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from live_states import placed_as
from made_up_machine import machine

from autofinity.model.topology import OsIndex
from autofinity.runtime.creation_seats import masks_of_next_run, order_of_next_run
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.orders import Orders
from autofinity.runtime.placed import Placed
from autofinity.runtime.sampling import Sampling
from autofinity.runtime.seat_order import evens_out, exchanged, uneven

MACHINE = machine(packages=2, llcs=2, cores=4)  # CPUs 0-3, 4-7 | 8-11, 12-15
ALL = tuple(map(OsIndex, range(16)))


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
    assert abs(uneven(MACHINE, ALL, larger_parts_first) - 1 / 6) < 1e-12
    assert uneven(MACHINE, exchanged(MACHINE, ALL), larger_parts_first) < 1e-12
    assert evens_out(MACHINE, ALL, larger_parts_first)
    assert uneven(MACHINE, ALL[:5], [1.0] * 5) < 1e-12  # four in a cache and one in another
    assert uneven(MACHINE, ALL, [0.0] * 16) == 0.0


def test_an_exchange_is_nothing_for_even_work_or_work_that_it_does_not_even_out() -> None:
    assert not evens_out(MACHINE, ALL, [1.0] * 16)
    assert not evens_out(MACHINE, ALL, [2.0, 1.0] * 8)  # every cache has as much
    one_has_most = [100.0] + [1.0] * 15
    assert not evens_out(MACHINE, ALL, one_has_most)


def test_an_exchange_is_nothing_where_work_is_unknown_or_cores_are_of_several_kinds() -> None:
    larger_parts_first = [2.0] * 8 + [1.0] * 8
    assert not evens_out(MACHINE, ALL, [float("nan"), *larger_parts_first[1:]])
    slow = tuple(replace(pu, efficiency=int(pu.os_index >= 8)) for pu in MACHINE.pus)
    assert not evens_out(replace(MACHINE, pus=slow), ALL, larger_parts_first)


MIXED = (0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15)
"""Where the system put the threads."""
UNEVEN = LiveState(
    placed=Placed(
        tuple(range(16)),
        seated=tuple(range(16)),
        seats=tuple(map(OsIndex, MIXED)),
        available=MACHINE.allowed,
    ),
    sampling=Sampling(work={n: 2.0 if n < 8 else 1.0 for n in range(16)}),
)


def caches_of(seats: Sequence[int]) -> list[int]:
    return [cpu // 4 for cpu in seats]


def seats_of_next_run(state: LiveState) -> tuple[int, ...]:
    return tuple(min(mask) for mask in masks_of_next_run(MACHINE, state, "core"))


def test_the_next_run_of_threads_that_the_system_mixed_begins_with_even_caches() -> None:
    assert order_of_next_run(MACHINE, UNEVEN) == "exchanged"
    assert seats_of_next_run(UNEVEN) == exchanged(MACHINE, ALL)
    even = replace(UNEVEN, sampling=Sampling(work=dict.fromkeys(range(16), 1.0)))
    assert order_of_next_run(MACHINE, even) == "near home"
    assert seats_of_next_run(even) == ALL


def test_the_next_run_keeps_an_order_that_was_tried() -> None:
    """A known program is not sampled: its work is not known."""
    known = placed_as(replace(UNEVEN, sampling=Sampling()), seats=exchanged(MACHINE, ALL))
    for state in (UNEVEN, known):
        kept = replace(state, order=Orders("exchanged"))
        assert order_of_next_run(MACHINE, kept) == "exchanged"
        assert caches_of(seats_of_next_run(kept)) == caches_of(exchanged(MACHINE, ALL))
    numbered = placed_as(replace(UNEVEN, order=Orders("by number")), seats=ALL)
    assert order_of_next_run(MACHINE, numbered) == "by number"
    assert seats_of_next_run(numbered) == ALL


def test_threads_that_ran_by_number_exchange_nothing_untried() -> None:
    sat = placed_as(UNEVEN, seats=ALL)
    assert order_of_next_run(MACHINE, sat) == "near home"
    assert seats_of_next_run(sat) == ALL
