"""Threads into a core set with as few of them as possible far from where they are.

A thread that leaves its node leaves the pages behind that it touched first. So it gets, in this
order, its own PU, one of its core, of its cache, of its node, of its socket, any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autofinity.model.topology import PU, OsIndex, Topology
from autofinity.profiling.placements import class_of

_NEARNESS: tuple[Callable[[PU], int], ...] = (
    lambda pu: pu.os_index,
    lambda pu: pu.core,
    lambda pu: pu.llc,
    lambda pu: pu.node,
    lambda pu: pu.package,
    lambda pu: 0,
)


def in_place(
    topology: Topology, now: Sequence[OsIndex], wanted: Sequence[OsIndex]
) -> tuple[OsIndex, ...]:
    """One PU a thread, for threads that are on the PUs `now`; `wanted` has as many, all different.

    Where `now` forms the same class as `wanted` (as many threads in each cache of each socket),
    nobody moves. Without `now` it is `wanted` as it stands.
    """
    if not now:
        return tuple(wanted)
    if len(set(now)) == len(now) and class_of(topology, now) == class_of(topology, wanted):
        return tuple(now)
    found: dict[int, OsIndex] = {}
    free = list(wanted)
    for part in _NEARNESS:
        for thread, cpu in enumerate(now):
            if thread in found:
                continue
            own = part(topology.by_os_index[cpu])
            seat = next((s for s in free if part(topology.by_os_index[s]) == own), None)
            if seat is not None:
                found[thread] = seat
                free.remove(seat)
    return tuple(found[thread] for thread in range(len(now)))


def on_their_nodes(
    topology: Topology, now: Sequence[OsIndex], mapped: Sequence[OsIndex]
) -> tuple[OsIndex, ...]:
    """The mapping with nodes of as many seats exchanged, so that threads stay on their nodes: the
    groups are the same, but each goes where most of it is.
    """
    node = {cpu: topology.by_os_index[cpu].node for cpu in (*now, *mapped)}
    seats: dict[int, list[OsIndex]] = {}
    groups: dict[int, list[int]] = {}
    for thread, cpu in enumerate(mapped):
        seats.setdefault(node[cpu], []).append(cpu)
        groups.setdefault(node[cpu], []).append(thread)
    overlaps = sorted(
        (-sum(node[now[thread]] == home for thread in group), at, home)
        for at, group in groups.items()
        for home in seats
        if len(seats[home]) == len(group)
    )
    home_of: dict[int, int] = {}
    for _, at, home in overlaps:
        if at not in home_of and home not in home_of.values():
            home_of[at] = home
    found = list(mapped)
    for at, group in groups.items():
        order = sorted(seats[at])
        for thread in group:
            found[thread] = sorted(seats[home_of[at]])[order.index(mapped[thread])]
    return tuple(found)
