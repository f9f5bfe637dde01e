"""Hierarchical mapping by exact matchings: Cruz, Diener & Navaux, CCPE 2014, section 5.2.

Threads are matched in pairs so that the pairs share most, pairs of pairs by the matrix H (equation
9), until a group fills a part of the machine; then the groups for the parts around it. Where a part
takes a number that is no power of two, only as many groups as there are parts are kept, those that
share most. The others are split, grouped to the missing size, and matched to the kept groups as a
bipartite graph (figure 8).

Where a part holds parts of different shapes (ours: the paper has none), groups are made for each
shape, and matched to each other in the same way.
"""

from __future__ import annotations

from autofinity.mapping.level import Elements, Weights, grouped_levels, internal, sums_between
from autofinity.mapping.matching import best_pairs, best_partners
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology


def edmonds(
    sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> tuple[OsIndex, ...]:
    """The PU of each thread, in thread order, on the seats that `seats` chooses of `available`.

    O(T³); a thousand threads take seconds. Raises the errors of `eagermap`.
    """
    return grouped_levels(sharing, topology, available, matched_groups)


def matched_groups(weights: Weights, elements: Elements, groups: int, size: int) -> list[list[int]]:
    """`groups` disjoint groups of `size` elements. There must be enough elements."""
    half = 1 << size.bit_length() - 1
    blocks = [[element] for element in elements]
    while len(blocks[0]) < half:
        between = sums_between(weights, blocks, blocks)
        blocks = [[*blocks[i], *blocks[j]] for i, j in best_pairs(between)]
    blocks.sort(key=lambda block: -internal(weights, block))
    kept = blocks[:groups]
    if size > half:
        used = {element for block in kept for element in block}
        rest = [element for element in elements if element not in used]
        missing = matched_groups(weights, rest, groups, size - half)
        partners = best_partners(sums_between(weights, kept, missing))
        kept = [[*block, *missing[i]] for block, i in zip(kept, partners, strict=True)]
    return kept
