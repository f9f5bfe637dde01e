"""A core set near home: another one of the same affinity."""

from __future__ import annotations

import pytest
from made_up_machine import cpus, machine

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import HINTS, PACKED, SPREAD, Hint
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
