"""A user's own machine: a topology (hwloc's, from a file or synthetic) and a file of latencies.

The file has the keys of a preset without `[topology]`; in a whole preset the topology is ignored.

* Size and ways of a cache are the topology's where known, else the file's (an L1 whose size does
  not fit the file's ways takes the next number of ways that fits). The caches of the first core
  stand for those of all cores; with several `[[core_class]]` the private caches are the file's. An
  L2 that several cores share is inclusive of their L1s.
* A cache that spans several nodes has a part for each. With MESI, a victim LLC then has lines by
  their home.
* `links` of a machine with another number of nodes give the bandwidth of a link, not its ends:
  then every pair of nodes has a link, as fast as the slowest.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from autofinity.checked_file import WrongValueError, naming, read_toml
from autofinity.model.errors import TopologyError
from autofinity.model.topology import Cache, Topology
from autofinity.resources import shipped
from autofinity.sim.preset_machine import OF_ITS_OWN, assembled, core_classes, read_tables
from autofinity.sim.preset_topology import PlacedCores
from autofinity.sim.spec import LINE_BYTES, MachineSpec


def assumed_latencies() -> Path:
    """The shipped file for machines of which only the topology is known."""
    return shipped("data", "latencies", "assumed.toml")


def machine_on(topology: Topology, latencies: Path) -> MachineSpec:
    """The machine with this topology and the values of `latencies`.

    Classes of cores are matched by speed: the first `[[core_class]]` is the most efficient kind of
    the topology. A file without them makes all cores alike.

    Raises `TopologyError`, which names file and key.
    """
    document = read_toml(latencies, TopologyError)
    for left_aside in (*OF_ITS_OWN, "topology"):
        document.pop(left_aside, None)
    _take_over(document, topology)
    _fit_homes(document, topology)
    _fit_links(document, topology.n_nodes)
    with naming(latencies, TopologyError):
        file = read_tables(document)
        classes = core_classes(file)
        placed = PlacedCores(topology, _class_of_core(topology, len(classes)))
        return assembled(file, placed, classes, classes_by_rank=True)


def _take_over(document: dict[str, object], topology: Topology) -> None:
    """Put the topology's facts about its caches into the tables of `document`."""
    caches = topology.caches
    if not caches:
        return
    shared = [cache for cache in caches if cache.level > 1]
    if shared:
        _fill(document, "llc", replace(shared[-1], size_bytes=topology.llc_bytes))
    if "core_class" in document:
        return
    for cache in caches:
        if cache.level == 1:
            _fill(document, "l1", cache)
    if len(shared) > 1:
        _fill(document, "l2", shared[0])
        table = document.get("l2")
        if isinstance(table, dict):
            table["cores"] = shared[0].shared_by_cores
            if shared[0].shared_by_cores > 1:
                table["inclusion"] = "inclusive"
    else:
        document.pop("l2", None)


def _fit_homes(document: dict[str, object], topology: Topology) -> None:
    """Say whether LLCs have lines by their home, where caches are known: those that nodes divide
    have, if the file's protocol and its kind of LLC can.
    """
    llc, coherence = document.get("llc"), document.get("coherence")
    if not isinstance(llc, dict) or not isinstance(coherence, dict) or not topology.caches:
        return
    can = llc.get("inclusion") == "victim" and coherence.get("protocol") == "mesi"
    llc["by_home"] = can and topology.llc_parts > 1 and topology.has_an_llc_each_node


def _fill(document: dict[str, object], key: str, cache: Cache) -> None:
    table = document.get(key)
    if not isinstance(table, dict):
        return
    if cache.size_bytes > 0:
        table["size_bytes"] = cache.size_bytes
    ways = cache.ways if cache.ways > 0 else table.get("ways")
    if key == "l1" and isinstance(ways, int):
        ways = _fitting_ways(cache.size_bytes // LINE_BYTES, ways)
    if ways is not None:
        table["ways"] = ways


def _fitting_ways(lines: int, ways: int) -> int:
    """`ways`, or the next number that makes the sets a power of two (`ways` when none does)."""
    for more in range(ways, min(lines, 128) + 1):
        if lines % more == 0 and (lines // more).bit_count() == 1:
            return more
    return ways


def _fit_links(document: dict[str, object], nodes: int) -> None:
    """Turn links of another machine into a bandwidth for every pair of nodes."""
    table = document.get("bandwidth")
    links = table.get("links") if isinstance(table, dict) else None
    if not isinstance(table, dict) or not isinstance(links, list):
        return
    rows = [row for row in links if _is_link(row)]
    ends = {end for row in rows for end in row[:2]}
    if len(rows) == len(links) and ends != set(range(nodes)):
        del table["links"]
        slowest = min((row[2] for row in rows if row[2]), default=0)
        table["link_gbs"] = [0, *[slowest] * 5]


def _is_link(row: object) -> bool:
    """Whether a row has two nodes and GB/s; the reader has not checked it yet."""
    return (
        isinstance(row, list)
        and len(row) == 3
        and all(type(end) is int for end in row[:2])
        and isinstance(row[2], int | float)
    )


def _class_of_core(topology: Topology, classes: int) -> tuple[int, ...]:
    """Class of each logical core: 0 for the fastest kind."""
    if classes == 1:
        return (0,) * topology.n_cores
    efficiency = {pu.core: pu.efficiency for pu in topology.pus}
    kinds = sorted(set(efficiency.values()), reverse=True)
    if len(kinds) != classes:
        raise WrongValueError(
            "core_class",
            f"got {classes} classes, but {topology.name} has {len(kinds)} "
            f"kind{'s' * (len(kinds) != 1)} of cores; expected as many, or cores that are all "
            "alike",
        )
    return tuple(kinds.index(efficiency[core]) for core in range(topology.n_cores))
