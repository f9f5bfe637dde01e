"""Masks of threads as they are created: in the order of their numbers, where they are to stay."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from live_states import placed_as
from made_up_machine import machine

from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex
from autofinity.runtime.creation_seats import (
    NO_SEATS,
    masks_of_next_run,
    masks_of_seats,
    seats_text,
    starting_masks,
)
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.placed import Placed
from autofinity.runtime.placer import BY_SHARING

MACHINE = machine(packages=2, llcs=2, cores=4)
APART = LiveState(
    placed=Placed(
        (0, 1, 2, 3),
        seated=(0, 1, 2, 3),
        seats=tuple(map(OsIndex, (0, 8, 4, 12))),
        available=MACHINE.allowed,
    )
)
"""Four threads, each in a cache; no thread has its neighbour by number on its socket."""


def masks(*each: Sequence[int]) -> tuple[frozenset[OsIndex], ...]:
    return tuple(frozenset(map(OsIndex, mask)) for mask in each)


def test_the_next_run_has_the_same_cpus_in_the_order_of_numbers() -> None:
    assert masks_of_next_run(MACHINE, APART, "core") == masks([0], [4], [8], [12])
    by_cache = masks(range(4), range(4, 8), range(8, 12), range(12, 16))
    assert masks_of_next_run(MACHINE, APART, "llc") == by_cache


def test_sharing_that_was_seen_decides_before_numbers() -> None:
    state = APART.noting(BY_SHARING)
    assert masks_of_next_run(MACHINE, state, "core") == masks([0], [8], [4], [12])


def test_a_first_thread_that_only_waits_may_use_all_cpus_of_the_others() -> None:
    state = placed_as(APART, threads=(1, 2, 3, 4), seated=(1, 2, 3, 4))
    everywhere = [0, 4, 8, 12]
    assert masks_of_next_run(MACHINE, state, "core") == masks(everywhere, [0], [4], [8], [12])


@pytest.mark.parametrize(
    "changed",
    [
        {"seated": (), "seats": ()},  # nothing was placed
        {"threads": (0, 1, 2, 3, 4)},  # one takes turns with the others
        {"threads": (0, 1, 2, 9), "seated": (0, 1, 2, 9)},  # others have ended
    ],
)
def test_threads_without_seats_of_their_own_have_none_in_the_next_run(
    changed: dict[str, tuple[int, ...]],
) -> None:
    state = placed_as(APART, **changed)
    assert masks_of_next_run(MACHINE, state, "core") == ()


def test_an_unknown_program_starts_where_it_is_sampled_first() -> None:
    assert starting_masks(MACHINE, 4, MACHINE.allowed, "core") == masks([0], [4], [8], [12])
    assert starting_masks(MACHINE, 17, MACHINE.allowed, "core") == ()


def test_equal_masks_in_a_row_are_one_part_of_the_text() -> None:
    text = seats_text(masks([0, 1], [0, 1], [4], [0, 1]))
    assert text == "2*0-1;1*4;1*0-1"
    assert masks_of_seats(text) == masks([0, 1], [0, 1], [4], [0, 1])
    assert seats_text(()) == NO_SEATS
    assert masks_of_seats(NO_SEATS) == ()


@pytest.mark.parametrize(
    "text",
    [
        *("", "2", "2*", "*0", "x*0", "1*0;", "1*0,", "-1*0", "1*3-1", "²*0", "0*0"),
        *("4097*0", "4096*0;1*1"),
    ],
)
def test_another_text_gives_no_masks(text: str) -> None:
    with pytest.raises(UsageError):
        masks_of_seats(text)
