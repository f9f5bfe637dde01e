"""Facts about a machine that are not known, in words."""

from __future__ import annotations

from autofinity.linux.cpu_lists import format_cpu_list
from autofinity.model.topology import Topology


def gaps(topology: Topology) -> tuple[str, ...]:
    """One line for each gap."""
    found = []
    if topology.one_node_assumed:
        found.append("nothing tells of NUMA nodes here: all CPUs are taken to be in one")
    without = topology.cpus_without_node
    if without:
        found.append(
            f"CPUs {format_cpu_list(without)} are in no NUMA node: what memory and CPUs of other "
            "last-level caches cost them is unknown, and taken for what another node costs"
        )
    if topology.kinds_unranked:
        found.append(
            "cores are of several kinds, and nothing (core type, capacity, clock) tells which is "
            "faster: all are taken for alike"
        )
    return tuple(found)
