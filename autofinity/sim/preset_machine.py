"""The tables of a machine file → `MachineSpec`: all that is neither cores nor topology."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from autofinity.model.topology import Topology
from autofinity.sim.distances import Matrix, between_llcs, by_hops, by_slit, slit_ranks
from autofinity.sim.fields import Fields
from autofinity.sim.preset_cores import read_core_class, read_llc
from autofinity.sim.preset_topology import (
    Block,
    PlacedCores,
    read_block,
    read_topology,
    with_caches,
)
from autofinity.sim.routes import UnconnectedError, direct_links, routes_over
from autofinity.sim.spec import (
    OS_BALANCE_US,
    OS_CACHE_HOT_US,
    OS_DAEMON_US,
    PAGE_BYTES,
    PMU_COUNTERS,
    BandwidthSpec,
    CacheSpec,
    CoreClassSpec,
    DirectorySpec,
    EnergySpec,
    LatencySpec,
    LinkSpec,
    MachineSpec,
    SystemSpec,
)

BY_DISTANCE = (
    "dram",
    "load_modified",
    "load_shared",
    "store_modified",
    "store_shared",
    "atomic_modified",
    "atomic_shared",
)
"""Keys of `[latency]` with one value a distance class."""


def whole_machine(root: Fields) -> MachineSpec:
    """The machine of a file that has everything. Raises `TopologyError` naming file and key."""
    name = root.text("name")
    model = root.text("model")
    classes, blocks = core_classes(root)
    placed = read_topology(root.table("topology"), name, model, blocks)
    llc = read_llc(root.table("llc"))
    placed = replace(placed, topology=with_caches(placed.topology, classes[0], llc))
    return assembled(root, placed, classes, llc)


def core_classes(root: Fields) -> tuple[tuple[CoreClassSpec, ...], tuple[Block, ...]]:
    """The kinds of cores, fastest first, and how many of each an LLC domain holds.

    Without `[[core_class]]` there is one kind, of which `[topology]` says how many.
    """
    if not root.has("core_class"):
        return (read_core_class(root, "all"),), ()
    classes, blocks = [], []
    for number, table in enumerate(root.tables("core_class")):
        blocks.append(read_block(table, number))
        classes.append(read_core_class(table, table.text("name")))
        table.end()
    return tuple(classes), tuple(blocks)


def assembled(
    root: Fields,
    placed: PlacedCores,
    classes: tuple[CoreClassSpec, ...],
    llc: CacheSpec,
    *,
    classes_by_rank: bool = False,
) -> MachineSpec:
    """The machine of `placed` cores with all that the rest of the file says.

    `classes_by_rank`: where the file says neither links nor thresholds, every further value of the
    SLIT is another distance class (`slit_ranks`), as far as there are latencies.
    """
    topology = placed.topology
    coherence = root.table("coherence")
    protocol = coherence.text("protocol", ("mesi", "moesi"))
    clean_forwarding = coherence.flag("clean_forwarding")
    directory = coherence.optional("directory", _directory)
    coherence.end()
    latency_table = root.table("latency")
    further_from = latency_table.wholes("further_from", 11, 255)
    latency = _latency(latency_table)
    if classes_by_rank and not further_from:
        further_from = slit_ranks(topology, len(latency.dram))
    bandwidth, node_distance = _bandwidth(root.table("bandwidth"), topology, further_from)
    llc_distance = between_llcs(topology, node_distance)
    furthest = max(max(map(max, matrix)) for matrix in (node_distance, llc_distance))
    if furthest >= len(latency.dram):
        raise latency_table.error(
            "dram",
            f"got {len(latency.dram)} values; the furthest nodes are of distance class {furthest}, "
            f"so {furthest + 1} are expected",
        )
    page_bytes = root.whole("page_bytes", 4096, 1 << 21, 4096)
    if page_bytes not in PAGE_BYTES:
        raise root.error("page_bytes", f"got {page_bytes}, expected 4096, 16384 or 2097152")
    pmu = root.optional("pmu", _pmu)
    return MachineSpec(
        name=topology.name,
        model=topology.model,
        topology=topology,
        core_classes=classes,
        class_of_core=placed.class_of_core,
        protocol="moesi" if protocol == "moesi" else "mesi",
        clean_forwarding=clean_forwarding,
        llc=llc,
        latency=latency,
        node_distance=node_distance,
        llc_distance=llc_distance,
        bandwidth=bandwidth,
        system=_system(root.table("system")),
        pmu_counters=PMU_COUNTERS if pmu is None else pmu,
        energy=root.optional("energy", _energy),
        page_bytes=page_bytes,
        directory=directory,
    )


def _directory(table: Fields) -> DirectorySpec:
    spec = DirectorySpec(
        entries_per_node=table.whole("entries_per_node", 1, 1 << 28),
        ways=table.whole("ways", 1, 128),
    )
    if spec.entries_per_node % spec.ways:
        raise table.error(
            "entries_per_node", f"{spec.entries_per_node} is no multiple of {spec.ways} ways"
        )
    table.end()
    return spec


def _latency(table: Fields) -> LatencySpec:
    ghz = table.number("clocks_at_ghz", 0.01, 100)

    def ns(key: str) -> tuple[float, ...]:
        return tuple(clocks / ghz for clocks in table.by_distance(key))

    spec = LatencySpec(
        dram=ns("dram"),
        load_modified=ns("load_modified"),
        load_shared=ns("load_shared"),
        store_modified=ns("store_modified"),
        store_shared=ns("store_shared"),
        atomic_modified=ns("atomic_modified"),
        atomic_shared=ns("atomic_shared"),
        atomic_hit=table.number("atomic_hit", 0, 10_000) / ghz,
    )
    for key in BY_DISTANCE:
        if len(getattr(spec, key)) != len(spec.dram):
            raise table.error(
                key, f"got {len(getattr(spec, key))} values, expected {len(spec.dram)} as in dram"
            )
    table.end()
    return spec


def _bandwidth(
    table: Fields, topology: Topology, further_from: Sequence[int]
) -> tuple[BandwidthSpec, Matrix]:
    """Bandwidths, and the distance classes between nodes: hops need the links."""
    nodes = topology.n_nodes
    memory_gbs = table.each("memory_gbs", nodes, 0, 1e6)
    fabric_gbs = table.number("fabric_gbs", 0, 1e6)
    distance = by_slit(topology, further_from)
    if table.has("links"):
        links = tuple(_link(table, row, nodes) for row in table.rows("links", 3, whole=2))
        try:
            routes = routes_over(nodes, links)
        except UnconnectedError as error:
            raise table.error("links", str(error)) from None
        if not further_from:
            distance = by_hops(topology, routes)
    else:
        gbs = table.by_distance("link_gbs")
        furthest = max(map(max, distance))
        if furthest >= len(gbs):
            raise table.error("link_gbs", f"got {len(gbs)} values, expected {furthest + 1}")
        links, routes = direct_links(distance, gbs)
    table.end()
    return BandwidthSpec(memory_gbs, links, routes, fabric_gbs), distance


def _link(table: Fields, row: Sequence[float], nodes: int) -> LinkSpec:
    a, b, gbs = int(row[0]), int(row[1]), row[2]
    if max(a, b) >= nodes or a == b:
        raise table.error("links", f"got {[a, b, gbs]}, expected two of the {nodes} nodes and GB/s")
    return LinkSpec(a, b, gbs)


def _system(table: Fields) -> SystemSpec:
    spec = SystemSpec(
        time_slice_us=table.number("time_slice_us", 1, 1e9),
        context_switch_us=table.number("context_switch_us", 0, 1e6),
        spin_us=table.number("spin_us", 0, 1e6),
        wake_us=table.number("wake_us", 0, 1e6),
        migration_us=table.number("migration_us", 0, 1e6),
        balance_us=table.number("balance_us", 0, 1e9, OS_BALANCE_US),
        cache_hot_us=table.number("cache_hot_us", 0, 1e6, OS_CACHE_HOT_US),
        daemon_us=table.number("daemon_us", 0, 1e12, OS_DAEMON_US),
        shootdown_us=table.number("shootdown_us", 0, 1e6, 0),
        interrupt_us=table.number("interrupt_us", 0, 1e6, 0),
    )
    table.end()
    return spec


def _pmu(table: Fields) -> int:
    counters = table.whole("counters", 0, 1000)
    table.end()
    return counters


def _energy(table: Fields) -> EnergySpec:
    """Prices (`*_pj`) and static powers (`*_w`), all of them."""
    highest = {"pj": 1e9, "w": 1e6}
    prices = {
        field.name: table.number(field.name, 0, highest[field.name.rpartition("_")[2]])
        for field in fields(EnergySpec)
    }
    table.end()
    return EnergySpec(**prices)
