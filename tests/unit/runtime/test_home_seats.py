"""Threads are bound next to their pages and caches, and stay where they are as good as anywhere."""

from __future__ import annotations

import pytest
from made_up_machine import machine

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import HINTS, PACKED, SPREAD
from autofinity.model.topology import OsIndex
from autofinity.runtime.home_seats import at_home, by_number, neighbours, seated_near

MACHINE = machine(packages=2, llcs=2, cores=4)  # CPUs 0-3, 4-7 | 8-11, 12-15


def seats(homes: dict[int, int], hint: object = SPREAD, threads: int = 4) -> list[int]:
    cores = get_affinity(MACHINE, threads, hint)  # type: ignore[arg-type]
    known = {thread: OsIndex(cpu) for thread, cpu in homes.items()}
    return list(at_home(MACHINE, known, cores, MACHINE.allowed).cpus)


def test_threads_that_form_the_affinity_already_stay() -> None:
    assert seats({0: 14, 1: 3, 2: 9, 3: 6}) == [14, 3, 9, 6]
    assert seats({0: 8, 1: 9, 2: 10, 3: 11}, PACKED) == [8, 9, 10, 11]


def test_who_has_to_move_moves_and_the_others_stay() -> None:
    """Two threads in one cache, of which another one is empty."""
    found = seats({0: 1, 1: 2, 2: 9, 3: 13})
    assert found[0] == 1 and found[2:] == [9, 13]
    assert found[1] in range(4, 8)


def test_by_number_neighbours_sit_side_by_side_however_far_from_home() -> None:
    """The socket first that is home to most of the threads that come first."""
    known = {n: OsIndex(cpu) for n, cpu in enumerate((9, 12, 2, 13))}
    cores = get_affinity(MACHINE, 4, SPREAD)
    found = by_number(MACHINE, known, cores, MACHINE.allowed).cpus
    assert [cpu // 8 for cpu in found] == [1, 1, 0, 0]
    assert neighbours(MACHINE, found) == (0, 2, 2)
    assert neighbours(MACHINE, tuple(known.values())) == (0, 1, 1)


def test_with_many_caches_most_threads_stay_on_the_socket_of_their_home() -> None:
    """Eight caches a socket, threads 0 to 7 on the second socket but for one pair."""
    large = machine(packages=2, llcs=8, cores=2)
    homes = {n: OsIndex(2 * ((n + 8) % 16)) for n in range(16)}
    homes[3], homes[12] = homes[12], homes[3]
    cores = get_affinity(large, 16, SPREAD)
    found = by_number(large, homes, cores, large.allowed).cpus
    assert sum(cpu // 16 == homes[n] // 16 for n, cpu in enumerate(found)) == 14
    assert neighbours(large, found) == (0, 14, 14)


def test_a_thread_without_a_home_gets_what_is_left() -> None:
    assert seats({0: 15, 1: 2, 2: 6})[:3] == [15, 2, 6]
    assert seats({0: 15, 1: 2, 2: 6})[3] in range(8, 12)
    assert seats({}) == list(get_affinity(MACHINE, 4, SPREAD).cpus)


def test_seats_are_among_those_that_may_be_used() -> None:
    available = frozenset(OsIndex(cpu) for cpu in (0, 4, 8, 12))
    cores = get_affinity(MACHINE, 4, SPREAD, available)
    home = {n: OsIndex(4 * n + 1) for n in range(4)}
    assert at_home(MACHINE, home, cores, available).cpus == (0, 4, 8, 12)


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_the_affinity_is_that_of_the_hint_wherever_threads_were(hint: object) -> None:
    wanted = get_affinity(MACHINE, 5, hint)  # type: ignore[arg-type]
    for shift in range(16):
        home = {n: OsIndex((3 * n + shift) % 16) for n in range(5)}
        found = at_home(MACHINE, home, wanted, MACHINE.allowed)
        assert len(set(found.cpus)) == 5
        assert found.affinity == wanted.affinity
        assert sum(map(sum, found.occupancy)) == 5


def test_two_threads_of_one_core_do_not_count_as_threads_of_two() -> None:
    smt = machine(packages=1, llcs=1, cores=4, smt=2)
    cores = get_affinity(smt, 2, PACKED)
    found = at_home(smt, {0: OsIndex(0), 1: OsIndex(1)}, cores, smt.allowed)
    assert len({smt.by_os_index[cpu].core for cpu in found.cpus}) == 2


def test_the_nearest_is_the_own_core_then_the_cache_then_the_socket() -> None:
    wanted = [OsIndex(cpu) for cpu in (2, 5, 12)]
    assert seated_near(MACHINE, {0: OsIndex(13), 1: OsIndex(5)}, wanted) == (12, 5, 2)
