"""A core set of an affinity near a program's memory, and near where threads are at home. Pure.

GETAFFINITY names the first of many equivalent sets: any LLC domain of a socket is as good as
another. The sets are not equivalent for threads that have run already: their pages are on the nodes
where they ran. So each domain of the affinity becomes a domain of the machine that is home to as
many threads, or else a domain on such a node.

Where memory was seen by node, memory comes first: a thread that made the data of all others may be
at home anywhere. Memory of nodes near each other, as those of a socket (`Topology.is_near`), counts
nearly as one. By first touch the pages there are the own ones of its threads, or all threads'
alike; both cases look alike, so each counts for half.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, permutations
from math import perm
from typing import Literal, NamedTuple

from autofinity.model.memory import MemoryByNode
from autofinity.model.topology import PU, OsIndex, Topology

_MOST_ORDERS = 720
"""Largest number of orders of sockets that are tried; with more, none is tried and the set of
GETAFFINITY is used."""
_NEARLY = 0.9
"""Worth of a near node's memory: it takes 117 ns where local memory takes 107, and that of the
other socket 190, on two Xeon 8480 (machine file)."""
_CLEAR = 0.05
"""Share of all memory below which a difference is none."""


class _Socket(NamedTuple):
    """Domains of a socket for some threads of the affinity."""

    local: float
    """Share of all memory that is local to its users; 0 where memory was not seen."""
    at_home: int
    """Threads whose own domain has room for them."""
    near: int
    """Threads whose own node has room for them."""
    taken: tuple[tuple[int, int], ...]
    """Pairs of an LLC domain and its number of threads."""


class _Nodes:
    """Threads and memory by node, as domains are filled one after another."""

    def __init__(
        self, topology: Topology, threads: int, homes: Sequence[PU], memory: MemoryByNode | None
    ) -> None:
        """Some of the threads are at home on PUs `homes`."""
        self.in_domain = Counter(pu.llc for pu in homes)
        """Threads at home in each LLC domain."""
        self._threads = threads
        self._left = Counter(pu.node for pu in homes)
        self._region = _regions(topology)
        self._at_home = Counter(self._region[pu.node] for pu in homes)
        self._left_in = Counter(self._at_home)
        self._memory = _memory_near(topology, memory)

    def near(self, node: int, count: int) -> int:
        """Threads at home on the node among `count` that go there."""
        return min(count, self._left[node])

    def local(self, node: int, count: int) -> float:
        """Share of all memory that is local to its users if `count` threads go to the node."""
        region = self._region[node]
        own = min(count, self._left_in[region]) / max(1, self._at_home[region])
        return self._memory[node] * (own + count / self._threads) / 2

    def take(self, node: int, count: int) -> None:
        """Let `count` threads go to the node."""
        self._left[node] -= self.near(node, count)
        region = self._region[node]
        self._left_in[region] -= min(count, self._left_in[region])


def near_set(
    topology: Topology,
    homes: Collection[OsIndex],
    seats: Sequence[OsIndex],
    available: Collection[OsIndex],
    memory: MemoryByNode | None = None,
) -> tuple[OsIndex, ...] | None:
    """PUs like `seats`, each on its own core, with as much of the program's `memory` local as
    possible, and as many of `homes` (one for each thread) on the nodes of these PUs.

    Next, as many threads as possible are in the caches of `homes`. None where seats share cores,
    cores are of several kinds, or the nodes would be further apart.
    """
    pus = topology.by_os_index
    if len({pu.efficiency for pu in topology.pus}) > 1:
        return None
    if len({pus[cpu].core for cpu in seats}) < len(seats):
        return None
    at = [pus[cpu] for cpu in homes]
    cores = _cores(topology, homes, available)
    wanted = _counts(pus[cpu] for cpu in seats)
    packages = sorted({pu.package for pu in topology.pus})
    if perm(len(packages), len(wanted)) > _MOST_ORDERS:
        return None
    limit = furthest(topology, seats)
    found: list[tuple[_Socket, ...]] = []
    for scopes in (_domains(topology, "socket"), _domains(topology, "node")):
        fits = {
            (package, counts): _best(
                (_fitted(counts, part, cores, _Nodes(topology, len(seats), at, memory)),)
                for part in parts
            )
            for package, parts in scopes.items()
            for counts in wanted
        }
        for order in permutations(packages, len(wanted)):
            some = [fits[each] for each in zip(order, wanted, strict=True)]
            usable = tuple(chain.from_iterable(each for each in some if each is not None))
            if len(usable) == len(wanted) and furthest(topology, _cpus(usable, cores)) <= limit:
                found.append(usable)
    best = _best(found)
    return None if best is None else _cpus(best, cores)


def _memory_near(topology: Topology, memory: MemoryByNode | None) -> Sequence[float]:
    """Share of all memory that is local to each node; that of nodes near it counts a little less.
    0 where memory was not seen.
    """
    nodes = range(topology.n_nodes)
    if memory is None:
        return [0.0] * topology.n_nodes
    return [
        math.fsum(
            memory.share(other) * (1.0 if other == node else _NEARLY)
            for other in nodes
            if topology.is_near(node, other)
        )
        for node in nodes
    ]


def _regions(topology: Topology) -> tuple[int, ...]:
    """Region of each node: the first of the nodes that are near it, as if nearness were
    transitive.
    """
    nodes = range(topology.n_nodes)
    return tuple(next(other for other in nodes if topology.is_near(node, other)) for node in nodes)


def _best(candidates: Iterable[Sequence[_Socket | None]]) -> tuple[_Socket, ...] | None:
    """The candidate with most local memory; of those with nearly as much, with most threads near
    and at home; of these the first. None without a candidate.
    """
    usable = [tuple(filter(None, each)) for each in candidates if None not in each]
    if not usable:
        return None
    local = [math.fsum(socket.local for socket in each) for each in usable]
    alike = [each for each, own in zip(usable, local, strict=True) if own >= max(local) - _CLEAR]
    return max(
        alike,
        key=lambda each: (
            sum(socket.near for socket in each),
            sum(socket.at_home for socket in each),
        ),
    )


def _domains(
    topology: Topology, scope: Literal["socket", "node"]
) -> Mapping[int, Sequence[Mapping[int, int]]]:
    """The LLC domains of each socket, or of each of its nodes, with the node of each domain."""
    found: dict[int, dict[int, dict[int, int]]] = {}
    for pu in topology.pus:
        part = 0 if scope == "socket" else pu.node
        found.setdefault(pu.package, {}).setdefault(part, {})[pu.llc] = pu.node
    return {package: tuple(parts.values()) for package, parts in found.items()}


def _cpus(
    sockets: Iterable[_Socket], cores: Mapping[int, Sequence[OsIndex]]
) -> tuple[OsIndex, ...]:
    taken = (pair for socket in sockets for pair in socket.taken)
    return tuple(cpu for llc, count in taken for cpu in cores[llc][:count])


def _counts(pus: Iterable[PU]) -> list[tuple[int, ...]]:
    """Threads in each domain of each socket that has any, largest first."""
    counts: dict[int, Counter[int]] = {}
    for pu in pus:
        counts.setdefault(pu.package, Counter())[pu.llc] += 1
    return [tuple(sorted(each.values(), reverse=True)) for each in counts.values()]


def _cores(
    topology: Topology, homes: Collection[OsIndex], available: Collection[OsIndex]
) -> Mapping[int, list[OsIndex]]:
    """One PU of each core that may be used, by LLC domain; homes of threads come first."""
    first: dict[int, PU] = {}
    for pu in topology.pus:
        if pu.os_index in available and (pu.core not in first or pu.os_index in homes):
            first[pu.core] = pu
    found: dict[int, list[OsIndex]] = {}
    for pu in sorted(first.values(), key=lambda pu: pu.os_index not in homes):
        found.setdefault(pu.llc, []).append(pu.os_index)
    return found


def _fitted(
    counts: Sequence[int],
    node_of: Mapping[int, int],
    cores: Mapping[int, Sequence[OsIndex]],
    nodes: _Nodes,
) -> _Socket | None:
    """Some of these domains of one socket, each on its node; None where there is no room."""
    free = list(node_of)
    local, at_home, near = 0.0, 0, 0
    taken = []
    for count in counts:
        roomy = [llc for llc in free if len(cores.get(llc, ())) >= count]
        if not roomy:
            return None
        own = {llc: nodes.local(node_of[llc], count) for llc in roomy}
        most = max(own.values())
        best = max(
            (llc for llc in roomy if own[llc] >= most - _CLEAR),
            key=lambda llc: (min(count, nodes.in_domain[llc]), nodes.near(node_of[llc], count)),
        )
        node = node_of[best]
        local += own[best]
        at_home += min(count, nodes.in_domain[best])
        near += nodes.near(node, count)
        nodes.take(node, count)
        free.remove(best)
        taken.append((best, count))
    return _Socket(local, at_home, near, tuple(taken))


def furthest(topology: Topology, cpus: Sequence[OsIndex]) -> float:
    """The largest distance between nodes of these PUs."""
    nodes = {topology.by_os_index[cpu].node for cpu in cpus}
    return max(topology.distances[a][b] for a in nodes for b in nodes)
