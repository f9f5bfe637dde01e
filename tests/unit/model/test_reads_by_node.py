"""Reads by node: exact where they are counted, and no more than is known where they are not."""

from __future__ import annotations

import pytest

from autofinity.model.reads_by_node import (
    NODE_NOT_KNOWN,
    counted,
    is_by_node,
    node_number,
    separated,
)
from autofinity.model.topology import OsIndex

TWO = (OsIndex(0), OsIndex(8))
FOUR = tuple(map(OsIndex, range(4)))
BOTH = {"dram_reads_local": 5.0, "dram_reads_remote": 2.0, "instructions": 9.0}


def test_counted_reads_have_the_kernels_numbers_of_nodes() -> None:
    found = counted((3, 4), TWO)
    assert found == {"dram_reads_node_0": 3.0, "dram_reads_node_8": 4.0}
    assert [node_number(name) for name in found] == [0, 8]


@pytest.mark.parametrize(("node", "local", "remote"), [(0, 0, 8), (1, 8, 0)])
def test_with_two_nodes_the_other_node_is_the_remote_one(
    node: int, local: int, remote: int
) -> None:
    found = separated(BOTH, node, TWO)
    assert found == {f"dram_reads_node_{local}": 5.0, f"dram_reads_node_{remote}": 2.0}


def test_with_more_nodes_remote_reads_stay_together() -> None:
    assert separated(BOTH, 3, FOUR) == {"dram_reads_node_3": 5.0, NODE_NOT_KNOWN: 2.0}


def test_nothing_is_known_of_a_thread_whose_node_is_not_known() -> None:
    assert separated(BOTH, None, TWO) == {NODE_NOT_KNOWN: 7.0}


def test_what_is_not_counted_has_no_node() -> None:
    assert separated({"dram_reads_remote": 2.0}, 0, TWO) == {"dram_reads_node_8": 2.0}
    assert separated({"instructions": 9.0}, 0, TWO) == {}


def test_names_of_others_are_no_reads_by_node() -> None:
    assert is_by_node(NODE_NOT_KNOWN)
    assert not is_by_node("dram_reads_remote")
    assert node_number(NODE_NOT_KNOWN) is None
    assert node_number("dram_reads_node_²") is None
