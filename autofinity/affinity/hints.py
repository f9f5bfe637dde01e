"""GETAFFINITY: from a hint and a thread count to the core set that matches the hint best.

Source: Moore & Childers, CC 2013, figure 5, which leaves ties open. Here the core set is the first
of all core sets of that size in this order:

1. sockets used (more first if S, fewer first if not) and occupancy Σc²/n, c the threads of an LLC
   domain (smaller first if L, larger first if not); P says which of the two comes first;
2. Σ(threads per socket)², smaller first if S, larger first if not;
3. the sum of SLIT distances between all ordered pairs of nodes used, smaller first (exact up to 16
   nodes with available cores; above, nodes are chosen greedily, nearest first);
4. the lexicographically smallest sorted list of OS indices.

A core is represented by its first available PU. With more threads than cores, or as many threads as
the whole machine has cores, the wish that comes first (S where P, else L) decides the use of the
second PUs, the siblings:

- to spread: all first PUs are taken, and the threads that remain are placed by the same keys on the
  second PUs alone, and so on;
- to pack: all PUs are available at once, by the same keys, so that threads share cores and caches
  stay empty; the last key is the list of PUs core by core.

Machines of several kinds of cores are filled kind by kind: with more threads than cores of the
fastest kind, all of these are taken, and the threads that remain are placed on the next kind alone.
Second PUs come after the last kind, for every hint.

The construction is direct (`autofinity/native/affinity/hint_problem.hpp`); a property test checks
it against the definition. All keys are compared in integers.
"""

from __future__ import annotations

from autofinity.affinity.near import NOWHERE, nearer
from autofinity.affinity.topology_handle import topology_handle
from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.errors import PlacementError
from autofinity.model.placement import CoreSet
from autofinity.model.topology import OsIndex, Topology


def get_affinity(
    topology: Topology,
    threads: int,
    hint: Hint,
    available: frozenset[OsIndex] | None = None,
    near: frozenset[int] = NOWHERE,
) -> CoreSet:
    """Best match of `hint` for `threads` threads on the PUs `available` (default: allowed ones).

    With `near` (logical nodes of a device), the core set of the same affinity that is nearest to
    these nodes, by the order of `autofinity.affinity.near`.

    Raises `PlacementError` for no threads, an empty set, more threads than available PUs, or a PU
    that the machine does not have.
    """
    from autofinity._core.affinity import best_match

    check_available(topology, available)
    if not 1 <= threads <= len(topology.pus):
        usable = topology.allowed if available is None else available
        raise too_many(topology, threads, len(usable))
    found = best_match(
        topology_handle(topology),
        threads,
        hint.spread_sockets,
        hint.spread_llcs,
        hint.socket_first,
        available,
    )
    if isinstance(found, int):
        raise too_many(topology, threads, found)
    cpus, canonical, occupancy = found
    return nearer(topology, CoreSet(cpus, Affinity(canonical), occupancy, hint), near, available)


def all_hints(
    topology: Topology,
    threads: int,
    available: frozenset[OsIndex] | None = None,
    near: frozenset[int] = NOWHERE,
) -> tuple[CoreSet, ...]:
    """Best match of each hint, in `HINTS` order. Raises the errors of `get_affinity`."""
    return tuple(get_affinity(topology, threads, hint, available, near) for hint in HINTS)


def check_available(topology: Topology, available: frozenset[OsIndex] | None) -> None:
    """Raise `PlacementError` when `available` names PUs that the machine does not have."""
    if available is not None and not topology.by_os_index.keys() >= available:
        unknown = sorted(available - topology.by_os_index.keys())
        raise PlacementError(
            f"CPU {', '.join(map(str, unknown[:8]))}{', …' if len(unknown) > 8 else ''} is not on "
            f"{topology.name or 'this machine'}, which has {len(topology.pus)} CPUs"
        )


def too_many(topology: Topology, threads: int, usable: int) -> PlacementError:
    """The error for a thread count that cannot be placed, with both numbers."""
    where = f"on {topology.name}" if topology.name else "on this machine"
    if threads < 1:
        return PlacementError(
            f"cannot place {threads} threads; expected 1 to {usable}, the CPUs available {where}"
        )
    if usable == 0:
        return PlacementError(f"cannot place {threads} threads: 0 CPUs are available {where}")
    cpus = "1 available CPU" if usable == 1 else f"{usable} available CPUs"
    return PlacementError(
        f"cannot place {threads} threads on {cpus} {where}; ask for at most {usable}"
    )
