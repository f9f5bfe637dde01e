"""A core set of an affinity near where threads are at home. Pure.

GETAFFINITY names the first of many equivalent sets: any LLC domain of a socket is as good as
another. The sets are not equivalent for threads that have run already: their pages are on the nodes
where they ran. So each domain of the affinity becomes a domain of the machine that is home to as
many threads, or else a domain on such a node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import permutations
from math import perm
from typing import NamedTuple

from autofinity.model.topology import PU, OsIndex, Topology

_MOST_ORDERS = 720
"""Largest number of orders of sockets that are tried; with more, none is tried and the set of
GETAFFINITY is used."""


class _Socket(NamedTuple):
    """Domains of a socket for some threads of the affinity."""

    at_home: int
    """Threads whose own domain has room for them."""
    near: int
    """Threads whose own node has room for them."""
    taken: tuple[tuple[int, int], ...]
    """Pairs of an LLC domain and its number of threads."""


def near_set(
    topology: Topology,
    homes: Collection[OsIndex],
    seats: Sequence[OsIndex],
    available: Collection[OsIndex],
) -> tuple[OsIndex, ...] | None:
    """PUs like `seats`, each on its own core, with as many of `homes` (one for each thread) as
    possible.

    Next, as many PUs as possible are on the nodes of `homes`. None where seats share cores, cores
    are of several kinds, or the nodes would be further apart.
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
    domains = {
        package: tuple(dict.fromkeys(pu.llc for pu in topology.pus if pu.package == package))
        for package in packages
    }
    node_of = {pu.llc: pu.node for pu in topology.pus}
    fits = {
        (package, counts): _fitted(counts, domains[package], cores, node_of, at)
        for package in packages
        for counts in wanted
    }
    best: tuple[_Socket, ...] = ()
    for order in permutations(packages, len(wanted)):
        found = [fits[each] for each in zip(order, wanted, strict=True)]
        usable = tuple(socket for socket in found if socket is not None)
        if len(usable) == len(wanted) and (not best or _worth(usable) > _worth(best)):
            best = usable
    chosen = tuple(
        cpu for socket in best for llc, count in socket.taken for cpu in cores[llc][:count]
    )
    if not chosen or furthest(topology, chosen) > furthest(topology, seats):
        return None
    return chosen


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
    domains: Sequence[int],
    cores: Mapping[int, Sequence[OsIndex]],
    node_of: Mapping[int, int],
    homes: Sequence[PU],
) -> _Socket | None:
    """Domains of one socket; None where there is no room."""
    in_domain = Counter(pu.llc for pu in homes)
    on_node = Counter(pu.node for pu in homes)
    free = list(domains)
    at_home = near = 0
    taken = []
    for count in counts:
        roomy = [llc for llc in free if len(cores.get(llc, ())) >= count]
        if not roomy:
            return None
        best = max(
            roomy,
            key=lambda llc: (min(count, in_domain[llc]), min(count, on_node[node_of[llc]])),
        )
        node = node_of[best]
        at_home += min(count, in_domain[best])
        near += min(count, on_node[node])
        on_node[node] -= min(count, on_node[node])
        free.remove(best)
        taken.append((best, count))
    return _Socket(at_home, near, tuple(taken))


def _worth(sockets: Sequence[_Socket]) -> tuple[int, int]:
    return sum(each.near for each in sockets), sum(each.at_home for each in sockets)


def furthest(topology: Topology, cpus: Sequence[OsIndex]) -> float:
    """The largest distance between nodes of these PUs."""
    nodes = {topology.by_os_index[cpu].node for cpu in cpus}
    return max(topology.distances[a][b] for a in nodes for b in nodes)
