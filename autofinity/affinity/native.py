"""The native handle of a topology: made once, kept with the topology.

GETAFFINITY is asked in the middle of runs, so a call must not hand the whole machine over again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofinity.model.topology import Topology

if TYPE_CHECKING:
    from autofinity._core.affinity import Machine

_KEY = "_native_affinity_machine"


def native_machine(topology: Topology) -> Machine:
    """The native form of `topology`. Kept in its instance dictionary, as its cached properties are.

    LLC domains are numbered socket by socket; one that spans sockets counts as one a socket.
    """
    known: Machine | None = vars(topology).get(_KEY)
    if known is not None:
        return known
    from autofinity._core.affinity import Machine

    domains = sorted({(pu.package, pu.llc) for pu in topology.pus})
    number = {domain: i for i, domain in enumerate(domains)}
    made = Machine(
        [
            [pu.os_index for pu in topology.pus],
            [pu.core for pu in topology.pus],
            [number[pu.package, pu.llc] for pu in topology.pus],
            [pu.package for pu in topology.pus],
            [pu.node for pu in topology.pus],
            [pu.smt_rank for pu in topology.pus],
        ],
        [cell for row in topology.distances for cell in row],
        topology.n_nodes,
        sorted(topology.allowed),
    )
    vars(topology)[_KEY] = made
    return made
