"""Dual recursive bipartitioning by the SCOTCH library, as kMAF'14 maps threads (section 3.4).

The library (CeCILL-C) is the system's own and is loaded only here: Debian's `libscotch-7.0`. The
library gets the machine as a tree whose levels of arity 1 are dropped (kMAF'14, section 3.4.1),
with the distances of `autofinity.mapping.cost`; SCOTCH takes one distance for each level, their
mean. In a tree that is not full, SCOTCH sees only the existing leaves.

SCOTCH's weights are whole numbers of 32 bits whose sums overflow without an error, so sharing is
scaled such that the total at the largest distance takes 29 bits. SCOTCH balances loads but does not
guarantee one thread for each seat: a thread whose seat is taken gets the nearest free seat.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import groupby, pairwise
from typing import Any

from autofinity.affinity.topology_handle import topology_handle
from autofinity.mapping.cost import cost, distance
from autofinity.mapping.seats import seats
from autofinity.model.errors import CapabilityError
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology

_NAMES = ("{}-7.0.so", "{}.so.7.0", "{}.so.7", "{}.so")
_WEIGHT_BITS = 29
_RECURSIVE = 0x100
"""Value of SCOTCH_STRATRECURSIVE."""


def scotch(
    sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> tuple[OsIndex, ...]:
    """The PU of each thread, in thread order, on the seats that `seats` chooses of `available`.

    Raises `CapabilityError` without the library or when it fails; else the errors of `eagermap`.
    """
    chosen = seats(topology, sharing.threads, available)
    cost(sharing, topology, chosen)  # raises an error for what is no sharing matrix
    library = _library()
    if not any(map(any, sharing.cells)):
        return tuple(chosen)
    chosen.sort(key=topology_handle(topology).path)
    arities, leaves = _leaves(topology, chosen)
    links = _links(topology, chosen, leaves, len(arities))
    wanted = _mapped(library, sharing, arities, links, leaves)
    return _one_each(topology, chosen, wanted)


@cache
def is_installed() -> bool:
    """Whether there is a library that `scotch` can use."""
    try:
        _library()
    except CapabilityError:
        return False
    return True


def _leaves(topology: Topology, chosen: Sequence[OsIndex]) -> tuple[list[int], list[list[int]]]:
    """Arity of each level of the tree, and the path to each seat: the child on each level."""
    machine = topology_handle(topology)
    copies = [(cpu, i) for cpu, same in groupby(chosen) for i, _ in enumerate(same)]
    paths = [(*machine.path(cpu), copy) for cpu, copy in copies]
    ways: list[list[int]] = [[] for _ in paths]
    arities = []
    for level in range(len(paths[0])):
        children: dict[tuple[int, ...], dict[int, int]] = {}
        for path, way in zip(paths, ways, strict=True):
            siblings = children.setdefault(path[:level], {})
            way.append(siblings.setdefault(path[level], len(siblings)))
        arities.append(max(map(len, children.values())))
    kept = [level for level, arity in enumerate(arities) if arity > 1]
    return [arities[level] for level in kept], [[way[level] for level in kept] for way in ways]


def _links(
    topology: Topology, chosen: Sequence[OsIndex], leaves: Sequence[Sequence[int]], levels: int
) -> list[int]:
    """Mean distance of neighbouring seats that separate on each level, at least 1."""
    found: list[list[float]] = [[] for _ in range(levels)]
    for (a, way_a), (b, way_b) in pairwise(zip(chosen, leaves, strict=True)):
        parted = next(level for level in range(levels) if way_a[level] != way_b[level])
        found[parted].append(distance(topology, a, b))
    return [max(1, round(sum(level) / len(level))) for level in found]


def _one_each(
    topology: Topology, chosen: Sequence[OsIndex], wanted: Sequence[int]
) -> tuple[OsIndex, ...]:
    """One seat for each thread: the wanted seat if no earlier thread has it, else the nearest free
    seat.
    """
    free = dict.fromkeys(range(len(chosen)))
    seat_of = {}
    for thread, seat in enumerate(wanted):
        if seat in free:
            free.pop(seat)
            seat_of[thread] = seat
    found = []
    for thread, wish in enumerate(wanted):
        if thread not in seat_of:
            nearest = min(free, key=lambda s: distance(topology, chosen[s], chosen[wish]))
            free.pop(nearest)
            seat_of[thread] = nearest
        found.append(chosen[seat_of[thread]])
    return tuple(found)


def _mapped(
    library: ctypes.CDLL,
    sharing: SharingMatrix,
    arities: Sequence[int],
    links: Sequence[int],
    leaves: Sequence[Sequence[int]],
) -> list[int]:
    """The number of the seat of each thread in SCOTCH's mapping."""
    number = ctypes.c_int64 if library.SCOTCH_numSizeof() == 8 else ctypes.c_int32

    def numbers(values: Sequence[int]) -> Any:
        return (number * max(1, len(values)))(*values)

    first, neighbours, weights = _graph(sharing, max(links))
    # The library leaves these threads where they are.
    kept = numbers(first), numbers(neighbours), numbers(weights)
    leaf_numbers = [_leaf_number(arities, way) for way in leaves]
    size = len(sharing.cells)
    parts = numbers([0] * size)
    with (
        _made(library, "context") as context,
        _made(library, "graph") as graph,
        _made(library, "graph") as graph_of_context,
        _made(library, "arch") as tree,
        _made(library, "arch") as seats_of_tree,
        _made(library, "strat") as strategy,
    ):
        _checked(
            library.SCOTCH_graphBuild(
                graph, number(0), number(size), kept[0], None, None, None,
                number(len(neighbours)), kept[1], kept[2],
            )
        )  # fmt: skip
        _checked(
            library.SCOTCH_archTleaf(tree, number(len(arities)), numbers(arities), numbers(links))
        )
        _checked(library.SCOTCH_archSub(seats_of_tree, tree, number(size), numbers(leaf_numbers)))
        _checked(
            library.SCOTCH_stratGraphMapBuild(
                strategy, number(_RECURSIVE), number(size), ctypes.c_double(0)
            )
        )
        # One thread: more would share the work, and find another mapping every time.
        _checked(library.SCOTCH_contextThreadSpawn(context, ctypes.c_int(1), None))
        library.SCOTCH_contextRandomReset(context)
        _checked(library.SCOTCH_contextBindGraph(context, graph, graph_of_context))
        _checked(library.SCOTCH_graphMap(graph_of_context, seats_of_tree, strategy, parts))
    return list(parts)


