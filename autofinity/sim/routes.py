"""Links that a line passes between two nodes: fewest hops, ties to the lowest link numbers.

A directed link is 2i from the first to the second node of link i, and 2i + 1 back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from autofinity.sim.distances import Matrix
from autofinity.sim.spec import ByDistance, LinkSpec

type Routes = tuple[tuple[int, ...], ...]


class UnconnectedError(ValueError):
    """No sequence of links joins two nodes."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"no links lead from node {a} to node {b}")


def routes_over(nodes: int, links: Sequence[LinkSpec]) -> Routes:
    """Directed links passed from a to b, at `a * nodes + b`.

    Among the routes with fewest links, the one whose directed numbers come first in lexical order
    is taken. Raises `UnconnectedError` when there is no route between some pair.
    """
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]  # (directed link, to)
    for number, link in enumerate(links):
        leaving[link.a_node].append((2 * number, link.b_node))
        leaving[link.b_node].append((2 * number + 1, link.a_node))
    to = [_hops_to(target, leaving) for target in range(nodes)]
    return tuple(_route(a, b, to[b], leaving) for a in range(nodes) for b in range(nodes))


def _hops_to(target: int, leaving: Sequence[Sequence[tuple[int, int]]]) -> dict[int, int]:
    """Hops from every node that can reach `target`; links lead both ways."""
    hops = {target: 0}
    queue = deque([target])
    while queue:
        node = queue.popleft()
        for _, other in leaving[node]:
            if other not in hops:
                hops[other] = hops[node] + 1
                queue.append(other)
    return hops


def _route(
    a: int, b: int, hops: dict[int, int], leaving: Sequence[Sequence[tuple[int, int]]]
) -> tuple[int, ...]:
    if a not in hops:
        raise UnconnectedError(a, b)
    passed = []
    while a != b:
        nearer = [step for step in leaving[a] if hops[step[1]] < hops[a]]
        link, a = min(nearer)
        passed.append(link)
    return tuple(passed)


def direct_links(node_distance: Matrix, gbs: ByDistance) -> tuple[tuple[LinkSpec, ...], Routes]:
    """One link for every pair of nodes, with the bandwidth of their distance class, and its routes.

    For machines whose physical links are not known. There are no links when none has a limit.
    """
    nodes = len(node_distance)
    if not any(gbs):
        return (), ((),) * nodes**2
    links: list[LinkSpec] = []
    routes: list[tuple[int, ...]] = [()] * nodes**2
    for a in range(nodes):
        for b in range(a + 1, nodes):
            routes[a * nodes + b] = (2 * len(links),)
            routes[b * nodes + a] = (2 * len(links) + 1,)
            links.append(LinkSpec(a, b, gbs[node_distance[a][b]]))
    return tuple(links), tuple(routes)
