"""The cheapest mapping, by branch and bound: the baseline of the other mappers, for few threads.

Threads are placed one by one, those that share most first. Equal and empty parts of the machine are
tried once. A placement is abandoned when Gilmore and Lawler's lower bound of the remaining cost
shows that it cannot become cheaper than the best known mapping, at first that of `refined`.
"""

from __future__ import annotations

from autofinity.affinity.topology_handle import topology_handle
from autofinity.mapping.refined import refined
from autofinity.model.errors import UsageError
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology

MOST_THREADS = 32
MOST_STEPS = 1_000_000
"""Number of placements of a thread that are tried before the search stops without a result: some
seconds."""


def exact(
    sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> tuple[OsIndex, ...]:
    """A mapping on the seats that `seats` chooses of `available` that costs least.

    Raises `UsageError` for more than `MOST_THREADS` threads, or when `MOST_STEPS` do not suffice;
    else the errors of `eagermap`.
    """
    from autofinity._core.mapping import exact as native

    if sharing.threads > MOST_THREADS:
        raise UsageError(
            f"exact: {sharing.threads} threads are too many to try all mappings; expected at most "
            f"{MOST_THREADS}; the cost of refined is close"
        )
    known = refined(sharing, topology, available)
    found = native(topology_handle(topology), sharing.cells, known, MOST_STEPS)
    if found is None:
        raise UsageError(
            f"exact: {MOST_STEPS} steps did not find the cheapest mapping of {sharing.threads} "
            "threads; ask for fewer, or use refined, whose cost is close"
        )
    return found
