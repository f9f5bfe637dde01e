"""The table `[topology]` of a preset file: three forms for the places of cores.

* alike: packages ⊃ nodes ⊃ LLC domains ⊃ cores ⊃ PUs, as many of each in every one;
* hybrid: the same, but every LLC domain holds the cores of each `[[core_class]]`;
* listed: `pus`, one row a PU: OS index, core, LLC domain, package, node and, on hybrid machines,
  the core's class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from autofinity.checked_file import Table, WrongValueError, checked, shown
from autofinity.model.topology import PU, Cache, OsIndex, Topology
from autofinity.sim.spec import LINE_BYTES, CacheSpec, CoreClassSpec

type Block = tuple[int, int, int]
"""Cores that are together in every LLC domain: class, number, PUs of each."""

CoresPerLlc = Annotated[int, Field(ge=1, le=256)]
PusPerCore = Annotated[int, Field(ge=1, le=8)]
Upto64 = Annotated[int, Field(ge=1, le=64)]


@dataclass(frozen=True, slots=True)
class PlacedCores:
    """Places and kinds of cores from a preset file."""

    topology: Topology
    class_of_core: tuple[int, ...]


class _Nodes(Table):
    distances: tuple[tuple[Annotated[int, Field(ge=1, le=255)], ...], ...]
    memoryless_nodes: tuple[int, ...] = ()


class _Listed(_Nodes):
    pus: tuple[tuple[Annotated[int, Field(ge=0, le=1 << 31)], ...], ...]


class _Hybrid(_Nodes):
    packages: Upto64
    nodes_per_package: Upto64
    llcs_per_node: Upto64
    numbering: Literal["cores", "smt-last"] = "cores"


class _Alike(_Hybrid):
    cores_per_llc: CoresPerLlc
    pus_per_core: PusPerCore


def read_topology(table: object, name: str, model: str, blocks: Sequence[Block]) -> PlacedCores:
    """Read the table; `blocks` are those of the classes (empty: the table itself has the one
    block).

    Caches are left out: `with_caches` adds them. Raises `WrongValueError`.
    """
    listed = isinstance(table, dict) and "pus" in table
    form = _Listed if listed else _Hybrid if blocks else _Alike
    read: _Nodes = checked(form, table, "topology")
    if isinstance(read, _Listed):
        pus, class_of_core = _listed(read.pus, max(1, len(blocks)))
        # A node without a core appears only in the distances.
        nodes = max(1 + max(pu.node for pu in pus), len(read.distances))
    else:
        assert isinstance(read, _Hybrid)
        if isinstance(read, _Alike):
            blocks = ((0, read.cores_per_llc, read.pus_per_core),)
        pus, class_of_core, nodes = _nested(read, blocks)
    _check_nodes(read, nodes)
    topology = Topology(
        name=name,
        origin="preset",
        pus=pus,
        node_os_indices=tuple(OsIndex(node) for node in range(nodes)),
        distances=read.distances,
        allowed=frozenset(pu.os_index for pu in pus),
        model=model,
        memoryless_nodes=frozenset(read.memoryless_nodes),
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


def _check_nodes(read: _Nodes, nodes: int) -> None:
    if {len(read.distances), *map(len, read.distances)} != {nodes}:
        raise WrongValueError(
            "topology.distances", f"expected {nodes} rows of {nodes} whole numbers"
        )
    without = set(read.memoryless_nodes)
    if not without < set(range(nodes)):
        raise WrongValueError(
            "topology.memoryless_nodes",
            f"got {sorted(without)}; expected some of the nodes 0 to {nodes - 1}, but not all",
        )


def _nested(read: _Hybrid, blocks: Sequence[Block]) -> tuple[tuple[PU, ...], tuple[int, ...], int]:
    """PUs, class of each core, number of nodes."""
    nodes = read.packages * read.nodes_per_package
    within = [(number, smt) for number, cores, smt in blocks for _ in range(cores)]
    cores = [
        (llc, number, smt) for llc in range(nodes * read.llcs_per_node) for number, smt in within
    ]
    number_of = _numbering([smt for _, _, smt in cores], read.numbering == "smt-last")
    pus = []
    for core, (llc, number, smt) in enumerate(cores):
        node = llc // read.llcs_per_node
        package = node * read.packages // nodes
        # Classes are listed fastest first; a larger efficiency is faster.
        efficiency = len(blocks) - 1 - number
        pus += [
            PU(OsIndex(number_of[core, rank]), rank, core, llc, package, node, efficiency)
            for rank in range(smt)
        ]
    return tuple(pus), tuple(number for _, number, _ in cores), nodes


def _numbering(smt: Sequence[int], last: bool) -> dict[tuple[int, int], int]:
    """OS index of each (core, SMT rank): core by core, or (`last`) all first PUs before the second
    ones.
    """
    pairs = [(core, rank) for core, count in enumerate(smt) for rank in range(count)]
    if last:
        pairs.sort(key=lambda pair: pair[::-1])
    return {pair: number for number, pair in enumerate(pairs)}


def _listed(
    rows: Sequence[tuple[int, ...]], classes: int
) -> tuple[tuple[PU, ...], tuple[int, ...]]:
    """PUs, class of each core."""
    columns = 5 if classes == 1 else 6
    seen: dict[int, tuple[int, ...]] = {}
    ranks: dict[int, int] = {}
    pus = []
    for row in rows:
        if len(row) != columns:
            raise _wrong(f"got the row {shown(list(row))}, expected rows of {columns} numbers")
        os_index, core, llc, package, node, *rest = row
        number = rest[0] if rest else 0
        if number >= classes:
            raise _wrong(f"got class {number}; there are {classes}")
        place = (llc, package, node, number)
        if seen.setdefault(core, place) != place:
            raise _wrong(f"core {core} is in two places")
        ranks[core] = rank = ranks.get(core, -1) + 1
        pus.append(PU(OsIndex(os_index), rank, core, llc, package, node, classes - 1 - number))
    if not pus:
        raise _wrong(f"got none, expected rows of {columns} numbers")
    if len({pu.os_index for pu in pus}) != len(pus):
        raise _wrong("an OS index comes twice")
    _check_dense("core", {pu.core for pu in pus})
    _check_dense("LLC domain", {pu.llc for pu in pus})
    _check_dense("package", {pu.package for pu in pus})
    return tuple(pus), tuple(seen[core][-1] for core in range(len(seen)))


def _check_dense(what: str, numbers: set[int]) -> None:
    if numbers != set(range(len(numbers))):
        raise _wrong(f"{what} numbers have gaps; expected 0 to {len(numbers) - 1}")


def _wrong(what: str) -> WrongValueError:
    return WrongValueError("topology.pus", what)
