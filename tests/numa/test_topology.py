"""The machine as a kernel with several nodes shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autofinity.affinity.hints import get_affinity
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.linux.topology import host_topology
from autofinity.linux.watched_program import watch_touches
from autofinity.model.affinity import HINTS
from autofinity.model.topology import Topology

LOCAL, SAME_SOCKET, OTHER_SOCKET = 10, 16, 22  # scripts/numa-guest/machines.py


def test_sockets_nodes_caches_and_cores_are_those_of_the_machine(
    topology: Topology, shape: Any
) -> None:
    assert topology.n_packages == shape.sockets
    assert topology.n_nodes == topology.n_llcs == shape.nodes
    assert topology.n_cores == len(topology.pus) == shape.nodes * shape.cores
    assert all(pu.node == pu.os_index // shape.cores == pu.llc for pu in topology.pus)
    assert all(pu.package == pu.node // shape.dies for pu in topology.pus)
    assert topology.memoryless_nodes == frozenset()


def test_distances_are_those_of_the_firmware(topology: Topology, shape: Any) -> None:
    def expected(a: int, b: int) -> int:
        return SAME_SOCKET if a // shape.dies == b // shape.dies else OTHER_SOCKET

    nodes = range(shape.nodes)
    assert topology.distances == tuple(
        tuple(LOCAL if a == b else expected(a, b) for b in nodes) for a in nodes
    )


def test_hwloc_and_sysfs_say_the_same(topology: Topology) -> None:
    by_hwloc = host_topology()
    assert replace(by_hwloc, name=topology.name) == topology


def test_cpus_that_are_offline_are_not_there(online: Any, shape: Any) -> None:
    off = (1, 2 * shape.cores)
    online.switch_off(*off)
    topology = read_sysfs()
    assert not set(off) & topology.by_os_index.keys()
    assert topology.n_cores == shape.nodes * shape.cores - 2
    assert topology.n_nodes == topology.n_llcs == shape.nodes
    assert replace(host_topology(), name=topology.name) == topology
    for hint in HINTS:
        assert not set(off) & set(get_affinity(topology, shape.nodes, hint).cpus)


def test_faults_on_the_last_cpu_are_seen_when_one_before_it_is_offline(
    online: Any, shape: Any
) -> None:
    online.switch_off(1)
    last = shape.nodes * shape.cores - 1
    code, tally, lost = watch_touches(["taskset", "-c", str(last), "sh", "-c", "exit 3"])
    assert (code, lost) == (3, 0)
    assert sum(map(sum, tally.pages.pages.values())) > 20
