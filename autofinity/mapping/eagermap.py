"""EagerMap: greedy grouping, level by level.

Source: Cruz et al., "An efficient algorithm for communication-based task mapping" (PDP 2015), as
Diener et al. describe and use it (TPDS 2016, section 4.4). Threads are grouped for the innermost
parts of the machine (PUs, cores, shared caches), those groups for the parts around them, up to the
root; then they are handed down. A group begins with the first thread that is left and takes the one
that shares most with it until it is full; ties go to the lower thread number, so small changes of
the matrix change little. Where parts hold different numbers of seats, the largest are filled first.
"""

from __future__ import annotations

from autofinity.affinity.topology_handle import topology_handle
from autofinity.mapping.seats import seats
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology


def eagermap(
    sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> tuple[OsIndex, ...]:
    """The PU of each thread, in thread order, on the seats that `seats` chooses of `available`.

    O(T²) for T threads. Raises `PlacementError` for no threads and no usable PU, `ValueError` for
    what is no sharing matrix (not square, not symmetric, negative, infinite).
    """
    from autofinity._core.mapping import eager as native

    chosen = seats(topology, sharing.threads, available)
    return native(topology_handle(topology), sharing.cells, chosen)
