"""Facts about a machine that are not known, in words."""

from __future__ import annotations

from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.topology import Topology


def gaps(topology: Topology) -> tuple[str, ...]:
    """One line for each gap."""
    found = []
    if topology.one_node_assumed:
        found.append("no NUMA nodes are known here: all CPUs are assumed to be in one node")
    without = topology.cpus_without_node
    if without:
        found.append(
            f"CPUs {format_cpu_list(without)} are in no NUMA node: their distance to memory and "
            "to other last-level caches is unknown, and assumed to be that to another node"
        )
    if topology.kinds_unranked:
        found.append(
            "cores are of several kinds, but core type, capacity and clock do not show which is "
            "faster: all are assumed equal"
        )
    return tuple(found)
