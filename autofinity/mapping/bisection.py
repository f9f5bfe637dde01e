"""Recursive bisection of threads and machine together, ours: what SCOTCH does, without its library.

Threads and parts of the machine are halved so that as little sharing as possible crosses between
the halves, then each half again. A bisection grows one half from a thread and improves it in
Kernighan and Lin's way (Bell System Technical Journal 49, 1970); several beginnings are tried.
"""

from __future__ import annotations

from autofinity.affinity.topology_handle import topology_handle
from autofinity.mapping.seats import seats
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology


def bisection(
    sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> tuple[OsIndex, ...]:
    """The PU of each thread, in thread order, on the seats that `seats` chooses of `available`.

    Raises as `eagermap` does.
    """
    from autofinity._core.mapping import bisection as native

    chosen = seats(topology, sharing.threads, available)
    return native(topology_handle(topology), sharing.cells, chosen)
