"""Places for several processes of one program over one node: their threads and memory together.

Cores are divided into one block for each rank, from the outside in: NUMA nodes, then last-level
caches, then cores. GETAFFINITY then places the threads of each rank in its block, by the hint.

- Ranks are dealt to the nodes evenly. With fewer ranks than nodes, each rank gets a run of nodes,
  and so its share of the paths to memory; with more, the numbers of ranks of any two nodes differ
  by at most one, as far as the nodes have the cores.
- Where ranks need cores of several nodes that others use, too, they stay within a socket as long as
  they find room in one.
- Ranks have last-level caches of their own where there are enough: this comes before the even
  number.
- A block has a core for each thread while the machine has a core for each thread of all ranks.
  Only with more threads than cores do threads get second PUs, and then after the cores of their
  block.
- Ranks follow the machine in logical order: rank 0 and rank 1 are neighbours.

This is no mapping: nothing is known of the communication between ranks, so no two ranks are put
together because they talk to each other. Kinds of cores are not balanced between ranks: of a
hybrid machine the slower kinds are used only where the faster ones do not suffice, and then some
ranks may be slower. Ranks are alike: all have the same number of threads and the same hint. Other
nodes of a cluster are not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, zip_longest

from autofinity.affinity.hints import check_available, get_affinity, too_many
from autofinity.model.affinity import Hint
from autofinity.model.errors import PlacementError
from autofinity.model.placement import CoreSet
from autofinity.model.topology import PU, UNKNOWN_NODE, OsIndex, Topology


@dataclass(frozen=True, slots=True)
class Rank:
    """Places of one process: a PU for each thread, and the nodes of its memory."""

    cores: CoreSet
    nodes: tuple[OsIndex, ...]
    """The kernel's numbers of the nodes that are local to the threads and hold memory, ascending;
    of threads on nodes without memory the nearest ones; empty where nodes are not known."""


type _Core = tuple[PU, ...]
"""Usable PUs of one core, the first one first."""
type _Block = Sequence[_Core]
type _Within = Callable[[_Block, int, int], list[_Block] | None]
"""Part, ranks and threads a rank → a block for each rank; None where they have too little room."""


def place_ranks(
    topology: Topology,
    ranks: int,
    threads: int,
    hint: Hint,
    available: frozenset[OsIndex] | None = None,
) -> tuple[Rank, ...]:
    """Disjoint places for `ranks` processes of `threads` threads each, in the order of ranks.

    Places are chosen among the PUs `available` (default: allowed ones). Raises `PlacementError` for
    no ranks, no threads, more threads in all than available PUs, or a PU that the machine does not
    have.
    """
    check_available(topology, available)
    usable = topology.allowed if available is None else available
    if ranks < 1:
        raise PlacementError(f"cannot place {ranks} ranks; expected 1 or more")
    if threads < 1 or ranks * threads > len(usable):
        raise too_many(topology, ranks * max(threads, 0), len(usable))
    blocks = _divided(_cores(topology, usable, ranks * threads), ranks, threads)
    found = []
    for block in blocks:
        cores = get_affinity(topology, threads, hint, _places(topology, block, threads, hint))
        found.append(Rank(cores, memory_of(topology, cores.cpus)))
    return tuple(found)


def share_of(
    topology: Topology, ranks: int, rank: int, available: frozenset[OsIndex] | None = None
) -> frozenset[OsIndex]:
    """All PUs of the block of cores of rank number `rank` (from 0), of any number of threads.

    A block has its even number of cores, rounded down, or more; where parts of the machine differ,
    some cores may be in no block. With more ranks than available PUs (default: allowed ones), all
    share all of these. Raises `PlacementError` for a rank that is not below `ranks`, or a PU that
    the machine does not have.
    """
    check_available(topology, available)
    usable = topology.allowed if available is None else available
    if not 0 <= rank < ranks:
        raise PlacementError(f"there is no rank {rank} of {ranks}; expected 0 to {ranks - 1}")
    if ranks > len(usable):
        return usable
    whole = _cores(topology, usable, len(usable) + 1)
    units = [core[:1] for core in whole] if ranks <= len(whole) else whole
    block = _divided(units, ranks, _room(units) // ranks)[rank]
    if ranks > len(whole):
        return frozenset(pu.os_index for core in block for pu in core)
    cores = {core[0].core for core in block}
    return frozenset(pu.os_index for core in whole for pu in core if pu.core in cores)


def memory_of(topology: Topology, cpus: Sequence[OsIndex]) -> tuple[OsIndex, ...]:
    """The kernel's numbers of the nodes where pages of threads on `cpus` belong, ascending.

    A node without memory is represented by the nearest ones that have memory. Empty where the node
    of a CPU is not known.
    """
    own = {topology.by_os_index[cpu].node for cpu in cpus}
    if own & topology.unknown_nodes or topology.one_node_assumed:
        return ()
    usable = [
        node
        for node, number in enumerate(topology.node_os_indices)
        if number != UNKNOWN_NODE and node not in topology.memoryless_nodes
    ]
    found: set[int] = set()
    for node in own:
        if node in usable or not usable:
            found.add(node)
            continue
        nearest = min(topology.distances[node][other] for other in usable)
        found |= {other for other in usable if topology.distances[node][other] == nearest}
    return tuple(sorted(topology.node_os_indices[node] for node in found))


def _cores(topology: Topology, usable: frozenset[OsIndex], wanted: int) -> list[_Core]:
    """Cores to divide, by package, node, cache and core: the fewest kinds that have `wanted` cores.

    A core has one PU if there is a core for each thread, else all its usable PUs.
    """
    by_core: dict[int, list[PU]] = {}
    for pu in topology.pus:
        if pu.os_index in usable:
            by_core.setdefault(pu.core, []).append(pu)
    cores = [tuple(sorted(pus, key=lambda pu: pu.smt_rank)) for pus in by_core.values()]
    cores.sort(key=lambda core: (core[0].package, core[0].node, core[0].llc, core[0].core))
    if wanted > len(cores):
        return cores
    firsts = [core[:1] for core in cores]
    for kind in sorted({core[0].efficiency for core in firsts}, reverse=True):
        fast = [core for core in firsts if core[0].efficiency >= kind]
        if len(fast) >= wanted:
            return fast
    return firsts


def _divided(cores: Sequence[_Core], ranks: int, threads: int) -> list[_Block]:
    """A block of cores for each rank, with a PU for each of its threads."""
    return (
        _over_nodes(cores, ranks, threads)
        or _dealt(_parts(cores, lambda pu: pu.package), ranks, threads, _in_package)
        or _cut(cores, ranks, threads)
    )


def _over_nodes(cores: _Block, ranks: int, threads: int) -> list[_Block] | None:
    """Blocks of whole nodes, else blocks that share no node with more ranks than they must. None
    where some rank would have cores of several nodes that it shares.
    """
    nodes = _parts(cores, lambda pu: (pu.package, pu.node))
    found = _runs(nodes, ranks, threads)
    for within in (_own_caches, _in_node):
        found = found or _dealt(nodes, ranks, threads, within)
    return found


def _in_package(package: _Block, ranks: int, threads: int) -> list[_Block] | None:
    """Blocks in a package, which ranks leave only where they find no room in any."""
    if _room(package) < ranks * threads:
        return None
    return _over_nodes(package, ranks, threads) or _cut(package, ranks, threads)


def _own_caches(node: _Block, ranks: int, threads: int) -> list[_Block] | None:
    """Blocks of whole caches, at least one for each rank."""
    return _runs(_parts(node, lambda pu: pu.llc), ranks, threads)


def _in_node(node: _Block, ranks: int, threads: int) -> list[_Block] | None:
    """Blocks in a node whose caches ranks share: as few ranks to a cache as possible."""
    if _room(node) < ranks * threads:
        return None
    caches = _parts(node, lambda pu: pu.llc)
    found = _runs(caches, ranks, threads) or _dealt(caches, ranks, threads, _in_cache)
    return found or _cut(node, ranks, threads)


def _in_cache(cache: _Block, ranks: int, threads: int) -> list[_Block] | None:
    return _cut(cache, ranks, threads) if _room(cache) >= ranks * threads else None


def _dealt(
    parts: Sequence[_Block], ranks: int, threads: int, within: _Within
) -> list[_Block] | None:
    """Blocks of ranks that are dealt one by one to the part with the fewest, then to the package
    with the fewest; `within` divides a part. None where not all ranks find room.
    """
    blocks: list[list[_Block]] = [[] for _ in parts]
    for _ in range(ranks):
        packages = Counter[int]()
        for part, held in zip(parts, blocks, strict=True):
            packages[part[0][0].package] += len(held)
        order = sorted(
            range(len(parts)),
            key=lambda at: (len(blocks[at]), packages[parts[at][0][0].package], at),
        )
        for at in order:
            divided = within(parts[at], len(blocks[at]) + 1, threads)
            if divided:
                blocks[at] = divided
                break
        else:
            return None
    return [block for held in blocks for block in held]


def _runs(parts: Sequence[_Block], ranks: int, threads: int) -> list[_Block] | None:
    """Blocks of neighbouring whole parts: as many parts for each rank, if these have the room, else
    as few as have it. None where there are too few parts.
    """
    if ranks > len(parts):
        return None
    size, more = divmod(len(parts), ranks)
    ends = list(accumulate(size + (rank < more) for rank in range(ranks)))
    even = [parts[start:end] for start, end in pairwise([0, *ends])]
    for runs in (even, _filled(parts, ranks, threads)):
        blocks: list[_Block] = [[core for part in run for core in part] for run in runs]
        if len(blocks) == ranks and all(_room(block) >= threads for block in blocks):
            return blocks
    return None


def _filled(parts: Sequence[_Block], ranks: int, threads: int) -> list[Sequence[_Block]]:
    """Runs of as few parts as have room for `threads`; the last run has all that remain."""
    runs: list[Sequence[_Block]] = []
    start = 0
    for end in range(1, len(parts) + 1):
        if len(runs) == ranks - 1:
            break
        if sum(map(_room, parts[start:end])) >= threads:
            runs.append(parts[start:end])
            start = end
    return [*runs, parts[start:]]


def _cut(cores: _Block, ranks: int, threads: int) -> list[_Block]:
    """Blocks of neighbouring cores, equal in number; where these have too little room, of PUs."""
    blocks = _equal(cores, ranks)
    if all(_room(block) >= threads for block in blocks):
        return blocks
    return _equal([(pu,) for core in cores for pu in core], ranks)


def _equal(cores: _Block, ranks: int) -> list[_Block]:
    ends = [rank * len(cores) // ranks for rank in range(ranks + 1)]
    return [cores[start:end] for start, end in pairwise(ends)]


def _parts(cores: _Block, key: Callable[[PU], object]) -> list[_Block]:
    """Cores with the same key together, in the order of the first ones."""
    parts: dict[object, list[_Core]] = {}
    for core in cores:
        parts.setdefault(key(core[0]), []).append(core)
    return list(parts.values())


def _room(cores: _Block) -> int:
    return sum(map(len, cores))


def _places(topology: Topology, block: _Block, threads: int, hint: Hint) -> frozenset[OsIndex]:
    """PUs of a block for GETAFFINITY: the first of each core, and no more second, third … ones than
    threads remain.
    """
    by_core: dict[int, list[OsIndex]] = {}
    for core in block:
        by_core.setdefault(core[0].core, []).extend(pu.os_index for pu in core)
    levels = [[cpu for cpu in level if cpu is not None] for level in zip_longest(*by_core.values())]
    chosen: set[OsIndex] = set(levels[0])
    for level in levels[1:]:
        rest = threads - len(chosen)
        if rest <= 0:
            break
        if len(level) > rest:
            level = list(get_affinity(topology, rest, hint, frozenset(level)).cpus)
        chosen.update(level)
    return frozenset(chosen)
