"""Memory that threads leave behind, and which part of it may follow."""

from __future__ import annotations

import pytest

from autofinity.model.memory import MemoryByNode
from autofinity.runtime.left_behind import left_behind, remote_share


def test_all_memory_belongs_on_the_one_node_that_all_threads_are_on() -> None:
    found = left_behind(MemoryByNode((10, 20, 30, 40)), [0, 1, 2, 2], [1, 1, 1, 1])
    assert found.bytes_left == {0: 10, 2: 30, 3: 40}
    assert found.belongs == {0: (1,), 2: (1,), 3: (1,)}
    assert found.share == 0.8
    assert found.bytes_to_move == 80


def test_pages_follow_only_when_all_threads_of_their_node_have_left_it() -> None:
    found = left_behind(MemoryByNode((40, 40, 40, 0)), [0, 0, 1, 1, 2], [1, 3, 1, 2, 2])
    assert found.bytes_left == {0: 40, 1: 20}
    assert found.belongs == {0: (1, 3)}
    assert found.bytes_to_move == 40
    assert found.share == 0.5


def test_pages_of_threads_that_change_places_cannot_be_told_from_new_ones_and_stay() -> None:
    found = left_behind(MemoryByNode((30, 50, 0)), [0, 1], [1, 0])
    assert found.bytes_left == {0: 30, 1: 50}
    assert (found.belongs, found.share) == ({}, 1)
    beside = left_behind(MemoryByNode((30, 50, 20, 0)), [0, 1, 2], [1, 0, 3])
    assert beside.belongs == {2: (3,)}


def test_pages_leave_a_node_before_those_of_the_threads_that_came_arrive() -> None:
    chain = left_behind(MemoryByNode((30, 50, 20, 0)), [0, 1, 2], [1, 2, 3])
    assert chain.bytes_left == {0: 30, 1: 50, 2: 20}
    assert list(chain.belongs.items()) == [(2, (3,)), (1, (2,)), (0, (1,))]


def test_threads_that_stay_leave_nothing() -> None:
    found = left_behind(MemoryByNode((30, 50)), [0, 1, 1], [0, 1, 1])
    assert (found.bytes_left, found.belongs, found.one_node, found.share) == ({}, {}, None, 0)


def test_nearly_everything_on_one_node_is_everybodys_and_is_not_moved() -> None:
    found = left_behind(MemoryByNode((5, 90, 5)), [0, 1, 2], [1, 0, 2])
    assert found.one_node == 1
    assert (found.bytes_left, found.belongs) == ({}, {})
    together = left_behind(MemoryByNode((5, 90, 5)), [0, 1, 2], [0, 0, 0])
    assert together.one_node is None
    assert together.belongs == {1: (0,), 2: (0,)}


def test_a_program_without_memory_leaves_nothing() -> None:
    found = left_behind(MemoryByNode((0, 0)), [0, 1], [1, 1])
    assert (found.share, found.bytes_to_move, found.one_node) == (0, 0, None)
    spread = left_behind(MemoryByNode((0, 0)), [0, 1], [1, 0])
    assert (spread.share, spread.belongs, spread.one_node) == (0, {}, None)


def test_reads_are_remote_as_pages_are_elsewhere() -> None:
    assert remote_share(MemoryByNode((75, 25)), [0, 1]) == pytest.approx(0.5)
    assert remote_share(MemoryByNode((75, 25)), [0]) == pytest.approx(0.25)
    assert remote_share(MemoryByNode((100, 0)), [1, 1]) == 1
    assert remote_share(MemoryByNode((100, 0)), []) == 0
