"""The machine as a placement decision sees it.

    Topology ── packages (sockets) ── nodes (NUMA) ── LLC domains ── cores ── PUs

Every index inside a `Topology` is logical and dense (0, 1, 2, … in hwloc's order); the kernel's
numbers appear only as `os_index` and `node_os_indices`, with a type of their own, so that logical
and kernel numbers are never mixed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NewType

OsIndex = NewType("OsIndex", int)
"""A number that the kernel uses for a PU (in `node_os_indices`: for a node)."""

_NEAR = 1.3
"""Largest distance of near memory, by that of local memory."""
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
    """Last-level-cache domain. A core without a shared cache belongs to a domain of its part of the
    package (see `autofinity.linux.topology` for the rule)."""
    package: int
    node: int
    """NUMA node whose memory is local; where several are local, the first. A PU in no known node
    has a stand-in (`Topology.unknown_nodes`)."""
    efficiency: int = 0
    """Kind of core on hybrid machines: larger is faster. 0 everywhere on other machines, and where
    the kinds are not ranked."""


@dataclass(frozen=True, slots=True)
class Cache:
    """One level of cache, as a core of the machine sees it (the first core where they differ)."""

    level: int
    size_bytes: int
    line_bytes: int
    ways: int
    """Ways; 0 where unknown, -1 where fully associative (hwloc's convention)."""
    shared_by_cores: int


@dataclass(frozen=True)
class Topology:
    """PUs in logical order, the distances between nodes, and what a placement may use.

    Frozen but not slotted: each index table below is computed once and kept.
    """

    name: str
    origin: Origin
    pus: tuple[PU, ...]
    node_os_indices: tuple[OsIndex, ...]
    """Kernel number of each logical node; `UNKNOWN_NODE` for stand-ins, which come last."""
    distances: tuple[tuple[int, ...], ...]
    """SLIT distances: `distances[a][b]` between logical nodes; 10 is local. Square, one row for
    each node."""
    allowed: frozenset[OsIndex]
    """OS indices that may be used now (cpuset, offline and affinity mask applied)."""
    caches: tuple[Cache, ...] = ()
    page_sizes_bytes: tuple[int, ...] = (4096,)
    model: str = ""
    """CPU model as the machine reports it; empty where unknown."""
    memoryless_nodes: frozenset[int] = frozenset()
    """Logical nodes that cannot hold our pages: they have no memory, or are not allowed to us."""
    one_node_assumed: bool = False
    """NUMA nodes are not known, so all PUs are assumed to be in one node."""
    llc_parts: int = 1
    """Most LLC domains that divide one last-level cache among themselves: several with sub-NUMA
    clusters, where each node of a socket has a part of the cache."""
    kinds_unranked: bool = False
    """Cores are of several kinds, and their order of speed is not known."""
    isolated: frozenset[OsIndex] = frozenset()
    """OS indices between which the kernel balances no threads (isolcpus=, isolated cpusets): a
    thread stays on the CPU where it begins or is put."""

    @cached_property
    def by_os_index(self) -> dict[OsIndex, PU]:
        """PU of each OS index."""
        return {pu.os_index: pu for pu in self.pus}

    @cached_property
    def unknown_nodes(self) -> frozenset[int]:
        """Logical nodes that stand for unknown nodes, one for each socket.

        The distances of their PUs to memory, and to PUs of other LLC domains, are not known.
        Distances are computed as for another node.
        """
        return frozenset(
            node for node, number in enumerate(self.node_os_indices) if number == UNKNOWN_NODE
        )

    @cached_property
    def cpus_without_node(self) -> frozenset[OsIndex]:
        """PUs that are in no known node."""
        return frozenset(pu.os_index for pu in self.pus if pu.node in self.unknown_nodes)

    @cached_property
    def memory_homes(self) -> tuple[int, ...]:
        """Node that holds the pages of each logical node: the node itself, or the nearest one that
        has memory, the lowest of several.
        """
        nodes = range(self.n_nodes)
        homes = [node for node in nodes if node not in self.memoryless_nodes]
        return tuple(
            node
            if node not in self.memoryless_nodes
            else min(homes, key=lambda home: (self.distances[node][home], home))
            for node in nodes
        )

    def is_near(self, a: int, b: int) -> bool:
        """Whether memory of logical node `b` is about as near to PUs of node `a` as local memory.

        Nodes of one socket are at distances of 11 and 12 on servers of today, and their memory
        takes 107 and 117 ns on two Xeon 8480 (machine file). Other nodes are at 16 and more: other
        sockets, and the other die of a socket of the Opterons.
        """
        return self.distances[a][b] <= _NEAR * self.distances[a][a]

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
    def llc_bytes(self) -> int:
        """Size of the last-level cache of a domain, of the domain's part, or of the caches of all
        its cores together, as of the first domain; 0 where unknown.
        """
        if not self.caches:
            return 0
        last = self.caches[-1]
        caches = max(1, self._first_llc_cores // max(1, last.shared_by_cores))
        return caches * last.size_bytes // self.llc_parts

    @cached_property
    def llcs_are_caches(self) -> bool:
        """Whether each LLC domain is one whole cache, which other programs know by its level."""
        shared = bool(self.caches) and self.caches[-1].shared_by_cores >= self._first_llc_cores
        return shared and self.llc_parts == 1

    @cached_property
    def _first_llc_cores(self) -> int:
        """Number of cores of the first LLC domain, whose caches are known."""
        return len({pu.core for pu in self.pus if pu.llc == self.pus[0].llc})

    @cached_property
    def nodes_with_cpus(self) -> frozenset[int]:
        """Logical nodes that threads can be on: not those of CXL memory, of a GPU's memory, or of
        HBM beside the CPUs' own memory.
        """
        return frozenset(pu.node for pu in self.pus)

    @cached_property
    def has_an_llc_each_node(self) -> bool:
        """Whether no node has cores of several LLC domains."""
        return len({(pu.node, pu.llc) for pu in self.pus}) == len({pu.node for pu in self.pus})

    @cached_property
    def n_cores(self) -> int:
        """Number of cores."""
        return 1 + max(pu.core for pu in self.pus)

    def balanced(self, cpus: frozenset[OsIndex]) -> frozenset[OsIndex]:
        """The CPUs without isolated ones; all of them where all are isolated."""
        return cpus - self.isolated or cpus

    def restricted(self, allowed: frozenset[OsIndex]) -> Topology:
        """The same machine with only the PUs in `allowed` (∩ those allowed before) to place on."""
        return replace(self, allowed=self.allowed & allowed)
