"""GETAFFINITY by its definition (enumerate all core sets, and sort), and machines to try."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, product

from hypothesis import strategies as st

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import Affinity, Hint
from autofinity.model.topology import PU, OsIndex, Topology


def slots_by_level(
    topology: Topology, available: frozenset[OsIndex], *, by_kind: bool = False
) -> list[list[PU]]:
    """First available PU of each core, then the second ones, …; with `by_kind`, the fastest kind of
    cores first in each.
    """
    cores: dict[int, list[PU]] = {}
    for pu in topology.pus:
        if pu.os_index in available:
            cores.setdefault(pu.core, []).append(pu)
    levels: list[list[PU]] = []
    for pus in cores.values():
        for rank, pu in enumerate(sorted(pus, key=lambda pu: pu.smt_rank)):
            if rank == len(levels):
                levels.append([])
            levels[rank].append(pu)
    if not by_kind:
        return levels
    return [
        [pu for pu in level if pu.efficiency == kind]
        for level in levels
        for kind in sorted({pu.efficiency for pu in level}, reverse=True)
    ]


def together(topology: Topology, threads: int, available: frozenset[OsIndex]) -> bool:
    """Whether siblings may be used while cores are idle: with more threads than cores, or as many
    threads as the whole machine has cores.
    """
    pus = [pu for pu in topology.pus if pu.os_index in available]
    one_kind = len({pu.efficiency for pu in pus}) == 1
    cores, all_cores = ({pu.core for pu in some} for some in (pus, topology.pus))
    return one_kind and (threads > len(cores) or threads == len(all_cores))


def core_by_core(topology: Topology, available: frozenset[OsIndex]) -> list[PU]:
    """All available PUs, siblings in a row, ordered by the first PU of each core."""
    levels = slots_by_level(topology, available)
    first = {pu.core: pu.os_index for pu in levels[0]}
    ranked = [(first[pu.core], rank, pu) for rank, level in enumerate(levels) for pu in level]
    return [pu for _, _, pu in sorted(ranked, key=lambda each: each[:2])]


def packed_by_definition(
    topology: Topology, threads: int, hint: Hint, available: frozenset[OsIndex]
) -> list[int]:
    """The best of all sets of PUs. On a cache's part of a node, the first PUs, core by core, are as
    good as any.
    """
    order = core_by_core(topology, available)
    return sorted(
        pu.os_index
        for pu in min(
            first_of_cells(order, threads),
            key=lambda pus: (*keys(topology, pus, hint)[:-1], sorted(map(order.index, pus))),
        )
    )


def first_of_cells(order: list[PU], threads: int) -> Iterator[tuple[PU, ...]]:
    """All sets of PUs that take the first ones, in this order, of each cache's part on a node."""
    cells: dict[tuple[int, int], list[PU]] = {}
    for pu in order:
        cells.setdefault((pu.llc, pu.node), []).append(pu)
    for counts in product(*(range(1 + len(cell)) for cell in cells.values())):
        if sum(counts) == threads:
            chosen = zip(cells.values(), counts, strict=True)
            yield tuple(pu for cell, count in chosen for pu in cell[:count])


def by_kind_and_number(pus: Iterable[PU]) -> list[tuple[int, int]]:
    return sorted((-pu.efficiency, pu.os_index) for pu in pus)


def keys(topology: Topology, pus: tuple[PU, ...], hint: Hint) -> tuple[object, ...]:
    sockets = Counter(pu.package for pu in pus)
    domains = Counter((pu.package, pu.llc) for pu in pus)
    nodes = {pu.node for pu in pus}
    socket_key = -len(sockets) if hint.spread_sockets else len(sockets)
    squares = sum(c * c for c in domains.values())
    llc_key = squares if hint.spread_llcs else -squares
    third = sum(c * c for c in sockets.values())
    return (
        (socket_key, llc_key) if hint.socket_first else (llc_key, socket_key),
        third if hint.spread_sockets else -third,
        sum(topology.distances[a][b] for a in nodes for b in nodes if a != b),
        by_kind_and_number(pus),
    )


def by_definition(
    topology: Topology, threads: int, hint: Hint, available: frozenset[OsIndex]
) -> list[int]:
    spread = hint.spread_sockets if hint.socket_first else hint.spread_llcs
    if not spread and together(topology, threads, available):
        return packed_by_definition(topology, threads, hint, available)
    chosen: list[PU] = []
    for level in slots_by_level(topology, available, by_kind=True):
        rest = threads - len(chosen)
        if rest >= len(level):
            chosen += level
        elif rest:
            chosen += min(combinations(level, rest), key=lambda pus: keys(topology, pus, hint))
    assert len(chosen) == threads
    return sorted(pu.os_index for pu in chosen)


