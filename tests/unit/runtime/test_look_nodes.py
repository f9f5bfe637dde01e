"""Looks with reads by node: the node of a thread from its CPUs, or counted by a simulator."""

from __future__ import annotations

from collections.abc import Sequence

from made_up_machine import machine

from autofinity.model.reads_by_node import NODE_NOT_KNOWN
from autofinity.model.timeline import TimelineStep
from autofinity.model.topology import OsIndex
from autofinity.ports import Interval
from autofinity.runtime.look_nodes import LookNodes

TWO_NODES = machine(packages=2, cores=2)
"""CPUs 0 and 1 are on node 0, CPUs 2 and 3 on node 1."""
READS = {"dram_reads_local": 5.0, "dram_reads_remote": 2.0}


def by_node(nodes: LookNodes, cpu: int, reads: Sequence[tuple[int, ...]] = ()) -> dict[str, float]:
    look = TimelineStep(0, 1, {0: READS}, {0: OsIndex(cpu)})
    counts = nodes.added(look, Interval(0, 1, (), reads_by_node=tuple(reads))).counts[0]
    return {name: count for name, count in counts.items() if name not in READS}


def test_a_thread_that_stays_on_a_node_reads_from_its_own_and_the_other_node() -> None:
    nodes = LookNodes(TWO_NODES)
    by_node(nodes, 2)
    assert by_node(nodes, 3) == {"dram_reads_node_1": 5.0, "dram_reads_node_0": 2.0}


def test_reads_of_a_thread_that_is_new_or_changed_its_node_have_no_node() -> None:
    nodes = LookNodes(TWO_NODES)
    assert by_node(nodes, 0) == {NODE_NOT_KNOWN: 7.0}
    assert by_node(nodes, 2) == {NODE_NOT_KNOWN: 7.0}
    assert by_node(nodes, 2) == {"dram_reads_node_1": 5.0, "dram_reads_node_0": 2.0}


def test_counted_reads_need_no_node_of_the_thread() -> None:
    assert by_node(LookNodes(TWO_NODES), 0, [(3, 4)]) == {
        "dram_reads_node_0": 3.0,
        "dram_reads_node_1": 4.0,
    }


def test_reads_that_are_counted_of_some_nodes_only_are_not_used() -> None:
    assert by_node(LookNodes(TWO_NODES), 0, [(3,)]) == {NODE_NOT_KNOWN: 7.0}


def test_a_machine_of_one_node_has_nothing_to_add() -> None:
    assert by_node(LookNodes(machine(cores=2)), 0) == {}
