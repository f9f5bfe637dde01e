"""The PUs that threads are mapped to, before a mapper assigns threads to them.

A *seat* is room for one thread. All mappers that use sharing fill the same seats, so that their
costs can be compared, and so that none of them reduces distances by crowding threads into one
cache.
"""

from __future__ import annotations

from autofinity.affinity.hints import check_available, get_affinity
from autofinity.model.affinity import SPREAD
from autofinity.model.errors import PlacementError
from autofinity.model.topology import OsIndex, Topology


def seats(topology: Topology, threads: int, available: frozenset[OsIndex]) -> list[OsIndex]:
    """One PU for each thread, in hardware order: each PU of `available` where there are as many
    threads.

    Fewer threads are spread evenly, over sockets before LLC domains and over cores before their
    second PUs: the best match of the hint SLP. More threads take every PU once or several times,
    and the remaining threads are spread in the same way. Raises `PlacementError` without threads,
    for an empty set and for PUs that the machine does not have.
    """
    check_available(topology, available)
    if threads < 1 or not available:
        raise PlacementError(
            f"cannot map {threads} threads to {len(available)} CPUs; expected at least one of each"
        )
    times, rest = divmod(threads, len(available))
    spread = get_affinity(topology, rest, SPREAD, available).cpus if rest else ()
    order = {pu.os_index: i for i, pu in enumerate(topology.pus)}
    return sorted([*available] * times + [*spread], key=order.__getitem__)
