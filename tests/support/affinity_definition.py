"""GETAFFINITY as its definition has it (enumerate all core sets, and sort), and machines to try."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from hypothesis import strategies as st

from autofinity.model.affinity import Hint
from autofinity.model.topology import PU, OsIndex, Topology


def slots_by_level(
    topology: Topology, available: frozenset[OsIndex], *, by_kind: bool = False
) -> list[list[PU]]:
    """First available PU of each core, then the second ones, …; with `by_kind` of each the fastest
    kind first.
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
    chosen: list[PU] = []
    for level in slots_by_level(topology, available, by_kind=True):
        rest = threads - len(chosen)
        if rest >= len(level):
            chosen += level
        elif rest:
            chosen += min(combinations(level, rest), key=lambda pus: keys(topology, pus, hint))
    assert len(chosen) == threads
    return sorted(pu.os_index for pu in chosen)


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
