"""The table `[topology]` of a preset file: three ways to say which cores sit where.

* alike: packages ⊃ nodes ⊃ LLC domains ⊃ cores ⊃ PUs, as many of each in every one;
* hybrid: the same, but every LLC domain holds the cores of each `[[core_class]]`;
* listed: `pus`, one row a PU: OS index, core, LLC domain, package, node and, on hybrid machines,
  the core's class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autofinity.model.topology import PU, Cache, OsIndex, Topology
from autofinity.sim.fields import Fields
from autofinity.sim.spec import LINE_BYTES, CacheSpec, CoreClassSpec

type Block = tuple[int, int, int]
"""Cores that sit together in every LLC domain: class, how many, PUs of each."""


@dataclass(frozen=True, slots=True)
class PlacedCores:
    """What a preset file says of where cores are, and of which kind."""

    topology: Topology
    class_of_core: tuple[int, ...]


def read_block(table: Fields, number: int) -> Block:
    """`cores_per_llc` and `pus_per_core` of the cores of class `number`."""
    cores = table.whole("cores_per_llc", 1, 256)
    return number, cores, table.whole("pus_per_core", 1, 8)


def read_topology(table: Fields, name: str, model: str, blocks: Sequence[Block]) -> PlacedCores:
    """`blocks` are those of the classes; empty: the table itself has the one block.

    Caches are left out: `with_caches` adds them.
    """
    if table.has("pus"):
        pus, class_of_core = _listed(table, max(1, len(blocks)))
        nodes = 1 + max(pu.node for pu in pus)
        # A node without a core appears only in the distances.
        nodes = max(nodes, table.length("distances"))
    else:
        pus, class_of_core, nodes = _nested(table, blocks or (read_block(table, 0),))
    distances = table.square("distances", nodes)
    memoryless = frozenset(table.wholes("memoryless_nodes", 0, nodes - 1))
    if len(memoryless) == nodes:
        raise table.error("memoryless_nodes", "names all nodes; expected one with memory")
    table.end()
    topology = Topology(
        name=name,
        origin="preset",
        pus=pus,
        node_os_indices=tuple(OsIndex(node) for node in range(nodes)),
        distances=distances,
        allowed=frozenset(pu.os_index for pu in pus),
        model=model,
        memoryless_nodes=memoryless,
    )
    return PlacedCores(topology, class_of_core)


def with_caches(topology: Topology, first: CoreClassSpec, llc: CacheSpec) -> Topology:
    """The topology with its caches as the first core sees them."""
    cores = {pu.core for pu in topology.pus if pu.llc == topology.pus[0].llc}
    caches = [Cache(1, first.l1.size_bytes, LINE_BYTES, first.l1.ways, 1)]
    if first.l2 is not None:
        caches.append(Cache(2, first.l2.size_bytes, LINE_BYTES, first.l2.ways, first.l2_cores))
    level = len(caches) + 1
    caches.append(Cache(level, llc.size_bytes, LINE_BYTES, llc.ways, len(cores)))
    return replace(topology, caches=tuple(caches))


def _nested(table: Fields, blocks: Sequence[Block]) -> tuple[tuple[PU, ...], tuple[int, ...], int]:
    """PUs, class of each core, number of nodes."""
    packages = table.whole("packages", 1, 64)
    nodes = packages * table.whole("nodes_per_package", 1, 64)
    llcs_per_node = table.whole("llcs_per_node", 1, 64)
    numbering = table.text("numbering", ("cores", "smt-last"), "cores")
    within = [(number, smt) for number, cores, smt in blocks for _ in range(cores)]
    cores = [(llc, number, smt) for llc in range(nodes * llcs_per_node) for number, smt in within]
    number_of = _numbering([smt for _, _, smt in cores], numbering == "smt-last")
    pus = []
    for core, (llc, number, smt) in enumerate(cores):
        node = llc // llcs_per_node
        package = node * packages // nodes
        # Classes are listed fastest first; a larger efficiency is faster.
        efficiency = len(blocks) - 1 - number
        pus += [
            PU(OsIndex(number_of[core, rank]), rank, core, llc, package, node, efficiency)
            for rank in range(smt)
        ]
    return tuple(pus), tuple(number for _, number, _ in cores), nodes


def _numbering(smt: Sequence[int], last: bool) -> dict[tuple[int, int], int]:
    """OS index of each (core, SMT rank): core by core, or (`last`) second PUs after all first."""
    pairs = [(core, rank) for core, count in enumerate(smt) for rank in range(count)]
    if last:
        pairs.sort(key=lambda pair: pair[::-1])
    return {pair: number for number, pair in enumerate(pairs)}


def _listed(table: Fields, classes: int) -> tuple[tuple[PU, ...], tuple[int, ...]]:
    """PUs, class of each core."""
    columns = 5 if classes == 1 else 6
    seen: dict[int, tuple[int, ...]] = {}
    ranks: dict[int, int] = {}
    pus = []
    for row in table.rows("pus", columns, whole=columns):
        os_index, core, llc, package, node, *rest = map(int, row)
        number = rest[0] if rest else 0
        if number >= classes:
            raise table.error("pus", f"got class {number}; there are {classes}")
        place = (llc, package, node, number)
        if seen.setdefault(core, place) != place:
            raise table.error("pus", f"core {core} is in two places")
        ranks[core] = rank = ranks.get(core, -1) + 1
        pus.append(PU(OsIndex(os_index), rank, core, llc, package, node, classes - 1 - number))
    if not pus:
        raise table.error("pus", "is empty; expected a row for every PU")
    if len({pu.os_index for pu in pus}) != len(pus):
        raise table.error("pus", "an OS index comes twice")
    _check_dense(table, "core", {pu.core for pu in pus})
    _check_dense(table, "LLC domain", {pu.llc for pu in pus})
    _check_dense(table, "package", {pu.package for pu in pus})
    return tuple(pus), tuple(seen[core][-1] for core in range(len(seen)))


def _check_dense(table: Fields, what: str, numbers: set[int]) -> None:
    if numbers != set(range(len(numbers))):
        raise table.error("pus", f"{what} numbers have gaps; expected 0 to {len(numbers) - 1}")