def _graph(sharing: SharingMatrix, longest: int) -> tuple[list[int], list[int], list[int]]:
    """First edge of each thread (and the end), and the other thread and weight of each edge."""
    total = sum(map(sum, sharing.cells)) * longest
    first = [0]
    neighbours: list[int] = []
    weights: list[int] = []
    for row in sharing.cells:
        for other, amount in enumerate(row):
            if amount > 0:
                neighbours.append(other)
                weights.append(max(1, round(math.ldexp(amount / total, _WEIGHT_BITS))))
        first.append(len(neighbours))
    return first, neighbours, weights


def _leaf_number(arities: Sequence[int], way: Sequence[int]) -> int:
    found = 0
    for arity, child in zip(arities, way, strict=True):
        found = found * arity + child
    return found


@contextmanager
def _made(library: ctypes.CDLL, kind: str) -> Iterator[ctypes.c_void_p]:
    """An object of the library, freed at the end of the context."""
    made = ctypes.c_void_p(getattr(library, f"SCOTCH_{kind}Alloc")())
    _checked(getattr(library, f"SCOTCH_{kind}Init")(made))
    try:
        yield made
    finally:
        getattr(library, f"SCOTCH_{kind}Exit")(made)
        library.SCOTCH_memFree(made)


def _checked(status: int) -> None:
    if status != 0:
        raise CapabilityError(
            "SCOTCH refused the mapping (see its message above); use another algorithm, such as "
            "bisection"
        )


@cache
def _library() -> ctypes.CDLL:
    for name in _NAMES:
        try:
            ctypes.CDLL(name.format("libscotcherr"), mode=ctypes.RTLD_GLOBAL)
            library = ctypes.CDLL(name.format("libscotch"))
        except OSError:
            continue
        if hasattr(library, "SCOTCH_archSub"):
            for kind in ("context", "graph", "arch", "strat"):
                getattr(library, f"SCOTCH_{kind}Alloc").restype = ctypes.c_void_p
            return library
    raise CapabilityError(
        "the SCOTCH library (7.0 or newer) is not installed; on Debian it is libscotch-7.0; "
        "bisection does the same without it"
    )
