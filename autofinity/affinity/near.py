"""The core set of a hint that is nearest to a device. Pure.

A device (a GPU, a network card) hangs on one or a few NUMA nodes. Nearness never changes the
affinity: among the core sets of the affinity that the hint has without a device, on the same kind
of cores and the same SMT level, the chosen one is the first in this order:

1. the sorted list of its PUs on the device's nodes, the smallest first, a missing PU larger than
   any other: PUs of these nodes are taken in order, each where some core set of the affinity holds
   it together with those before. Where no PU of these nodes may be used, the nodes that are nearest
   to them by SLIT distance take their place;
2. the sum of SLIT distances between all ordered pairs of nodes used, smaller first (as in
   GETAFFINITY);
3. the smallest sorted list of (distance from the device, OS index).

Threads are numbered from the device's nodes outwards. So with `{6,2}` six threads sit in a cache of
the device, and with `{1,1}{1,1}` one does: a hint that spreads loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autofinity.affinity.topology_handle import topology_handle
from autofinity.model.affinity import Affinity
from autofinity.model.devices import Device
from autofinity.model.placement import CoreSet
from autofinity.model.topology import OsIndex, Topology

NOWHERE: frozenset[int] = frozenset()
"""Nodes of no device."""


def nodes_of(topology: Topology, device: Device) -> frozenset[int]:
    """Logical nodes that a device hangs on; empty where they are unknown."""
    numbers = {number: node for node, number in enumerate(topology.node_os_indices)}
    found = {numbers[number] for number in device.nodes if number in numbers}
    pus = topology.by_os_index
    return frozenset(found or {pus[cpu].node for cpu in device.cpus if cpu in pus})


def nodes_near(topology: Topology, device: Device) -> frozenset[int]:
    """Logical nodes that a placement near a device prefers; empty where they are unknown, or where
    the device is as near to every node.
    """
    found = nodes_of(topology, device)
    return found if len(found) < topology.n_nodes else NOWHERE


def distances_from(topology: Topology, nodes: frozenset[int]) -> tuple[int, ...]:
    """SLIT distance of each logical node to the nearest of `nodes` (not empty); 0 for these."""
    return tuple(
        0 if node in nodes else min(topology.distances[node][near] for near in nodes)
        for node in range(topology.n_nodes)
    )


def nearer(
    topology: Topology,
    cores: CoreSet,
    nodes: frozenset[int],
    available: frozenset[OsIndex] | None,
) -> CoreSet:
    """The core set of the affinity of `cores` (the best match of its hint) that is nearest to
    `nodes`, among `available` (None: allowed PUs). Without nodes, `cores` itself.
    """
    if not nodes or topology.n_nodes == 1:
        return cores
    from autofinity._core.affinity import place_near

    hint = cores.hint
    assert hint is not None, "only a hint has a nearest match"
    away = distances_from(topology, nodes)
    ranked = _by_distance(topology, away)
    rank = {cpu: OsIndex(at) for at, cpu in enumerate(ranked)}
    usable = topology.allowed if available is None else available
    # To the native core, the OS indices are places in the order of the third key.
    renumbered = _renumbered(topology, rank)
    spreads = hint.spread_sockets if hint.socket_first else hint.spread_llcs
    found = place_near(
        topology_handle(renumbered),
        cores.affinity.occupancy,
        not spreads,
        away,
        [rank[cpu] for cpu in usable if cpu in rank],
    )
    assert found is not None, "the affinity fits, as `cores` shows"
    places, canonical, occupancy = found
    cpus = tuple(ranked[at] for at in places)
    return replace(cores, cpus=cpus, affinity=Affinity(canonical), occupancy=occupancy)


def _by_distance(topology: Topology, away: Sequence[int]) -> list[OsIndex]:
    pus = sorted(topology.pus, key=lambda pu: (away[pu.node], pu.os_index))
    return [pu.os_index for pu in pus]


def _renumbered(topology: Topology, rank: dict[OsIndex, OsIndex]) -> Topology:
    pus = tuple(replace(pu, os_index=rank[pu.os_index]) for pu in topology.pus)
    return replace(topology, pus=pus, allowed=frozenset(rank.values()))
