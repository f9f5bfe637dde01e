"""Cost of a mapping: the sum of sharing × distance over all pairs of threads.

The distance between two PUs is that of the smallest part of the machine that they share, in SLIT's
unit, where 10 is an access that stays within the node: the same PU 0, core 1, L2 2, LLC 4, node 10.
On different nodes the distance is that of the SLIT (at least 11; the mean of both directions);
between sockets of a node that spans them, 20. Distances below the node are of the order of measured
core-to-core latencies.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.affinity.topology_handle import topology_handle
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology


def distance(topology: Topology, a: OsIndex, b: OsIndex) -> float:
    """Distance of two PUs, in SLIT's unit. Symmetric; 0 for the same PU.

    Raises `ValueError` for a PU that the machine does not have.
    """
    return topology_handle(topology).distance(a, b)


def cost(sharing: SharingMatrix, topology: Topology, cpus: Sequence[OsIndex]) -> float:
    """Σ sharing × distance over pairs of threads, thread i on `cpus[i]`; lower is better.

    Raises `ValueError` where there is not one PU for each thread, for unknown PUs and for an
    invalid sharing matrix.
    """
    from autofinity._core.mapping import cost as native

    return native(topology_handle(topology), sharing.cells, cpus)


def is_known(topology: Topology, cpus: Sequence[OsIndex]) -> bool:
    """Whether the distances between all of these PUs are known.

    Outside the LLC domain they are not known for PUs in no NUMA node.
    """
    domains = {topology.by_os_index[cpu].llc for cpu in cpus}
    return len(domains) <= 1 or topology.cpus_without_node.isdisjoint(cpus)
