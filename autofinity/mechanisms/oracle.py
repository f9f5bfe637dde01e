"""The oracle of the mapping papers: everything about the run is known before it begins.

kMAF'16 (TPDS 2016), section 5.3: threads by EagerMap from a trace of all memory accesses, "pages
with a high exclusivity to the NUMA node with the most accesses to them, and shared pages with an
interleave policy"; no migrations, no cost. High means above 80 %, as kMAF itself has it (table 3).
The trace is that of the captured program, sharing counted line by line.

It knows accesses, not times: with fewer threads than PUs it does not ask how many caches they
should have. The bound is in `oracle_bound`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from autofinity.mapping.eagermap import eagermap
from autofinity.mapping.pages import (
    PageRule,
    exclusive_or_interleave,
    least_accessing,
    most_accessing,
    moves,
)
from autofinity.mechanisms.recipe import Setting, Start, WholeTrace
from autofinity.mechanisms.static import Static
from autofinity.model.placement import FIRST_TOUCH
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.topology import OsIndex, Topology
from autofinity.profiling.placements import bound, compact_cpus


def oracle(setting: Setting, what: Literal["threads", "pages", "both"]) -> Static:
    """`oracle-trace` and its halves. Data alone: threads by id."""
    trace = setting.known_trace()
    topology = setting.topology
    if what == "pages":
        cpus = compact_cpus(topology, setting.threads)
    else:
        cpus = eagermap(trace.sharing, topology, topology.allowed)
    pages = FIRST_TOUCH
    if what != "threads":
        pages = trace.placed(homes(trace, cpus, topology))
    name = "oracle-trace" if what == "both" else f"oracle-{what}"
    return Static(name, setting, Start(bound(cpus), pages))


def impact(setting: Setting, *, local_threads: bool, local_pages: bool) -> Static:
    """`tl-dl` to `tr-dr` (kMAF'16, section 3.1): threads that share together or far apart, pages on
    the node that accesses them most or least.
    """
    trace, topology = setting.known_trace(), setting.topology
    sharing = trace.sharing if local_threads else _opposite(trace.sharing)
    cpus = eagermap(sharing, topology, topology.allowed)
    rule = most_accessing if local_pages else least_accessing
    pages = trace.placed(homes(trace, cpus, topology, rule))
    name = f"t{'l' if local_threads else 'r'}-d{'l' if local_pages else 'r'}"
    return Static(name, setting, Start(bound(cpus), pages))


def _opposite(sharing: SharingMatrix) -> SharingMatrix:
    """Who shares least shares most."""
    most = max(map(max, sharing.cells))
    return SharingMatrix(
        tuple(
            tuple(0.0 if i == j else most - cell for j, cell in enumerate(row))
            for i, row in enumerate(sharing.cells)
        )
    )


def homes(
    trace: WholeTrace,
    cpus: tuple[OsIndex, ...],
    topology: Topology,
    rule: PageRule = exclusive_or_interleave,
) -> Mapping[int, int]:
    """Logical node of each page, for threads on these PUs."""
    node_of = [topology.by_os_index[cpu].node for cpu in cpus]
    vectors = {}
    for page, accesses in trace.accesses.items():
        by_node = [0] * topology.n_nodes
        for node, count in zip(node_of, accesses, strict=True):
            by_node[node] += count
        vectors[page] = tuple(by_node)
    pages = NumaVectors(vectors, trace.page_size_bytes, homes=topology.memory_homes)
    return dict(moves(pages, rule))
