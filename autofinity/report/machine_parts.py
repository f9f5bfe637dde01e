"""Parts of a machine in nested order, as its pictures show them.

    package ── NUMA node ── cores of one LLC domain ── core ── PUs

The picture for the terminal (`picture`) and the drawing for pages and notebooks (`machine_drawing`)
are both made of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from autofinity.model.topology import PU, Topology


@dataclass(frozen=True, slots=True)
class Domain:
    """Cores of one kind that share a last-level cache, within one node."""

    label: str
    cores: tuple[tuple[PU, ...], ...]
    """PUs of each core."""
    across_nodes: bool = False
    """Whether the cache also serves cores of another node."""


@dataclass(frozen=True, slots=True)
class Node:
    """A NUMA node, or the part of it that is in one package."""

    number: int
    """Logical number."""
    label: str
    domains: tuple[Domain, ...]


@dataclass(frozen=True, slots=True)
class Package:
    """A socket."""

    label: str
    nodes: tuple[Node, ...]


def packages_of(topology: Topology) -> tuple[Package, ...]:
    """All packages in logical order."""
    ordered = sorted(topology.pus, key=lambda pu: pu.package)
    return tuple(
        Package(f"socket {number}", _nodes(topology, list(pus)))
        for number, pus in groupby(ordered, key=lambda pu: pu.package)
    )


def nodes_without_cpus(topology: Topology) -> tuple[str, ...]:
    """A line on each node that no PU is in, or that has no memory."""
    with_cpus = {pu.node for pu in topology.pus}
    return (
        *(
            f"node {node} (OS index {os_index}): memory without CPUs of its own"
            for node, os_index in enumerate(topology.node_os_indices)
            if node not in with_cpus and node not in topology.memoryless_nodes
        ),
        *(
            f"node {node} (OS index {os_index}): no memory that may be used"
            for node, os_index in enumerate(topology.node_os_indices)
            if node in topology.memoryless_nodes - topology.unknown_nodes
        ),
    )


def _nodes(topology: Topology, package: Sequence[PU]) -> tuple[Node, ...]:
    cores_of_llc: dict[int, set[int]] = {}
    nodes_of_llc: dict[int, set[int]] = {}
    for pu in package:
        cores_of_llc.setdefault(pu.llc, set()).add(pu.core)
        nodes_of_llc.setdefault(pu.llc, set()).add(pu.node)
    # Domains of one core each would fill screens: where nothing is shared, the cores of a node are
    # together.
    alone = len(cores_of_llc) > 1 and all(len(cores) == 1 for cores in cores_of_llc.values())
    kinds = len({pu.efficiency for pu in topology.pus})

    def group(pu: PU) -> tuple[int, int, int]:
        return pu.node, -1 if alone else pu.llc, -pu.efficiency

    domains: dict[int, list[Domain]] = {}
    for (node, llc, efficiency), members in groupby(sorted(package, key=group), key=group):
        label = f"LLC {llc}" if llc >= 0 else "private LLCs"
        label += f" kind {-efficiency}" if kinds > 1 else ""
        cores = tuple(tuple(pus) for _, pus in groupby(members, key=lambda pu: pu.core))
        across = llc >= 0 and len(nodes_of_llc[llc]) > 1
        domains.setdefault(node, []).append(Domain(label, cores, across))
    return tuple(
        Node(node, "node ?" if node in topology.unknown_nodes else f"node {node}", tuple(inside))
        for node, inside in domains.items()
    )
