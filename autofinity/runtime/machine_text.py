"""Text that identifies the machine of a row in the behaviour database.

Machines may share home folders; rows of different machines are never learned from together.
"""

from __future__ import annotations

from autofinity.model.topology import Topology


def machine_text(topology: Topology) -> str:
    """Sockets, LLC domains, cores, PUs and nodes, and the CPU model: equal for equal machines."""
    pus = topology.pus
    counts = (
        ("sockets", len({pu.package for pu in pus})),
        ("llcs", len({pu.llc for pu in pus})),
        ("cores", len({pu.core for pu in pus})),
        ("pus", len(pus)),
        ("nodes", len(topology.node_os_indices)),
    )
    shape = " ".join(f"{name}:{count}" for name, count in counts)
    return f"{shape} {topology.model or 'unknown CPU'}"
