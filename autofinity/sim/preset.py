"""Preset files → `MachineSpec`. The files say where every number comes from."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autofinity.model.errors import TopologyError
from autofinity.model.topology import Topology
from autofinity.resources import shipped
from autofinity.sim.distances import Matrix, between_llcs, by_hops, by_slit
from autofinity.sim.fields import Fields
from autofinity.sim.preset_cores import read_core_class, read_llc
from autofinity.sim.preset_topology import PlacedCores, read_block, read_topology, with_caches
from autofinity.sim.routes import UnconnectedError, direct_links, routes_over
from autofinity.sim.spec import (
    BandwidthSpec,
    CacheSpec,
    CoreClassSpec,
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

LARGEST_PRESET_BYTES = 4 << 20
"""Far above any machine file; a device or a wrong file must not fill the memory."""


def preset_names() -> tuple[str, ...]:
    """Names of the shipped machines, in alphabetical order."""
    return tuple(sorted(path.stem for path in shipped("data", "machines").glob("*.toml")))


def load_preset(name: str) -> MachineSpec:
    """The shipped machine `name`, or the machine of a preset file when `name` ends in `.toml`.

    Raises `TopologyError` for an unknown name (naming the nearest) and for a bad file (naming the
    key).
    """
    if name.endswith(".toml"):
        return read_preset(Path(name))
    known = preset_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise TopologyError(
            f"unknown machine {name!r}{hint}; known are {', '.join(known)}, or give a .toml file"
        )
    return read_preset(shipped("data", "machines", f"{name}.toml"))


def read_preset(path: Path) -> MachineSpec:
    """Read and check one preset file. Raises `TopologyError` naming file and key."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_PRESET_BYTES + 1)
        if len(content) > LARGEST_PRESET_BYTES:
            raise TopologyError(
                f"{path}: more than {LARGEST_PRESET_BYTES >> 20} MiB, which is no machine file"
            )
        root = Fields(path, "", tomllib.loads(content.decode("utf-8")))
    # Python's TOML parser recurses once for each nested bracket.
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TopologyError(f"{path}: not a TOML file: {error}") from error
    except UnicodeDecodeError as error:
        raise TopologyError(f"{path}: not a text file in UTF-8: {error}") from error
    except OSError as error:
        raise TopologyError(f"{path}: cannot be read: {error.strerror}") from error
    spec = _machine(root)
    root.end()
    return spec


def _machine(root: Fields) -> MachineSpec:
    """The machine of a whole preset file."""
    name = root.text("name")
    model = root.text("model")
    if root.has("core_class"):
        tables = root.tables("core_class")
        blocks = [read_block(table, number) for number, table in enumerate(tables)]
        classes = tuple(read_core_class(table, table.text("name")) for table in tables)
        for table in tables:
            table.end()
    else:
        blocks = []
        classes = (read_core_class(root, "all"),)
    placed = read_topology(root.table("topology"), name, model, blocks)
    llc = read_llc(root.table("llc"))
    placed = replace(placed, topology=with_caches(placed.topology, classes[0], llc))
    return _assembled(root, placed, classes, llc)


def _assembled(
    root: Fields, placed: PlacedCores, classes: tuple[CoreClassSpec, ...], llc: CacheSpec
) -> MachineSpec:
    """Everything that is neither cores nor topology."""
    topology = placed.topology
    coherence = root.table("coherence")
    protocol = coherence.text("protocol", ("mesi", "moesi"))
    clean_forwarding = coherence.flag("clean_forwarding")
    coherence.end()
    latency_table = root.table("latency")
    further_from = latency_table.wholes("further_from", 11, 255)
    latency = _latency(latency_table)
    bandwidth, node_distance = _bandwidth(root.table("bandwidth"), topology, further_from)
    furthest = max(map(max, node_distance))
    if furthest >= len(latency.dram):
        raise latency_table.error(
            "dram",
            f"got {len(latency.dram)} values; the furthest nodes are of distance class {furthest}, "
            f"so {furthest + 1} are expected",
        )
    page_bytes = root.whole("page_bytes", 4096, 1 << 16, 4096)
    if page_bytes & (page_bytes - 1):
        raise root.error("page_bytes", f"got {page_bytes}, expected a power of two")
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
        llc_distance=between_llcs(topology, node_distance),
        home_nodes=placed.home_nodes,
        bandwidth=bandwidth,
        system=_system(root.table("system")),
        pmu_counters=_pmu(root.table("pmu")),
        energy=_energy(root.optional_table("energy")),
        page_bytes=page_bytes,
    )


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
    )
    table.end()
    return spec


def _pmu(table: Fields) -> int:
    counters = table.whole("counters", 0, 1000)
    table.end()
    return counters


def _energy(table: Fields | None) -> EnergySpec | None:
    if table is None:
        return None
    spec = EnergySpec(
        instruction_pj=table.number("instruction_pj", 0, 1e9),
        l1_access_pj=table.number("l1_access_pj", 0, 1e9),
        l2_access_pj=table.number("l2_access_pj", 0, 1e9),
        llc_access_pj=table.number("llc_access_pj", 0, 1e9),
        dram_read_line_pj=table.number("dram_read_line_pj", 0, 1e9),
        dram_write_line_pj=table.number("dram_write_line_pj", 0, 1e9),
        link_byte_pj=table.number("link_byte_pj", 0, 1e9),
        core_w=table.number("core_w", 0, 1e6),
        idle_core_w=table.number("idle_core_w", 0, 1e6),
        uncore_w=table.number("uncore_w", 0, 1e6),
    )
    table.end()
    return spec
