"""Preset files → `MachineSpec`. The files say where every number comes from."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path

from autofinity.model.errors import TopologyError
from autofinity.model.topology import PU, Cache, OsIndex, Topology
from autofinity.resources import shipped
from autofinity.sim.fields import Fields
from autofinity.sim.spec import (
    LINE_BYTES,
    BandwidthSpec,
    CacheSpec,
    CoreSpec,
    EnergySpec,
    LatencySpec,
    MachineSpec,
    SystemSpec,
    TlbSpec,
)

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
    name = root.text("name")
    model = root.text("model")
    ghz = root.number("ghz", 0.01, 100)
    l1 = _cache(root.table("l1"), ghz, ())
    l2 = _cache(root.table("l2"), ghz, ("exclusive", "inclusive"))
    llc = _cache(root.table("llc"), ghz, ("victim", "inclusive"))
    if l1.sets & (l1.sets - 1) or not 1 <= l1.sets <= 512:
        raise root.error("l1", f"{l1.sets} sets; expected a power of two of at most 512")
    topology, two_hops_from = _topology(root.table("topology"), name, model, (l1, l2, llc))
    coherence = root.table("coherence")
    protocol = coherence.text("protocol", ("mesi", "moesi"))
    clean_forwarding = coherence.flag("clean_forwarding")
    coherence.end()
    spec = MachineSpec(
        name=name,
        model=model,
        ghz=ghz,
        topology=topology,
        two_hops_from=two_hops_from,
        protocol="moesi" if protocol == "moesi" else "mesi",
        clean_forwarding=clean_forwarding,
        l1=l1,
        l2=l2,
        llc=llc,
        tlb=_tlb(root.table("tlb"), ghz),
        latency=_latency(root.table("latency")),
        bandwidth=_bandwidth(root.table("bandwidth")),
        core=_core(root.table("core")),
        system=_system(root.table("system")),
        pmu_counters=_pmu(root.table("pmu")),
        energy=_energy(root.optional_table("energy")),
    )
    root.end()
    return spec


def _cache(table: Fields, ghz: float, inclusions: tuple[str, ...]) -> CacheSpec:
    ways = table.whole("ways", 1, 128)
    size = table.whole("size_bytes", ways * LINE_BYTES, 1 << 34)
    if table.name == "llc":
        latency_ns = table.clocks_or_ns("latency")
    else:
        latency_ns = table.number("latency_clocks", 0, 10_000) / ghz
    inclusion = table.text("inclusion", inclusions) if inclusions else ""
    table.end()
    return CacheSpec(size, ways, latency_ns, inclusion)


def _topology(
    table: Fields, name: str, model: str, caches: tuple[CacheSpec, CacheSpec, CacheSpec]
) -> tuple[Topology, int]:
    """Packages ⊃ nodes ⊃ LLC domains ⊃ cores ⊃ PUs, all alike; and the two-hop threshold."""
    packages = table.whole("packages", 1, 64)
    nodes = packages * table.whole("nodes_per_package", 1, 64)
    llcs_per_node = table.whole("llcs_per_node", 1, 64)
    cores_per_llc = table.whole("cores_per_llc", 1, 256)
    smt = table.whole("pus_per_core", 1, 8)
    numbering = table.text("numbering", ("cores", "smt-last"), "cores")
    distances = table.square("distances", nodes)
    two_hops_from = table.whole("two_hops_from", 11, 255)
    table.end()
    cores = nodes * llcs_per_node * cores_per_llc
    pus = []
    for core in range(cores):
        llc = core // cores_per_llc
        node = llc // llcs_per_node
        for rank in range(smt):
            number = rank * cores + core if numbering == "smt-last" else core * smt + rank
            package = node * packages // nodes
            pus.append(PU(OsIndex(number), rank, core, llc, package, node))
    l1, l2, llc_cache = caches
    return (
        Topology(
            name=name,
            origin="preset",
            pus=tuple(pus),
            node_os_indices=tuple(OsIndex(node) for node in range(nodes)),
            distances=distances,
            allowed=frozenset(pu.os_index for pu in pus),
            caches=(
                Cache(1, l1.size_bytes, LINE_BYTES, l1.ways, 1),
                Cache(2, l2.size_bytes, LINE_BYTES, l2.ways, 1),
                Cache(3, llc_cache.size_bytes, LINE_BYTES, llc_cache.ways, cores_per_llc),
            ),
            model=model,
        ),
        two_hops_from,
    )


def _tlb(table: Fields, ghz: float) -> TlbSpec:
    spec = TlbSpec(
        l1_entries=table.whole("l1_entries", 1, 254),
        l2_entries=table.whole("l2_entries", 1, 1 << 20),
        l2_ways=table.whole("l2_ways", 1, 128),
        l2_hit_ns=table.number("l2_hit_clocks", 0, 10_000) / ghz,
        walk_ns=table.number("walk_clocks", 0, 10_000) / ghz,
        page_fault_ns=table.number("page_fault_ns", 0, 1e9),
    )
    if spec.l2_entries % spec.l2_ways:
        raise table.error("l2_entries", f"{spec.l2_entries} is no multiple of {spec.l2_ways} ways")
    table.end()
    return spec


def _latency(table: Fields) -> LatencySpec:
    ghz = table.number("clocks_at_ghz", 0.01, 100)

    def four(key: str) -> tuple[float, float, float, float]:
        a, b, c, d = table.four(key)
        return (a / ghz, b / ghz, c / ghz, d / ghz)

    spec = LatencySpec(
        dram=four("dram"),
        load_modified=four("load_modified"),
        load_shared=four("load_shared"),
        store_modified=four("store_modified"),
        store_shared=four("store_shared"),
        atomic_modified=four("atomic_modified"),
        atomic_shared=four("atomic_shared"),
        atomic_hit=table.number("atomic_hit", 0, 10_000) / ghz,
    )
    table.end()
    return spec


def _bandwidth(table: Fields) -> BandwidthSpec:
    spec = BandwidthSpec(
        memory_gbs=table.number("memory_gbs", 0, 1e6),
        link_gbs=table.four("link_gbs"),
        fabric_gbs=table.number("fabric_gbs", 0, 1e6),
    )
    table.end()
    return spec


def _core(table: Fields) -> CoreSpec:
    spec = CoreSpec(
        width=table.whole("width", 1, 64),
        base_ipc=table.number("base_ipc", 0.01, 64),
        misses_in_flight=table.whole("misses_in_flight", 1, 32),
        window=table.whole("window", 1, 100_000),
        uops_per_instruction=table.number("uops_per_instruction", 0.1, 10),
        smt_slowdown=table.number("smt_slowdown", 1, 16),
    )
    if spec.base_ipc > spec.width:
        raise table.error("base_ipc", f"got {spec.base_ipc:g}, above the width of {spec.width}")
    table.end()
    return spec


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
