"""Distance classes: they select the latency between two nodes or two LLC domains of a machine.

Class 0 is the same node (or domain) and 1 the same package. Between packages the class is 2 for one
hop and one more for each further hop, or for each SLIT threshold that the distance reaches.
Thresholds within a package add as many classes, between 1 and those of other packages. These
classes are only for nodes, whose memory is further; all domains of a package are in class 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autofinity.model.topology import Topology

type Matrix = tuple[tuple[int, ...], ...]

ONE_HOP = 2


def by_slit(topology: Topology, thresholds: Sequence[int], within: Sequence[int] = ()) -> Matrix:
    """Classes between nodes: two, and one more for each of `thresholds` that the SLIT reaches.

    `within` are the thresholds between nodes of a package.
    """

    def further(a: int, b: int) -> int:
        return ONE_HOP + _reached(topology, a, b, thresholds)

    return _nodes(topology, further, within)


def slit_ranks(topology: Topology, classes: int) -> tuple[int, ...]:
    """Thresholds for `by_slit` that separate the SLIT values between packages.

    The nearest other package is of class 2, the next value of class 3, …; `classes` - 1 is the last
    class, and holds all larger values. A SLIT orders distances, but is no ratio of latencies
    (MACHINES: 32 on a machine whose remote memory is 1.7 times as far).
    """
    package = {pu.node: pu.package for pu in topology.pus}
    values = {
        value
        for a, row in enumerate(topology.distances)
        for b, value in enumerate(row)
        if a != b and not (a in package and package[a] == package.get(b))
    }
    return tuple(sorted(values)[1 : max(1, classes - ONE_HOP)])


def by_hops(
    topology: Topology, routes: Sequence[Sequence[int]], within: Sequence[int] = ()
) -> Matrix:
    """Classes between nodes: one more than the links that a route passes, at least two.

    `routes` are those of `BandwidthSpec`; `within` are SLIT thresholds between nodes of a package.
    """

    def further(a: int, b: int) -> int:
        return max(ONE_HOP, 1 + len(routes[a * topology.n_nodes + b]))

    return _nodes(topology, further, within)


def _reached(topology: Topology, a: int, b: int, thresholds: Sequence[int]) -> int:
    return sum(topology.distances[a][b] >= least for least in thresholds)


def _nodes(topology: Topology, further: Callable[[int, int], int], within: Sequence[int]) -> Matrix:
    """Classes between nodes; `further` gives those between different packages, and for nodes
    without a core.
    """
    package = {pu.node: pu.package for pu in topology.pus}

    def distance(a: int, b: int) -> int:
        if a == b:
            return 0
        if a in package and package[a] == package.get(b):
            return 1 + _reached(topology, a, b, within)
        return further(a, b) + len(within)

    nodes = range(topology.n_nodes)
    return tuple(tuple(distance(a, b) for b in nodes) for a in nodes)


def between_llcs(topology: Topology, node_distance: Matrix) -> Matrix:
    """Classes between LLC domains: 1 in a package, and between packages those of their nodes, at
    least 2.
    """
    place = {pu.llc: (pu.node, pu.package) for pu in topology.pus}

    def distance(a: int, b: int) -> int:
        if a == b:
            return 0
        (node_a, package_a), (node_b, package_b) = place[a], place[b]
        return 1 if package_a == package_b else max(ONE_HOP, node_distance[node_a][node_b])

    llcs = range(topology.n_llcs)
    return tuple(tuple(distance(a, b) for b in llcs) for a in llcs)
