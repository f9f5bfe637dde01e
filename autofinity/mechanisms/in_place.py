"""Threads into a core set with as few of them as possible far from where they are.

A thread that leaves its node leaves the pages behind that it touched first.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.model.topology import OsIndex, Topology
from autofinity.profiling.placements import class_of
from autofinity.runtime.home_seats import seated_near


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
    return seated_near(topology, dict(enumerate(now)), wanted)


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
