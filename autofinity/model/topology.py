"""The machine as a placement decision sees it.

    Topology ── packages (sockets) ── nodes (NUMA) ── LLC domains ── cores ── PUs

Every index inside a `Topology` is logical and dense (0, 1, 2, … in hwloc's order); the kernel's
numbers appear only as `os_index` and `node_os_indices`, with a type of their own, so that the two
are never mixed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NewType

OsIndex = NewType("OsIndex", int)
"""A number the kernel uses for a PU (or, in `node_os_indices`, for a node)."""

UNKNOWN_NODE = OsIndex(-1)

Origin = Literal["host", "preset", "file", "synthetic"]


@dataclass(frozen=True, slots=True)
class PU:
    """One hardware thread. All fields but `os_index` are logical."""

    os_index: OsIndex
    smt_rank: int
    """0 for the first PU of its core, 1 for the second, …"""
    core: int
    llc: int
    """Last-level-cache domain. A core without any shared cache is a domain of its own package part
    (see `autofinity.linux.topology` for the rule)."""
    package: int
    node: int
    """NUMA node whose memory is local. Several nodes may be local: then the first. A PU in no known
    node is in a stand-in for it (`Topology.unknown_nodes`)."""
    efficiency: int = 0
    """Kind of core on hybrid machines: larger is faster; 0 everywhere on others, and where nothing
    ranks the kinds."""


@dataclass(frozen=True, slots=True)
class Cache:
    """One level of cache, as a core of the machine sees it (the first core where they differ)."""

    level: int
    size_bytes: int
    line_bytes: int
    ways: int
    """0 where unknown, -1 where fully associative (hwloc's convention)."""
    shared_by_cores: int


@dataclass(frozen=True)
class Topology:
    """PUs in logical order, the distances between nodes, and what a placement may use.

    Frozen but not slotted: the index tables below are computed once and kept.
    """

    name: str
    origin: Origin
    pus: tuple[PU, ...]
    node_os_indices: tuple[OsIndex, ...]
    """Kernel number of each logical node; `UNKNOWN_NODE` for a stand-in, which come last."""
    distances: tuple[tuple[int, ...], ...]
    """SLIT: `distances[a][b]` between logical nodes; 10 is local. Square, one row a node."""
    allowed: frozenset[OsIndex]
    """OS indices that may be used now (cpuset, offline and affinity mask applied)."""
    caches: tuple[Cache, ...] = ()
    page_sizes_bytes: tuple[int, ...] = (4096,)
    model: str = ""
    """CPU model as the machine reports it; empty where unknown."""
    memoryless_nodes: frozenset[int] = frozenset()
    """Logical nodes that no page of ours can live on: without memory, or not allowed to us."""
    one_node_assumed: bool = False
    """Nothing tells of NUMA nodes, so all PUs are taken to be in one."""
    kinds_unranked: bool = False
    """Cores are of several kinds, and nothing tells which is faster."""

    @cached_property
    def by_os_index(self) -> dict[OsIndex, PU]:
        """PU of each OS index."""
        return {pu.os_index: pu for pu in self.pus}

    @cached_property
    def unknown_nodes(self) -> frozenset[int]:
        """Logical nodes that stand for none that is known, one a socket: how far their PUs are from
        memory, and from those of other LLC domains, is not known. Distances take it for another
        node's.
        """
        return frozenset(
            node for node, number in enumerate(self.node_os_indices) if number == UNKNOWN_NODE
        )

    @cached_property
    def cpus_without_node(self) -> frozenset[OsIndex]:
        """PUs that are in no known node."""
        return frozenset(pu.os_index for pu in self.pus if pu.node in self.unknown_nodes)

    @cached_property
    def n_packages(self) -> int:
        """Number of sockets."""
        return 1 + max(pu.package for pu in self.pus)

    @cached_property
    def n_nodes(self) -> int:
        """Number of NUMA nodes, those without CPUs included."""
        return len(self.node_os_indices)

    @cached_property
    def n_llcs(self) -> int:
        """Number of last-level-cache domains."""
        return 1 + max(pu.llc for pu in self.pus)

    @cached_property
    def n_cores(self) -> int:
        """Number of cores."""
        return 1 + max(pu.core for pu in self.pus)

    def restricted(self, allowed: frozenset[OsIndex]) -> Topology:
        """The same machine with only `allowed` (∩ what was allowed before) to place on."""
        return replace(self, allowed=self.allowed & allowed)
