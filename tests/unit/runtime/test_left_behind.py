"""Memory that threads leave behind, and which part of it may follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from made_up_machine import machine

from autofinity.model.memory import MemoryByNode
from autofinity.model.topology import OsIndex
from autofinity.runtime.left_behind import LeftBehind, left_behind, remote_share

SOCKETS = machine(packages=4)
"""Four nodes, each a socket."""
SUB_NUMA = machine(packages=2, nodes=2, near=12, far=21)
"""Four nodes, two to a socket."""


def left(memory: MemoryByNode, homes: Sequence[int], now: Sequence[int]) -> LeftBehind:
    return left_behind(SOCKETS, memory, homes, now)


def test_all_memory_belongs_on_the_one_node_that_all_threads_are_on() -> None:
    found = left(MemoryByNode((10, 20, 30, 40)), [0, 1, 2, 2], [1, 1, 1, 1])
    assert found.bytes_left == {0: 10, 2: 30, 3: 40}
    assert found.belongs == {0: (1,), 2: (1,), 3: (1,)}
    assert found.share == 0.8
    assert found.bytes_to_move == 80


def test_pages_follow_only_when_all_threads_of_their_node_have_left_it() -> None:
    found = left(MemoryByNode((40, 40, 40, 0)), [0, 0, 1, 1, 2], [1, 3, 1, 2, 2])
    assert found.bytes_left == {0: 40, 1: 20}
    assert found.belongs == {0: (1, 3)}
    assert found.bytes_to_move == 40
    assert found.share == 0.5


def test_what_a_policy_of_the_program_has_put_on_a_node_is_not_left_behind() -> None:
    away = left(MemoryByNode((40, 40, 40, 0), fixed_on=(30, 40, 0, 0)), [0, 1, 2], [3, 3, 2])
    assert (away.bytes_left, away.belongs) == ({0: 10}, {0: (3,)})
    together = left(MemoryByNode((50, 50, 0, 0), fixed_on=(50, 40, 0, 0)), [0, 1], [2, 2])
    assert (together.bytes_left, together.belongs) == ({1: 10}, {1: (2,)})
    assert together.share == 0.1


def test_pages_of_threads_that_change_places_cannot_be_told_from_new_ones_and_stay() -> None:
    found = left(MemoryByNode((30, 50, 0)), [0, 1], [1, 0])
    assert found.bytes_left == {0: 30, 1: 50}
    assert (found.belongs, found.share) == ({}, 1)
    beside = left(MemoryByNode((30, 50, 20, 0)), [0, 1, 2], [1, 0, 3])
    assert beside.belongs == {2: (3,)}


def test_pages_leave_a_node_before_those_of_the_threads_that_came_arrive() -> None:
    chain = left(MemoryByNode((30, 50, 20, 0)), [0, 1, 2], [1, 2, 3])
    assert chain.bytes_left == {0: 30, 1: 50, 2: 20}
    assert list(chain.belongs.items()) == [(2, (3,)), (1, (2,)), (0, (1,))]


def test_threads_that_stay_leave_nothing() -> None:
    found = left(MemoryByNode((30, 50)), [0, 1, 1], [0, 1, 1])
    assert (found.bytes_left, found.belongs, found.one_node, found.share) == ({}, {}, None, 0)


def test_nearly_everything_on_one_node_is_everybodys_and_is_not_moved() -> None:
    found = left(MemoryByNode((5, 90, 5)), [0, 1, 2], [1, 0, 2])
    assert found.one_node == 1
    assert (found.bytes_left, found.belongs) == ({}, {})
    together = left(MemoryByNode((5, 90, 5)), [0, 1, 2], [0, 0, 0])
    assert together.one_node is None
    assert together.belongs == {1: (0,), 2: (0,)}


def test_memory_on_other_nodes_of_the_socket_is_near_enough() -> None:
    memory = MemoryByNode((10, 20, 30, 40))
    packed = left_behind(SUB_NUMA, memory, [0, 1, 2, 3], [1, 1, 1, 1])
    assert packed.bytes_left == {2: 30, 3: 40}
    assert packed.belongs == {2: (1,), 3: (1,)}
    socket = left_behind(SUB_NUMA, memory, [0, 1, 2, 3], [0, 1, 1, 0])
    assert socket.belongs == {2: (0, 1), 3: (0, 1)}
    moved = left_behind(SUB_NUMA, memory, [0, 1, 2, 3], [1, 0, 2, 3])
    assert moved.share == 0


def test_memory_on_other_nodes_of_the_socket_is_left_behind_where_that_is_asked_for() -> None:
    memory = MemoryByNode((10, 20, 30, 40))
    packed = left_behind(SUB_NUMA, memory, [0, 1, 2, 3], [1, 1, 1, 1], near_too=True)
    assert packed.belongs == {0: (1,), 2: (1,), 3: (1,)}
    stayed = left_behind(SUB_NUMA, memory, [0, 1, 2, 3], [0, 1, 0, 1], near_too=True)
    assert stayed.belongs == {2: (0,), 3: (1,)}


def test_memory_of_one_node_that_is_far_from_all_threads_follows_them() -> None:
    far = left_behind(SUB_NUMA, MemoryByNode((5, 5, 90, 0)), [0, 1], [0, 1])
    assert (far.one_node, far.belongs) == (None, {2: (0, 1)})
    near = left_behind(SUB_NUMA, MemoryByNode((90, 5, 5, 0)), [0, 1], [0, 1])
    assert (near.one_node, near.belongs) == (0, {})
    assert "`numactl --interleave=0-1`" in near.text(SUB_NUMA)  # the other socket has no thread


def test_a_program_without_memory_leaves_nothing() -> None:
    found = left(MemoryByNode((0, 0)), [0, 1], [1, 1])
    assert (found.share, found.bytes_to_move, found.one_node) == (0, 0, None)
    spread = left(MemoryByNode((0, 0)), [0, 1], [1, 0])
    assert (spread.share, spread.belongs, spread.one_node) == (0, {}, None)


def test_reads_are_remote_as_pages_are_elsewhere() -> None:
    assert remote_share(MemoryByNode((75, 25)), [0, 1]) == pytest.approx(0.5)
    assert remote_share(MemoryByNode((75, 25)), [0]) == pytest.approx(0.25)
    assert remote_share(MemoryByNode((100, 0)), [1, 1]) == 1
    assert remote_share(MemoryByNode((100, 0)), []) == 0


@pytest.mark.parametrize("distance", [13, 14, 24, 80], ids=["HBM", "HBM elsewhere", "CXL", "GPU"])
def test_pages_on_a_node_without_cpus_were_not_left_by_threads(distance: int) -> None:
    """The kernel demoted them, a device uses them, or the user bound them."""
    topology = machine(packages=2)
    beside = [(*row, distance) for row in topology.distances]
    topology = replace(
        topology,
        node_os_indices=(*topology.node_os_indices, OsIndex(2)),
        distances=(*beside, (distance, distance, 10)),
    )
    for now, belongs in (([0, 0], {}), ([1, 1], {0: (1,)})):
        found = left_behind(topology, MemoryByNode((20, 0, 30)), [0, 0], now)
        assert found.belongs == belongs
        assert found.bytes_left == dict.fromkeys(belongs, 20)
