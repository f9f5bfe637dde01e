"""Maximum-weight matchings, exactly, by rustworkx (Edmonds' blossom algorithm).

rustworkx matches whole numbers, so weights are scaled to 40 bits. Among matchings of equal weight
the one whose elements have the nearest numbers is taken, so that ties always have the same result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_WEIGHT_BITS = 40


def best_pairs(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Disjoint pairs, as many as possible, with the largest sum of `weights[i][j]`.

    With an odd number one element stays alone. `weights` is square, symmetric, not negative. Pairs
    and list ascend.
    """
    size = len(weights)
    edges = [(i, j, weights[i][j], j - i) for i in range(size) for j in range(i + 1, size)]
    return _matched(size, edges)


def best_partners(weights: Sequence[Sequence[float]]) -> list[int]:
    """One column for each row, none twice, with the largest sum of `weights[row][column]`.

    There must be at least as many columns as rows.
    """
    rows = len(weights)
    columns = len(weights[0])
    edges = [(i, rows + j, weights[i][j], abs(j - i)) for i in range(rows) for j in range(columns)]
    return [column - rows for _, column in _matched(rows + columns, edges)]


def _matched(size: int, edges: Sequence[tuple[int, int, float, int]]) -> list[tuple[int, int]]:
    """The pairs among edges: two ends, the weight, and how far apart the numbers of both are."""
    from rustworkx import PyGraph, max_weight_matching

    largest = max((weight for _, _, weight, _ in edges), default=0.0) or 1.0
    graph: PyGraph[None, int] = PyGraph()
    graph.add_nodes_from([None] * size)
    # The nearness of all pairs together adds less than one unit of weight.
    unit = size * size + 1
    for i, j, weight, apart in edges:
        whole = round(math.ldexp(weight / largest, _WEIGHT_BITS))
        graph.add_edge(i, j, whole * unit + size - apart)
    found = max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return sorted((min(pair), max(pair)) for pair in found)
