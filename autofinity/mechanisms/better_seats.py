"""Seats by sharing, where they are worth the moves: the same PUs, dealt to other threads."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.mapping.cost import cost
from autofinity.mapping.eagermap import eagermap
from autofinity.mechanisms.page_evidence import PageEvidence
from autofinity.mechanisms.sharing_evidence import SharingEvidence
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.seats import WORTH_MOVING


def better_seats(
    topology: Topology, cpus: tuple[OsIndex, ...], sharing: SharingEvidence, pages: PageEvidence
) -> tuple[OsIndex, ...]:
    """One PU a thread, of those in `cpus`; `cpus` itself where no other order pays.

    Another order makes communication cheaper by a fifth, as `WORTH_MOVING` has it, and by more than
    the private pages that threads leave behind weigh.
    """
    mapped = eagermap(sharing.mapped, topology, frozenset(cpus))
    now = cost(sharing.judged, topology, cpus)
    then, better = min(
        (cost(sharing.judged, topology, each), each)
        for each in (on_their_nodes(topology, cpus, mapped), mapped)
    )
    if then >= WORTH_MOVING * now:
        return cpus
    gained = (now - then) / max(map(max, topology.distances)) / max(1.0, pages.sampled)
    return better if gained > pages.left_behind(topology, cpus, better) else cpus


def on_their_nodes(
    topology: Topology, now: Sequence[OsIndex], mapped: Sequence[OsIndex]
) -> tuple[OsIndex, ...]:
    """The mapping with nodes of as many seats exchanged, so that threads stay on their nodes: the
    groups are the same, but each goes where most of it is. A thread that leaves its node leaves the
    pages behind that it touched first.
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