def near_by_definition(
    topology: Topology,
    threads: int,
    hint: Hint,
    available: frozenset[OsIndex],
    nodes: frozenset[int],
) -> list[int]:
    """The best of all sets of PUs of the affinity that the hint has without a device."""
    wanted = get_affinity(topology, threads, hint, available).affinity
    slit = topology.distances
    away = [0 if a in nodes else min(slit[a][b] for b in nodes) for a in range(topology.n_nodes)]
    spread = hint.spread_sockets if hint.socket_first else hint.spread_llcs
    taken: list[PU] = []
    order: list[PU] = []
    if not spread and together(topology, threads, available):
        nearest_first = {
            pu.os_index: OsIndex(at)
            for at, pu in enumerate(sorted(topology.pus, key=lambda p: (away[p.node], p.os_index)))
        }
        moved = [replace(pu, os_index=nearest_first[pu.os_index]) for pu in topology.pus]
        back = dict(zip(moved, topology.pus, strict=True))
        usable = frozenset(nearest_first[cpu] for cpu in available)
        order = [back[pu] for pu in core_by_core(replace(topology, pus=tuple(moved)), usable)]
        candidates: Iterable[tuple[PU, ...]] = first_of_cells(order, threads)
    else:
        for level in slots_by_level(topology, available, by_kind=True):
            rest = threads - len(taken)
            if rest >= len(level):
                taken += level
            elif rest:
                order = sorted(level, key=lambda pu: (away[pu.node], pu.os_index))
                break
        candidates = combinations(order, threads - len(taken))
    least = min((away[pu.node] for pu in order), default=0)

    def key(pus: tuple[PU, ...]) -> tuple[object, ...]:
        used = {pu.node for pu in pus}
        near = sorted(order.index(pu) for pu in pus if away[pu.node] == least)
        return (
            [*near, len(order)],
            sum(slit[a][b] for a in used for b in used if a != b),
            sorted(map(order.index, pus)),
        )

    def affinity_of(pus: Iterable[PU]) -> Affinity:
        counts = Counter((pu.package, pu.llc) for pu in pus)
        sockets: dict[int, list[int]] = {}
        for (package, _), count in counts.items():
            sockets.setdefault(package, []).append(count)
        return Affinity.of(list(sockets.values()))

    best = min((pus for pus in candidates if affinity_of((*taken, *pus)) == wanted), key=key)
    return sorted(pu.os_index for pu in (*taken, *best))


@st.composite
def machines(draw: st.DrawFn) -> tuple[Topology, frozenset[OsIndex]]:
    """Small machines of any shape: unequal sockets, LLCs within nodes and nodes within LLCs, one
    node over several sockets, SMT, kinds of cores, shuffled and sparse OS indices, any symmetric
    SLIT, and some PUs that are not available.
    """
    shape = draw(
        st.lists(
            st.lists(st.integers(1, 4), min_size=1, max_size=3), min_size=1, max_size=4
        ).filter(lambda sockets: sum(map(sum, sockets)) <= 11)
    )
    rule = draw(st.sampled_from(["machine", "socket", "two sockets", "llc", "core", "random"]))
    places: list[tuple[int, int, int]] = []  # package, llc, node
    llc = 0
    for package, sizes in enumerate(shape):
        for cores in sizes:
            for core in range(cores):
                node = {
                    "machine": 0,
                    "socket": package,
                    "two sockets": package // 2,
                    "llc": llc,
                    "core": 2 * llc + core % 2,
                }.get(rule)
                places.append((package, llc, draw(st.integers(0, 4)) if node is None else node))
            llc += 1
    dense = {node: i for i, node in enumerate(sorted({node for _, _, node in places}))}
    smt = [draw(st.integers(1, 2)) if draw(st.booleans()) else 1 for _ in places]
    kinds = draw(st.sampled_from([1, 1, 2, 3]))
    kind = [draw(st.integers(0, kinds - 1)) for _ in places]
    os_indices = draw(st.permutations(range(0, 2 * sum(smt), 2)))
    pus: list[PU] = []
    for core, (package, domain, node) in enumerate(places):
        for rank in range(smt[core]):
            index = OsIndex(os_indices[len(pus)])
            pus.append(PU(index, rank, core, domain, package, dense[node], kind[core]))
    n = len(dense)
    slit = [[10] * n for _ in range(n)]
    for a in range(n):
        for b in range(a):
            slit[a][b] = slit[b][a] = draw(st.sampled_from([11, 16, 22, 20, 20]))
    everything = frozenset(pu.os_index for pu in pus)
    available = (
        frozenset(pu.os_index for pu in pus if draw(st.integers(0, 6)))
        if draw(st.booleans())
        else everything
    )
    topology = Topology(
        name="random",
        origin="synthetic",
        pus=tuple(pus),
        node_os_indices=tuple(OsIndex(i) for i in range(n)),
        distances=tuple(map(tuple, slit)),
        allowed=everything,
    )
    return topology, available
