"""Sampled accesses of others' files by node: what answered them, and which pages they touched.

A page is on the node whose memory answered: the node of the load's CPU for
local memory, the other one of two nodes for remote memory. With more nodes, a remote answer leaves
the node open.
"""

from __future__ import annotations

from collections import Counter

from autofinity.measured.counts import Samples
from autofinity.measured.data_source import Source
from autofinity.measured.perf_script import told
from autofinity.model.sharing import NumaVectors
from autofinity.model.topology import OsIndex, Topology


def told_by_node(samples: Samples, topology: Topology) -> tuple[str, ...]:
    """A line for each node that accesses came from, with the kernel's number of it."""
    by_node = [Counter[Source]() for _ in range(topology.n_nodes)]
    for cpu, source in zip(samples.cpus, samples.sources, strict=True):
        pu = topology.by_os_index.get(OsIndex(cpu))
        if pu is not None:
            by_node[pu.node][Source(source)] += 1
    numbers = topology.node_os_indices
    return tuple(
        f"from node {number}: {told(found)}"
        for number, found in zip(numbers, by_node, strict=True)
        if found
    )


def pages_by_node(samples: Samples, topology: Topology) -> NumaVectors | None:
    """None where the samples have no CPUs of this machine, or no addresses."""
    nodes = topology.n_nodes
    touches: dict[int, list[int]] = {}
    homes: dict[int, int] = {}
    for cpu, page, source in zip(samples.cpus, samples.pages, samples.sources, strict=True):
        pu = topology.by_os_index.get(OsIndex(cpu))
        if pu is None or page < 0:
            continue
        touches.setdefault(page, [0] * nodes)[pu.node] += 1
        if source == Source.LOCAL_MEMORY:
            homes[page] = pu.node
        elif source == Source.REMOTE_MEMORY and nodes == 2:
            homes[page] = 1 - pu.node
    if not touches:
        return None
    return NumaVectors({page: tuple(counts) for page, counts in touches.items()}, nodes=homes)
