"""A core set near home: another one of the same affinity."""

from __future__ import annotations

import pytest
from made_up_machine import cpus, machine

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import HINTS, PACKED, SPREAD, Hint
from autofinity.model.memory import MemoryByNode
from autofinity.model.topology import OsIndex
from autofinity.profiling.placements import class_of
from autofinity.runtime.home_seats import at_home
from autofinity.runtime.near_set import near_set

MACHINE = machine(packages=2, nodes=2, llcs=3, cores=4)
"""Nodes of CPUs 0-11, 12-23 | 24-35, 36-47, each of three caches."""


def nodes(found: tuple[OsIndex, ...]) -> list[int]:
    return [MACHINE.by_os_index[cpu].node for cpu in found]


def test_spread_threads_stay_on_their_nodes_though_other_sets_come_first() -> None:
    """GETAFFINITY names caches of the first node of each socket."""
    cores = get_affinity(MACHINE, 4, SPREAD)
    assert len(set(nodes(cores.cpus))) == 2
    homes = {0: OsIndex(1), 1: OsIndex(2), 2: OsIndex(25), 3: OsIndex(38)}
    found = at_home(MACHINE, homes, cores, MACHINE.allowed)
    assert found.affinity == cores.affinity
    assert nodes(found.cpus) == [0, 0, 2, 3]
    assert (found.cpus[2], found.cpus[3]) == (25, 38)


def test_packed_threads_meet_where_most_of_them_are() -> None:
    cores = get_affinity(MACHINE, 4, PACKED)
    homes = {0: OsIndex(30), 1: OsIndex(29), 2: OsIndex(31), 3: OsIndex(2)}
    found = at_home(MACHINE, homes, cores, MACHINE.allowed)
    assert sorted(found.cpus) == [28, 29, 30, 31]
    assert found.cpus[0] in homes.values()


def test_threads_that_share_caches_are_neighbours_by_number() -> None:
    """Two caches: numbers 0 to 3 in one of them, 4 to 7 in the other, whichever is nearer home."""
    cores = get_affinity(MACHINE, 8, Hint.parse("slp"))
    homes = {n: OsIndex(cpu) for n, cpu in enumerate((40, 41, 42, 4, 43, 1, 2, 3))}
    found = at_home(MACHINE, homes, cores, MACHINE.allowed)
    caches = [MACHINE.by_os_index[cpu].llc for cpu in found.cpus]
    assert found.affinity == cores.affinity
    assert len(set(caches[:4])) == len(set(caches[4:])) == 1 < len(set(caches))


@pytest.mark.parametrize("hint", HINTS, ids=str)
@pytest.mark.parametrize("threads", [2, 5, 8, 13])
def test_a_near_set_is_of_the_affinity_and_of_what_may_be_used(hint: Hint, threads: int) -> None:
    available = MACHINE.allowed - cpus(0, 13, 14, 15, 25)
    seats = get_affinity(MACHINE, threads, hint, available).cpus
    for shift in range(12):
        homes = [OsIndex((7 * n + shift) % 48) for n in range(threads)]
        found = near_set(MACHINE, homes, seats, available)
        if found is not None:
            assert class_of(MACHINE, found) == class_of(MACHINE, seats)
            assert len(set(found)) == threads and available.issuperset(found)


def test_nodes_are_no_further_apart_than_those_of_the_set_that_was_named() -> None:
    one = get_affinity(MACHINE, 4, PACKED).cpus
    assert near_set(MACHINE, [OsIndex(cpu) for cpu in (0, 12, 24, 36)], one, MACHINE.allowed)
    spread = machine(packages=2, nodes=2, llcs=1, cores=4)
    near = (OsIndex(0), OsIndex(4))  # both nodes of one socket
    far = [OsIndex(0), OsIndex(8)]
    found = near_set(spread, far, near, spread.allowed)
    assert found is not None
    assert len({spread.by_os_index[cpu].package for cpu in found}) == 1


def test_seats_that_share_cores_and_machines_of_several_kinds_are_as_they_were_named() -> None:
    smt = machine(packages=1, llcs=2, cores=2, smt=2)
    every = get_affinity(smt, 8, PACKED).cpus
    assert near_set(smt, list(every), every, smt.allowed) is None


GIB = 1 << 30


def packed_near(homes: tuple[int, ...], memory: tuple[float, ...]) -> set[int]:
    """Nodes of packed threads at home on these CPUs, with so many GiB on each node."""
    seats = get_affinity(MACHINE, len(homes), PACKED).cpus
    on = MemoryByNode(tuple(round(GIB * each) for each in memory))
    found = near_set(MACHINE, tuple(map(OsIndex, homes)), seats, MACHINE.allowed, on)
    assert found is not None
    return set(nodes(found))


def test_packed_threads_go_to_the_memory_that_one_of_them_made_for_all() -> None:
    assert packed_near((1, 13, 25, 37), (0, 0, 4, 0)) == {2}
    assert packed_near((1, 2, 3, 37), (0, 0, 0.2, 4)) == {3}


def test_packed_threads_go_to_the_memory_of_a_thread_that_does_not_compute() -> None:
    assert packed_near((13, 14, 15, 25, 26), (0, 0.4, 0.4, 1.6)) == {3}


def test_memory_that_is_nearly_everywhere_alike_does_not_decide() -> None:
    """An eighth of the memory on each node, about."""
    many = machine(packages=2, nodes=4, llcs=1, cores=8)
    seats = get_affinity(many, 8, PACKED).cpus
    homes = [OsIndex(cpu) for cpu in (16, 17, 18, 19, 20, 21, 22, 63)]
    for extra in range(8):
        on = MemoryByNode(tuple(1_000_000 + 2_000 * (node == extra) for node in range(8)))
        found = near_set(many, homes, seats, many.allowed, on)
        assert found is not None and sorted(found) == list(range(16, 24))


def test_memory_of_nodes_near_each_other_counts_together() -> None:
    """Four tenths of the memory are on one node, and six tenths on the two of the other socket."""
    sub_numa = machine(packages=2, nodes=2, llcs=1, cores=8, near=12, far=21)
    seats = get_affinity(sub_numa, 4, PACKED).cpus
    for homes, memory, node in (
        ((0, 8, 16, 24), (4, 0, 3, 3), 2),
        ((0, 8, 16, 24), (4, 0, 0, 6), 3),  # a clear difference between both
        ((0, 8, 24, 25), (4, 0, 3, 3), 3),
    ):
        on = MemoryByNode(tuple(GIB * each for each in memory))
        found = near_set(sub_numa, tuple(map(OsIndex, homes)), seats, sub_numa.allowed, on)
        assert found is not None
        assert {sub_numa.by_os_index[cpu].node for cpu in found} == {node}


def test_threads_without_a_home_among_the_free_cpus_go_to_their_memory() -> None:
    seats = get_affinity(MACHINE, 4, PACKED).cpus
    on = MemoryByNode((0, GIB, 2 * GIB, 0))
    found = near_set(MACHINE, (), seats, MACHINE.allowed, on)
    assert found is not None and set(nodes(found)) == {2}


def test_threads_meet_where_most_of_them_are_if_memory_is_everywhere() -> None:
    assert packed_near((30, 29, 31, 2), (0.25, 0, 0.75, 0)) == {2}
    even = (1.0, 1.02, 0.99, 1.01)
    assert packed_near((1, 2, 13, 25, 26, 27, 37), even) == {2}
