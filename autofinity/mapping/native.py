"""The native handle of a topology for mappers: made once, kept with the topology."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofinity.model.topology import PU, Topology

if TYPE_CHECKING:
    from autofinity._core.mapping import Machine

_KEY = "_native_mapping_machine"


def native_machine(topology: Topology) -> Machine:
    """The native form of `topology`. Kept in its instance dictionary, as its cached properties are.

    An LLC domain that spans sockets counts as one a socket.
    """
    known: Machine | None = vars(topology).get(_KEY)
    if known is not None:
        return known
    from autofinity._core.mapping import Machine

    domains = sorted({(pu.package, pu.llc) for pu in topology.pus})
    number = {domain: i for i, domain in enumerate(domains)}
    l2_of_core = _l2_of_core(topology)
    made = Machine(
        [
            [pu.os_index for pu in topology.pus],
            [pu.core for pu in topology.pus],
            [l2_of_core[pu.core] for pu in topology.pus],
            [number[pu.package, pu.llc] for pu in topology.pus],
            [pu.node for pu in topology.pus],
            [pu.package for pu in topology.pus],
        ],
        [float(cell) for row in topology.distances for cell in row],
        topology.n_nodes,
    )
    vars(topology)[_KEY] = made
    return made


def _l2_of_core(topology: Topology) -> list[int]:
    """L2 cache of each core, named by its first core.

    A topology says only how many cores the L2 of its first core serves; the cores of an LLC domain
    are taken to share theirs in logical order, in groups of that size.
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
