"""Rules that make a `Topology` from the facts of hwloc or the kernel about each PU.

* **Sockets** are packages. PUs outside any package form one more.
* **LLC domain**: the PUs of one package and one node under the outermost data or unified cache
  above the core, whatever its level. Cores without such a cache, or with an L1 or L2 of their own
  for the outermost one, share one domain with those of their package and node: they share the
  node's memory, and caches that the kernel does not know (Ampere Altra's system-level cache, most
  caches of virtual machines). An L3 of one core is a domain, as on POWER and Itanium. Memory-side
  caches are not CPU caches and do not count. A cache that spans several nodes is taken to have
  sub-NUMA clusters: the lines of a node's memory are in the node's part of the cache only (machine
  file `xeon-8480`). With a PU in no known node it is one domain.
* **Core**: the core object; a PU outside any core is a core of its own. SMT rank: position among
  the PUs of the core.
* **Node** of a PU: the local node with the fewest PUs, then the first in logical
  order (DRAM before high-bandwidth or persistent memory, as hwloc orders them). PUs in no node get
  a stand-in node, one for each package, with the number of an unknown node; without any node, all
  PUs are in one.
* **Memory**: no page lives on a node without memory, or on one that is not allowed.
* **Distances**: the first latency matrix between nodes; 10 and 20 where it has no value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autofinity.model.errors import TopologyError
from autofinity.model.topology import PU, UNKNOWN_NODE, Cache, Origin, OsIndex, Topology

LOCAL_DISTANCE = 10
REMOTE_DISTANCE = 20
# A SLIT holds bytes; larger values are no distances, and sums must stay in 64 bits.
_LARGEST_DISTANCE = 1 << 31
_PRIVATE_LEVELS = (1, 2)
_NO_CACHE = -1  # numbers of caches are not negative


@dataclass(frozen=True, slots=True)
class RawPU:
    """A PU and the objects above it, each by any number that is the same for the same object."""

    os_index: int
    package: int
    """Package; -1 for none."""
    core: int
    """Core; -1 for none."""
    caches: tuple[int, ...]
    """Data and unified caches, innermost first."""
    efficiency: int
    last_level: int = 0
    """Level of the outermost of `caches`; 0: none, or unknown."""


@dataclass(frozen=True, slots=True)
class RawCache:
    """Size and shape of one cache."""

    level: int
    size_bytes: int
    line_bytes: int
    ways: int


@dataclass(frozen=True, slots=True)
class RawNode:
    """A NUMA node and the PUs that it is local to."""

    os_index: int
    cpus: frozenset[int]
    has_memory: bool = True


@dataclass(frozen=True, slots=True)
class RawMachine:
    """All facts that a `Topology` is made of; PUs and nodes in logical order."""

    pus: tuple[RawPU, ...]
    nodes: tuple[RawNode, ...]
    caches: Mapping[int, RawCache]
    distances: Mapping[tuple[int, int], int]
    """Distances by OS indices of nodes; may be incomplete."""
    allowed: frozenset[int]
    model: str
    page_sizes_bytes: tuple[int, ...]
    allowed_nodes: frozenset[int] | None = None
    """OS indices of nodes whose memory may be used; None: all."""
    kinds_unranked: bool = False
    isolated: frozenset[int] = frozenset()
    """CPUs between which the kernel balances no threads; may name CPUs that are not in `pus`."""


def build_topology(raw: RawMachine, name: str, origin: Origin) -> Topology:
    """The topology by the rules above. Raises `TopologyError` when no PU exists or none is
    allowed.
    """
    if not raw.pus:
        raise TopologyError(f"{name} has no processing unit; expected at least one")
    if len({pu.os_index for pu in raw.pus}) != len(raw.pus):
        raise TopologyError(f"{name} has two processing units with the same OS index")
    packages: dict[int, int] = {}
    llcs: dict[tuple[int, int, int], int] = {}
    cores: dict[tuple[str, int], int] = {}
    rank: dict[int, int] = {}
    node_order = _with_stand_ins(raw)
    local = _local_nodes(node_order)
    whole, own = _not_divided(raw), _of_one_core(raw)
    pus = []
    for pu in raw.pus:
        package = packages.setdefault(pu.package, len(packages))
        core_key = ("core", pu.core) if pu.core >= 0 else ("pu", pu.os_index)
        core = cores.setdefault(core_key, len(cores))
        domain = pu.caches[-1] if pu.caches and pu.caches[-1] not in own else _NO_CACHE
        node = local[pu.os_index]
        llc = llcs.setdefault((package, domain, -1 if domain in whole else node), len(llcs))
        smt_rank = rank.get(core, 0)
        rank[core] = smt_rank + 1
        pus.append(
            PU(
                OsIndex(pu.os_index),
                smt_rank,
                core,
                llc,
                package,
                node,
                pu.efficiency,
            )
        )
    allowed = frozenset(pu.os_index for pu in pus if pu.os_index in raw.allowed)
    if not allowed:
        raise TopologyError(
            f"none of the {len(pus)} processing units of {name} may be used; "
            "expected at least one in the allowed set"
        )
    return Topology(
        name=name,
        origin=origin,
        pus=tuple(pus),
        node_os_indices=tuple(OsIndex(node.os_index) for node in node_order),
        distances=_distances(node_order, raw.distances),
        allowed=allowed,
        caches=_caches(raw),
        page_sizes_bytes=raw.page_sizes_bytes or (4096,),
        model=raw.model,
        memoryless_nodes=_memoryless(node_order, raw.allowed_nodes),
        one_node_assumed=not raw.nodes,
        llc_parts=_most_parts(raw, pus),
        kinds_unranked=raw.kinds_unranked,
        isolated=frozenset(pu.os_index for pu in pus if pu.os_index in raw.isolated),
    )


def _of_one_core(raw: RawMachine) -> frozenset[int]:
    """Outermost caches that are an L1 or L2 of one core."""
    cores: dict[int, set[tuple[int, int]]] = {}
    for pu in raw.pus:
        if pu.caches and pu.last_level in _PRIVATE_LEVELS:
            alone = pu.os_index if pu.core < 0 else -1
            cores.setdefault(pu.caches[-1], set()).add((pu.core, alone))
    return frozenset(number for number, found in cores.items() if len(found) == 1)


def _not_divided(raw: RawMachine) -> frozenset[int]:
    """Outermost caches with a PU in no known node."""
    known = frozenset[int]().union(*(node.cpus for node in raw.nodes))
    return frozenset(pu.caches[-1] for pu in raw.pus if pu.caches and pu.os_index not in known)


def _most_parts(raw: RawMachine, pus: Sequence[PU]) -> int:
    """Most domains that one outermost cache is divided into."""
    parts: dict[tuple[int, int], set[int]] = {}
    for pu, read in zip(pus, raw.pus, strict=True):
        if read.caches:
            parts.setdefault((read.package, read.caches[-1]), set()).add(pu.llc)
    return max(map(len, parts.values()), default=1)


def _with_stand_ins(raw: RawMachine) -> tuple[RawNode, ...]:
    """The nodes, and one more for the PUs of each package that are in no node."""
    if not raw.nodes:
        return (RawNode(0, frozenset(pu.os_index for pu in raw.pus)),)
    known = frozenset().union(*(node.cpus for node in raw.nodes))
    without: dict[int, set[int]] = {}
    for pu in raw.pus:
        if pu.os_index not in known:
            without.setdefault(pu.package, set()).add(pu.os_index)
    return (
        *raw.nodes,
        *(RawNode(UNKNOWN_NODE, frozenset(cpus), has_memory=False) for cpus in without.values()),
    )


def _memoryless(nodes: Sequence[RawNode], allowed: frozenset[int] | None) -> frozenset[int]:
    """Logical nodes that no page may be on.

    Where no known node reports memory, all allowed nodes are assumed to have some.
    """
    known = [node for node in nodes if node.os_index != UNKNOWN_NODE]
    told = any(node.has_memory for node in known)
    usable = {node.os_index for node in known if allowed is None or node.os_index in allowed}
    found = frozenset(
        logical
        for logical, node in enumerate(nodes)
        if (told and not node.has_memory) or node.os_index not in usable
    )
    return found if len(found) < len(nodes) else frozenset()


def _local_nodes(nodes: Sequence[RawNode]) -> dict[int, int]:
    """Logical node of each PU, by OS index."""
    found: dict[int, int] = {}
    # Wide nodes first and late ones first, so that the last entry written is the best choice.
    order = sorted(enumerate(nodes), key=lambda item: (len(item[1].cpus), item[0]), reverse=True)
    for logical, node in order:
        found.update(dict.fromkeys(node.cpus, logical))
    return found


def _distances(
    nodes: Sequence[RawNode], known: Mapping[tuple[int, int], int]
) -> tuple[tuple[int, ...], ...]:
    def distance(a: RawNode, b: RawNode) -> int:
        default = LOCAL_DISTANCE if a is b else REMOTE_DISTANCE
        return min(known.get((a.os_index, b.os_index), default), _LARGEST_DISTANCE)

    return tuple(tuple(distance(a, b) for b in nodes) for a in nodes)


def _caches(raw: RawMachine) -> tuple[Cache, ...]:
    """Caches above the first PU, innermost first."""
    found = []
    for number in raw.pus[0].caches:
        cache = raw.caches[number]
        under = {
            ("core", pu.core) if pu.core >= 0 else ("pu", pu.os_index)
            for pu in raw.pus
            if number in pu.caches
        }
        found.append(Cache(cache.level, cache.size_bytes, cache.line_bytes, cache.ways, len(under)))
    return tuple(found)
