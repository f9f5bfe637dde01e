"""The node that measured memory is bound to."""

from __future__ import annotations

from autofinity.model.topology import Topology

ANY_NODE = -1


def node_to_bind(topology: Topology, node: int) -> int:
    """Kernel number of a node; `ANY_NODE` on a machine of one, where memory need not be bound:
    containers often forbid it.
    """
    return ANY_NODE if topology.n_nodes == 1 else topology.node_os_indices[node]
