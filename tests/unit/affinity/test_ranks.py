"""Ranks over a node: answers that are known, and errors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_up_machine import cpus, machine

from autofinity.affinity.ranks import memory_of, place_ranks, share_of
from autofinity.model.affinity import HINTS, PACKED, SPREAD, Hint
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.errors import PlacementError
from autofinity.model.topology import UNKNOWN_NODE, OsIndex, Topology

OPTERON = machine(4, 2, 1, 6)
ROME = machine(2, 1, 4, 4)


def places(topology: Topology, ranks: int, threads: int, hint: Hint) -> list[str]:
    found = place_ranks(topology, ranks, threads, hint)
    return [format_cpu_list(rank.cores.cpus) for rank in found]


@pytest.mark.parametrize(
    ("ranks", "threads", "hint", "expected"),
    [
        (4, 8, PACKED, ["0-7", "12-19", "24-31", "36-43"]),
        (4, 8, SPREAD, ["0-3,6-9", "12-15,18-21", "24-27,30-33", "36-39,42-45"]),
        (8, 4, PACKED, ["0-3", "6-9", "12-15", "18-21", "24-27", "30-33", "36-39", "42-45"]),
        (3, 6, PACKED, ["0-5", "18-23", "36-41"]),
        (2, 2, SPREAD, ["0,12", "24,36"]),
    ],
)
def test_ranks_of_the_opteron_have_their_share_of_its_nodes(
    ranks: int, threads: int, hint: Hint, expected: list[str]
) -> None:
    assert places(OPTERON, ranks, threads, hint) == expected


def test_more_ranks_than_nodes_share_nodes_and_no_cache() -> None:
    assert places(ROME, 4, 4, PACKED) == ["0-3", "8-11", "16-19", "24-27"]
    assert places(ROME, 8, 2, PACKED) == [f"{4 * llc}-{4 * llc + 1}" for llc in range(8)]


def test_more_ranks_than_caches_share_caches_evenly() -> None:
    assert places(machine(1, 1, 2, 4), 4, 2, SPREAD) == ["0-1", "2-3", "4-5", "6-7"]


def test_an_odd_rank_goes_to_the_package_with_fewer_ranks() -> None:
    found = place_ranks(machine(2, 2, 1, 4), 6, 1, PACKED)
    nodes = [rank.nodes for rank in found]
    assert nodes == [(0,), (0,), (1,), (2,), (2,), (3,)]


def test_ranks_too_large_for_nodes_are_cut_from_the_row_of_cores() -> None:
    assert places(machine(2, 1, 1, 12), 3, 8, PACKED) == ["0-7", "8-15", "16-23"]
    assert place_ranks(machine(2, 1, 1, 12), 3, 8, PACKED)[1].nodes == (0, 1)


def test_a_node_with_fewer_free_cores_gets_fewer_ranks() -> None:
    within = machine(2, 1, 1, 8).restricted(cpus(*range(8), 8, 9))
    assert places(within, 2, 4, PACKED) == ["0-3", "4-7"]


def test_second_pus_are_used_only_with_more_threads_than_cores() -> None:
    smt = machine(2, 1, 1, 4, 2)
    for hint in HINTS:
        for rank in place_ranks(smt, 2, 4, hint):
            assert all(cpu % 2 == 0 for cpu in rank.cores.cpus)
    (first, second) = place_ranks(smt, 2, 5, PACKED)
    assert sorted(first.cores.cpus) == [0, 1, 2, 4, 6]
    assert sorted(second.cores.cpus) == [8, 9, 10, 12, 14]
    assert places(smt, 2, 8, PACKED) == ["0-7", "8-15"]


def test_slower_cores_are_used_only_where_the_faster_ones_do_not_suffice() -> None:
    plain = machine(1, 1, 1, 8)
    hybrid = replace(
        plain, pus=tuple(replace(pu, efficiency=int(pu.core >= 4)) for pu in plain.pus)
    )
    assert places(hybrid, 2, 2, PACKED) == ["4-5", "6-7"]
    assert places(hybrid, 2, 3, PACKED) == ["0-2", "4-6"]


def test_memory_is_on_the_nodes_of_the_threads_by_the_kernels_numbers() -> None:
    odd = replace(machine(2, 1, 1, 2), node_os_indices=(OsIndex(3), OsIndex(8)))
    assert [rank.nodes for rank in place_ranks(odd, 2, 1, PACKED)] == [(3,), (8,)]
    assert [rank.nodes for rank in place_ranks(odd, 1, 3, PACKED)] == [(3, 8)]


def test_memory_of_a_node_without_any_is_on_the_nearest_ones() -> None:
    bare = replace(machine(2, 2, 1, 2), memoryless_nodes=frozenset({1, 2}))
    assert memory_of(bare, [OsIndex(2)]) == (0,)
    assert memory_of(bare, [OsIndex(4)]) == (3,)
    far = replace(bare, memoryless_nodes=frozenset({0, 1}))
    assert memory_of(far, [OsIndex(0)]) == (2, 3)


def test_memory_of_unknown_nodes_is_unknown() -> None:
    unknown = replace(machine(2, 1, 1, 2), node_os_indices=(OsIndex(0), UNKNOWN_NODE))
    assert memory_of(unknown, [OsIndex(0)]) == (0,)
    assert memory_of(unknown, [OsIndex(0), OsIndex(3)]) == ()
    assert memory_of(replace(machine(), one_node_assumed=True), [OsIndex(0)]) == ()


@pytest.mark.parametrize(
    ("ranks", "threads", "said"),
    [
        (0, 1, "cannot place 0 ranks; expected 1 or more"),
        (1, 0, "cannot place 0 threads; expected 1 to 48"),
        (7, 7, "cannot place 49 threads on 48 available CPUs"),
    ],
)
def test_ranks_that_find_no_room_are_refused(ranks: int, threads: int, said: str) -> None:
    with pytest.raises(PlacementError, match=said):
        place_ranks(OPTERON, ranks, threads, PACKED)


def test_more_ranks_than_cores_share_cores_and_more_than_pus_share_all() -> None:
    smt = machine(1, 1, 1, 2, 2)
    assert [share_of(smt, 4, rank) for rank in range(4)] == [cpus(0), cpus(1), cpus(2), cpus(3)]
    assert share_of(smt, 5, 4) == smt.allowed


def test_there_is_no_share_for_a_rank_beyond_the_last() -> None:
    with pytest.raises(PlacementError, match="no rank 4 of 4; expected 0 to 3"):
        share_of(OPTERON, 4, 4)


@pytest.mark.parametrize(("ranks", "sockets"), [(5, [0, 0, 0, 1, 1]), (6, [0, 0, 0, 1, 1, 1])])
def test_ranks_that_share_nodes_stay_within_a_socket(ranks: int, sockets: list[int]) -> None:
    """Four nodes of 14 cores a socket, and ranks of 16 threads: two nodes hold one, four three."""
    topology = machine(2, 4, 1, 14)
    for hint in HINTS:
        found = place_ranks(topology, ranks, 16, hint)
        packages = [
            {topology.by_os_index[cpu].package for cpu in rank.cores.cpus} for rank in found
        ]
        assert packages == [{socket} for socket in sockets]


def test_a_rank_leaves_a_socket_when_it_finds_no_room_in_one() -> None:
    topology = machine(2, 4, 1, 14)
    found = place_ranks(topology, 3, 32, PACKED)
    assert sorted(cpu for rank in found for cpu in rank.cores.cpus)[-1] > 56
    assert {topology.by_os_index[cpu].package for cpu in found[1].cores.cpus} == {0, 1}
