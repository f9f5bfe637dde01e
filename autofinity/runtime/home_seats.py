"""Seats of an affinity with as few threads as possible far from home. Pure.

A thread has filled caches, and first touched its pages, where it ran before it was bound. A thread
that is bound elsewhere refills caches, and reads its pages from another node for the rest of the
run; and a thread that is moved for a second look has to come back. Cores of a cache are equivalent,
and so are caches of a class: threads that form the affinity already stay, in whichever order the
system spread them. Others that share caches sit beside threads with neighbouring numbers, and all
threads do in `by_number`, which is tried where neighbours matter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise, permutations
from math import factorial

from autofinity.model.memory import MemoryByNode
from autofinity.model.placement import CoreSet
from autofinity.model.topology import PU, OsIndex, Topology
from autofinity.profiling.placements import class_of
from autofinity.runtime.near_set import furthest, near_set
from autofinity.runtime.seat_order import exchanged

_MOST_ORDERS = 720
"""Largest number of orders of LLC domains that are tried."""
type _Part = Callable[[PU], int]
_WIDEST_FIRST: tuple[_Part, ...] = (
    lambda pu: pu.package,
    lambda pu: pu.node,
    lambda pu: pu.llc,
)
_NEARNESS: tuple[_Part, ...] = (
    lambda pu: pu.os_index,
    lambda pu: pu.core,
    lambda pu: pu.llc,
    lambda pu: pu.node,
    lambda pu: pu.package,
    lambda pu: 0,
)


def at_home(
    topology: Topology,
    homes: Mapping[int, OsIndex],
    cores: CoreSet,
    available: Collection[OsIndex],
    memory: MemoryByNode | None = None,
) -> CoreSet:
    """A core set of the affinity of `cores`, among the CPUs `available`, one PU for each thread.

    It is the homes where they form that affinity. Else it is seats near home and `memory` in an
    equivalent set (`near_set`), and home itself where the seat is in the same cache. `homes` is by
    thread, and may lack threads.
    """
    threads = len(cores.cpus)
    known = _known(homes, threads, available)
    if len(known) == threads:
        home = tuple(known[n] for n in range(threads))
        if _form_alike(topology, home, cores):
            return replace(cores, cpus=home, occupancy=_occupancy(topology, home))
    near = near_set(topology, tuple(known.values()), cores.cpus, available, memory) or cores.cpus
    pus = topology.by_os_index
    if len({pus[cpu].llc for cpu in near}) == threads:
        seats = seated_near(topology, known, near)
    else:
        seats = in_order(topology, known, near)
    return _on_own_cpus(topology, known, cores, seats)


def by_number(
    topology: Topology,
    homes: Mapping[int, OsIndex],
    cores: CoreSet,
    available: Collection[OsIndex],
    memory: MemoryByNode | None = None,
) -> CoreSet:
    """A core set as `at_home` gives it, in which threads with neighbouring numbers share caches,
    nodes and sockets wherever they can, however far from home.

    Sockets, nodes of a socket and caches of a node are taken in turn, each time the part that is
    home to most of the threads that come next.
    """
    known = _known(homes, len(cores.cpus), available)
    near = near_set(topology, tuple(known.values()), cores.cpus, available, memory) or cores.cpus
    return _on_own_cpus(topology, known, cores, numbered(topology, near, known))


def by_number_exchanged(
    topology: Topology,
    homes: Mapping[int, OsIndex],
    cores: CoreSet,
    available: Collection[OsIndex],
    memory: MemoryByNode | None = None,
) -> CoreSet:
    """A core set as `by_number` gives it, in which caches have exchanged halves of their threads
    (`exchanged`).
    """
    found = by_number(topology, homes, cores, available, memory)
    known = _known(homes, len(cores.cpus), available)
    return _on_own_cpus(topology, known, cores, exchanged(topology, found.cpus))


def numbered(
    topology: Topology, cpus: Sequence[OsIndex], homes: Mapping[int, OsIndex]
) -> tuple[OsIndex, ...]:
    """The PUs `cpus`, one for each thread, so that threads with neighbouring numbers share caches,
    nodes and sockets. Parts that are home to more of the threads at hand come first.
    """
    pus = topology.by_os_index

    def dealt(cpus: Sequence[OsIndex], first: int, parts: Sequence[_Part]) -> list[OsIndex]:
        """These CPUs in the order of the threads from `first` on."""
        if not parts:
            return list(cpus)
        part, *finer = parts
        groups: dict[int, list[OsIndex]] = {}
        for cpu in cpus:
            groups.setdefault(part(pus[cpu]), []).append(cpu)
        found: list[OsIndex] = []
        while groups:
            at = first + len(found)
            homes_in = {
                group: sum(
                    part(pus[homes[n]]) == group for n in range(at, at + len(seats)) if n in homes
                )
                for group, seats in groups.items()
            }
            best = max(groups, key=homes_in.__getitem__)
            found += dealt(groups.pop(best), at, finer)
        return found

    return tuple(dealt(cpus, 0, _WIDEST_FIRST))


def _known(
    homes: Mapping[int, OsIndex], threads: int, available: Collection[OsIndex]
) -> dict[int, OsIndex]:
    """Homes of the threads that have one among the CPUs that may be used."""
    return {n: cpu for n, cpu in homes.items() if n < threads and cpu in available}


def _on_own_cpus(
    topology: Topology, known: Mapping[int, OsIndex], cores: CoreSet, found: Sequence[OsIndex]
) -> CoreSet:
    """The seats that were found, but home itself for a thread whose seat is in the same cache."""
    pus, seats = topology.by_os_index, list(found)
    for thread, cpu in known.items():
        used = {pus[seat].core for other, seat in enumerate(seats) if other != thread}
        seat, own = pus[seats[thread]], pus[cpu]
        if (seat.llc, seat.efficiency) == (own.llc, own.efficiency) and own.core not in used:
            seats[thread] = cpu
    return replace(cores, cpus=tuple(seats), occupancy=_occupancy(topology, seats))


def _occupancy(topology: Topology, cpus: Sequence[OsIndex]) -> tuple[tuple[int, ...], ...]:
    """Threads in each LLC domain of each socket."""
    counts: dict[int, dict[int, int]] = {}
    for pu in topology.pus:
        counts.setdefault(pu.package, {}).setdefault(pu.llc, 0)
    for cpu in cpus:
        pu = topology.by_os_index[cpu]
        counts[pu.package][pu.llc] += 1
    return tuple(tuple(llcs.values()) for llcs in counts.values())


def _form_alike(topology: Topology, cpus: Sequence[OsIndex], cores: CoreSet) -> bool:
    """Whether PUs have the affinity of `cores`, as many cores, the same kinds, and nodes no further
    apart.
    """
    here, there = ([topology.by_os_index[cpu] for cpu in some] for some in (cpus, cores.cpus))
    return (
        len(set(cpus)) == len(cpus)
        and class_of(topology, cpus) == cores.affinity
        and len({pu.core for pu in here}) == len({pu.core for pu in there})
        and sorted(pu.efficiency for pu in here) == sorted(pu.efficiency for pu in there)
        and furthest(topology, cpus) <= furthest(topology, cores.cpus)
    )


def neighbours(topology: Topology, seats: Sequence[OsIndex]) -> tuple[int, int, int]:
    """Numbers of threads that share an LLC, a node and a socket with the next thread."""
    pus = [topology.by_os_index[cpu] for cpu in seats]
    pairs = list(pairwise(pus))
    return (
        sum(one.llc == next_one.llc for one, next_one in pairs),
        sum(one.node == next_one.node for one, next_one in pairs),
        sum(one.package == next_one.package for one, next_one in pairs),
    )


def in_order(
    topology: Topology, homes: Mapping[int, OsIndex], wanted: Sequence[OsIndex]
) -> tuple[OsIndex, ...]:
    """The PUs `wanted`, one for each thread, assigned domain by domain in the order of threads.

    GETAFFINITY assigns them in the same way: threads with neighbouring numbers often share, and
    stay together. The order of the domains is the one in which most threads get a PU at home, or on
    the node of their home.
    """
    pus = topology.by_os_index
    domains: dict[int, list[OsIndex]] = {}
    for cpu in wanted:
        domains.setdefault(pus[cpu].llc, []).append(cpu)
    known = {thread: pus[cpu] for thread, cpu in homes.items() if cpu in pus}

    def at_home(seats: Sequence[OsIndex]) -> tuple[int, int]:
        pairs = [(pus[seats[n]], home) for n, home in known.items() if n < len(seats)]
        own = sum(seat.llc == home.llc for seat, home in pairs)
        return sum(seat.node == home.node for seat, home in pairs), own

    orders: Iterable[Sequence[Sequence[OsIndex]]] = (tuple(domains.values()),)
    if factorial(len(domains)) <= _MOST_ORDERS:
        orders = permutations(domains.values())
    return max((tuple(chain(*order)) for order in orders), key=at_home)


def seated_near(
    topology: Topology, homes: Mapping[int, OsIndex], wanted: Sequence[OsIndex]
) -> tuple[OsIndex, ...]:
    """The PUs `wanted`, one for each thread, assigned near the threads' homes.

    Each thread gets, in this order of preference, its home, a PU of the same core, cache, node or
    socket, or any PU. `homes` is by position in the result. A thread without a home, or with one
    that the topology does not know, gets a remaining PU.
    """
    known = {
        thread: topology.by_os_index[cpu]
        for thread, cpu in homes.items()
        if cpu in topology.by_os_index and thread < len(wanted)
    }
    found: dict[int, OsIndex] = {}
    free = list(wanted)
    for part in _NEARNESS:
        seats: dict[int, list[OsIndex]] = {}
        for cpu in free:
            seats.setdefault(part(topology.by_os_index[cpu]), []).append(cpu)
        for thread, home in known.items():
            near = seats.get(part(home))
            if thread not in found and near:
                found[thread] = near.pop(0)
        given = set(found.values())
        free = [cpu for cpu in free if cpu not in given]
    rest = iter(free)
    return tuple(found[n] if n in found else next(rest) for n in range(len(wanted)))
