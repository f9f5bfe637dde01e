"""Adds to each look at a program the lines that its threads read, by the node of the memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autofinity.model.reads_by_node import counted, separated
from autofinity.model.timeline import TimelineStep
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Interval


class LookNodes:
    """The nodes of one program's threads, from look to look.

    A thread was on one node in a look if its CPUs at both ends of the look are of this node.
    """

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._before: Mapping[int, OsIndex] = {}

    def added(self, look: TimelineStep, interval: Interval) -> TimelineStep:
        """The next look, with reads by node where the machine has several nodes. `interval` is what
        the look was made of.
        """
        before, self._before = self._before, look.cpus
        numbers = self._topology.node_os_indices
        if len(numbers) < 2:
            return look
        counts: dict[int, Mapping[str, float]] = {}
        for thread, each in look.counts.items():
            lines = interval.reads_by_node[thread : thread + 1]
            if lines and len(lines[0]) == len(numbers):
                counts[thread] = {**each, **counted(lines[0], numbers)}
            else:
                nodes = {self._node_of(before.get(thread)), self._node_of(look.cpus.get(thread))}
                node = nodes.pop() if len(nodes) == 1 else None
                counts[thread] = {**each, **separated(each, node, numbers)}
        return replace(look, counts=counts)

    def _node_of(self, cpu: OsIndex | None) -> int | None:
        pu = None if cpu is None else self._topology.by_os_index.get(cpu)
        return None if pu is None or pu.node in self._topology.unknown_nodes else pu.node
