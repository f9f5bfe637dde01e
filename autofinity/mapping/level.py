"""Common parts of mappers that group level by level: the way up the machine, and sums between
groups.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autofinity.affinity.topology_handle import topology_handle
from autofinity.mapping.matching import best_partners
from autofinity.mapping.seats import seats
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology

type Weights = Sequence[Sequence[float]]
"""Sharing between the elements of a level: threads, or groups of them (the matrix H)."""
type Elements = Sequence[int]
type MakeGroups = Callable[[Weights, Elements, int, int], list[list[int]]]
"""Function that makes `groups` disjoint groups of `size` from the elements given, which may be more
than needed."""


def grouped_levels(
    sharing: SharingMatrix,
    topology: Topology,
    available: frozenset[OsIndex],
    make_groups: MakeGroups,
) -> tuple[OsIndex, ...]:
    """The PU of each thread. `make_groups` groups threads for the innermost parts of the machine,
    those groups for the parts around them, up to the root; then groups are assigned from the root
    down.

    Raises `PlacementError` without threads or usable PUs, `ValueError` for an invalid sharing
    matrix.
    """
    from autofinity._core.mapping import by_groups as native

    def group(
        weights: Weights, shapes: Sequence[int], groups: int, needs: Sequence[tuple[int, int]]
    ) -> list[list[int]]:
        """Groups for parts that take `count` elements of each shape of `needs`."""
        found: list[list[int]] = []
        for shape, count in needs:
            elements = [i for i, of in enumerate(shapes) if of == shape]
            made = make_groups(weights, elements, groups, count)
            if found:
                partners = best_partners(sums_between(weights, found, made))
                made = [[*one, *made[i]] for one, i in zip(found, partners, strict=True)]
            found = made
        return found

    chosen = seats(topology, sharing.threads, available)
    return native(topology_handle(topology), sharing.cells, chosen, group)


def sums_between(
    weights: Weights, rows: Sequence[Elements], columns: Sequence[Elements]
) -> list[list[float]]:
    """The matrix H (CCPE 2014, equation 9), for groups of any size: sharing of each of `rows` with
    each of `columns`.

    Sharing within a group has no effect in a matching.
    """
    return [[sum(weights[i][j] for i in row for j in column) for column in columns] for row in rows]


def internal(weights: Weights, group: Elements) -> float:
    """Sharing within a group, each pair once."""
    return sum(weights[a][b] for i, a in enumerate(group) for b in group[:i])
