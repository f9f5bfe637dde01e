"""What is not known of a machine's NUMA nodes, in words."""

from __future__ import annotations

from autofinity.linux.cpu_lists import format_cpu_list
from autofinity.model.topology import Topology


def unknown_of_nodes(topology: Topology) -> str:
    """One clause; empty where all is known."""
    if topology.one_node_assumed:
        return "nothing tells of NUMA nodes here: all CPUs are taken to be in one"
    without = topology.cpus_without_node
    if not without:
        return ""
    return (
        f"CPUs {format_cpu_list(without)} are in no NUMA node: what memory and CPUs of other "
        "last-level caches cost them is unknown, and taken for what another node costs"
    )
