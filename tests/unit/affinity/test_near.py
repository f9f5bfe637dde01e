"""Nearness to a device on machines that people know."""

from __future__ import annotations

from made_up_machine import cpus, machine

from autofinity.affinity.hints import all_hints, get_affinity
from autofinity.affinity.near import distances_from, nodes_near, nodes_of
from autofinity.model.affinity import HINTS, PACKED, Hint
from autofinity.model.devices import Device
from autofinity.model.topology import OsIndex, Topology
from autofinity.sim.preset import load_preset

OPTERON = load_preset("opteron-6164he").topology
"""4 sockets of 2 nodes of a cache of 6 cores; nodes of a socket are 16 apart."""


def device(*nodes: int, local: frozenset[OsIndex] = frozenset()) -> Device:
    return Device(("gpu0",), "gpu", nodes=tuple(map(OsIndex, nodes)), cpus=local)


def on_node(topology: Topology, chosen: tuple[OsIndex, ...], node: int) -> list[OsIndex]:
    return [cpu for cpu in chosen if topology.by_os_index[cpu].node == node]


def test_packed_threads_fill_the_cache_of_the_device_first() -> None:
    found = get_affinity(OPTERON, 8, PACKED, near=frozenset({5}))
    assert str(found.affinity) == "{6,2}"
    assert len(on_node(OPTERON, found.cpus, 5)) == 6
    assert len(on_node(OPTERON, found.cpus, 4)) == 2, "the other node of the device's socket"
    assert on_node(OPTERON, found.cpus[:6], 5) == list(found.cpus[:6]), "threads from the device on"


def test_the_uneven_share_is_the_device_s() -> None:
    found = get_affinity(OPTERON, 8, Hint.from_letters("SlP"), near=frozenset({3}))
    assert str(found.affinity) == "{5}{1}{1}{1}"
    assert len(on_node(OPTERON, found.cpus, 3)) == 5


def test_a_hint_that_spreads_loses_nothing() -> None:
    for node in range(OPTERON.n_nodes):
        near = all_hints(OPTERON, 8, near=frozenset({node}))
        plain = all_hints(OPTERON, 8)
        for hint, with_device, without in zip(HINTS, near, plain, strict=True):
            assert with_device.affinity == without.affinity, str(hint)
            assert on_node(OPTERON, with_device.cpus, node), str(hint)


def test_among_equal_nodes_those_nearest_to_the_device_follow() -> None:
    # A ring of four nodes: 0 and 2, 1 and 3 are opposite.
    ring = machine(packages=4, cores=2, far=20)
    rows = tuple(
        tuple(30 if abs(a - b) == 2 else ring.distances[a][b] for b in range(4)) for a in range(4)
    )
    topology = Topology(ring.name, ring.origin, ring.pus, ring.node_os_indices, rows, ring.allowed)
    found = get_affinity(topology, 6, PACKED, near=frozenset({3}))
    assert {topology.by_os_index[cpu].node for cpu in found.cpus} == {3, 0, 2}


def test_where_no_cpu_of_the_node_may_be_used_the_nearest_nodes_take_its_place() -> None:
    free = frozenset(pu.os_index for pu in OPTERON.pus if pu.node not in (5,))
    found = get_affinity(OPTERON, 4, PACKED, free, near=frozenset({5}))
    (node,) = {OPTERON.by_os_index[cpu].node for cpu in found.cpus}
    assert OPTERON.distances[node][5] == 16


def test_a_device_s_kernel_numbers_become_logical_nodes() -> None:
    sparse = Topology(
        "sparse",
        "file",
        machine(packages=2, cores=2).pus,
        (OsIndex(4), OsIndex(9)),
        ((10, 20), (20, 10)),
        cpus(0, 1, 2, 3),
    )
    assert nodes_of(sparse, device(9)) == {1}
    assert nodes_near(sparse, device(9)) == {1}
    assert nodes_near(sparse, device(1)) == frozenset(), "no node of that number"
    assert nodes_near(sparse, device(local=cpus(2, 3))) == {1}, "by its CPUs"
    assert nodes_near(sparse, device()) == frozenset()


def test_a_device_of_all_nodes_prefers_none() -> None:
    topology = machine(packages=2, cores=2)
    assert nodes_near(topology, device(0, 1)) == frozenset()
    assert nodes_near(machine(cores=2), device(0)) == frozenset()


def test_the_device_s_own_nodes_are_nearer_than_any_other() -> None:
    assert distances_from(OPTERON, frozenset({0}))[:2] == (0, 16)
    near_all = machine(packages=3, cores=1, far=10)
    assert distances_from(near_all, frozenset({1})) == (10, 0, 10)
