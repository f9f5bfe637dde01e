"""The native handle of a topology, made once and kept with the topology.

GETAFFINITY is asked in the middle of runs, so a call must not convert the whole machine again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autofinity.model.topology import PU, Topology

if TYPE_CHECKING:
    from autofinity._core.topology import Machine

_KEY = "_native_machine"


def topology_handle(topology: Topology) -> Machine:
    """The native form of `topology`, kept in its instance dictionary like its cached properties.

    LLC domains are numbered socket by socket; a domain that spans sockets counts as one in each
    socket.
    """
    known: Machine | None = vars(topology).get(_KEY)
    if known is not None:
        return known
    domains = sorted({(pu.package, pu.llc) for pu in topology.pus})
    number = {domain: i for i, domain in enumerate(domains)}
    made = new_handle(
        topology, [number[pu.package, pu.llc] for pu in topology.pus], _l2_of_core(topology)
    )
    vars(topology)[_KEY] = made
    return made


def new_handle(topology: Topology, llc_of_pu: Sequence[int], l2_of_core: Sequence[int]) -> Machine:
    """A new handle, for callers that know more about the caches than `topology`; it is not kept."""
    from autofinity._core.topology import Machine

    return Machine(
        [
            (
                pu.os_index,
                pu.smt_rank,
                pu.core,
                l2_of_core[pu.core],
                llc,
                pu.package,
                pu.node,
                pu.efficiency,
            )
            for pu, llc in zip(topology.pus, llc_of_pu, strict=True)
        ],
        [cell for row in topology.distances for cell in row],
        topology.n_nodes,
        sorted(topology.allowed),
    )


def _l2_of_core(topology: Topology) -> list[int]:
    """L2 cache of each core, named by its first core.

    A topology holds only how many cores the L2 of its first core serves. The cores of an LLC domain
    are assumed to share L2 caches in logical order, in groups of that size.
    """
    width = next((cache.shared_by_cores for cache in topology.caches if cache.level == 2), 1)
    cores_of: dict[tuple[int, int], list[int]] = {}
    for pu in sorted(topology.pus, key=_by_core):
        cores = cores_of.setdefault((pu.package, pu.llc), [])
        if not cores or cores[-1] != pu.core:
            cores.append(pu.core)
    found = list(range(topology.n_cores))
    for cores in cores_of.values():
        for i, core in enumerate(cores):
            found[core] = cores[i - i % max(width, 1)]
    return found


def _by_core(pu: PU) -> int:
    return pu.core
