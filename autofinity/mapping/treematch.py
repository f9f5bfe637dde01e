"""Grouping by TreeMatch's method: the groups that share least with all others come first.

After Jeannot, Mercier & Tessier, "Process placement in multicore clusters: algorithmic issues and
practical techniques" (TPDS 25(4), 2014): all groups of a part's size are listed, sorted by their
members' sharing with threads outside, and disjoint groups are taken in that order. Sizes with too
many groups are split into factors, and groups of the first factor become elements of the next. A
prime size with too many groups is made of one element and groups of one less.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

from autofinity.mapping.level import Elements, Weights, grouped_levels, internal, sums_between
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology

MOST_LISTED = 100_000
"""Largest number of groups that are listed."""


def treematch(
    sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> tuple[OsIndex, ...]:
    """The PU of each thread, in thread order, on the seats that `seats` chooses of `available`.

    Raises the errors of `eagermap`.
    """
    return grouped_levels(sharing, topology, available, least_outside)


def least_outside(weights: Weights, elements: Elements, groups: int, size: int) -> list[list[int]]:
    """`groups` disjoint groups of `size` elements. There must be enough elements."""
    if len(elements) == size * groups == size:
        return [list(elements)]
    if comb(len(elements), size) <= MOST_LISTED:
        return _taken(_listed(weights, elements, size), groups)
    factor = next((f for f in range(2, size) if size % f == 0), size)
    if factor < size:
        inner = least_outside(weights, elements, groups * (size // factor), factor)
        between = sums_between(weights, inner, inner)
        outer = least_outside(between, range(len(inner)), groups, size // factor)
        return [[element for i in group for element in inner[i]] for group in outer]
    if size == 2:
        return _taken(_listed(weights, elements, size), groups)
    inner = least_outside(weights, elements, groups, size - 1)
    return _with_one_more(weights, elements, inner)


def _listed(weights: Weights, elements: Elements, size: int) -> list[list[int]]:
    """All groups, those that share least outside first; ties by their members' numbers."""
    shared = {i: sum(weights[i][j] for j in elements if j != i) for i in elements}
    found = [list(group) for group in combinations(elements, size)]
    found.sort(key=lambda group: sum(shared[i] for i in group) - 2 * internal(weights, group))
    return found


def _taken(listed: list[list[int]], groups: int) -> list[list[int]]:
    """The first `groups` disjoint groups. Enough elements make enough groups."""
    used: set[int] = set()
    found: list[list[int]] = []
    for group in listed:
        if len(found) == groups:
            break
        if used.isdisjoint(group):
            used.update(group)
            found.append(group)
    return found


def _with_one_more(weights: Weights, elements: Elements, inner: list[list[int]]) -> list[list[int]]:
    """Each group with the free element that shares most with it, in turn."""
    free = sorted(set(elements).difference(*inner))
    found = []
    for group in inner:
        best = max(free, key=lambda i: (sum(weights[i][j] for j in group), -i))
        free.remove(best)
        found.append([*group, best])
    return found
