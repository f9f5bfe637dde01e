"""`MachineSpec` → the native core's machine: dense indices, ticks, distances."""

from __future__ import annotations

from autofinity._core import sim as core
from autofinity.sim.distances import Matrix
from autofinity.sim.spec import LINE_BYTES, ByDistance, CacheSpec, CoreClassSpec, MachineSpec

DISTANCES = 4
"""Distance classes of the native core."""


def native_machine(spec: MachineSpec, skew_ns: float | None = None) -> core.Machine:
    """Convert and check. `skew_ns` replaces the default skew (`spec.skew_ns`), for experiments.

    Raises `SimulationError` when the core cannot simulate such a machine.
    """
    per_ns = spec.ghz * core.TICKS_PER_CLOCK

    def ticks(ns: float) -> int:
        return round(ns * per_ns)

    # The core has four distance classes, caches of one kind with an L2 of their own, one bandwidth
    # for all controllers and one for each distance. What a machine has beyond that is folded:
    # further classes onto the last, all caches onto the first class, a shared L2 onto equal shares,
    # a missing L2 or second TLB onto one entry, a route onto its narrowest link.
    def by_distance(ns: ByDistance) -> list[int]:
        return [ticks(value) for value in (*ns, ns[-1])[:DISTANCES]]

    def classes(distance: Matrix) -> list[int]:
        return [min(each, DISTANCES - 1) for row in distance for each in row]

    def service(gbs: float) -> int:
        return ticks(LINE_BYTES / gbs) if gbs else 0

    def shape(cache: CacheSpec) -> tuple[int, int]:
        return (cache.sets, cache.ways)

    def core_class(each: CoreClassSpec) -> core.CoreClass:
        kind = core.CoreClass()
        kind.clock_ratio = each.ghz / spec.ghz
        kind.instruction = ticks(1 / (each.ghz * each.core.base_ipc))
        kind.misses_in_flight = each.core.misses_in_flight
        kind.window = each.core.window
        kind.uops_per_instruction = each.core.uops_per_instruction
        kind.smt_slowdown = each.core.smt_slowdown
        return kind

    machine = core.Machine()
    topology = spec.topology
    machine.core_of_pu = [pu.core for pu in topology.pus]
    first = {pu.core: pu for pu in reversed(topology.pus)}
    machine.llc_of_core = [first[core].llc for core in range(topology.n_cores)]
    machine.node_of_core = [first[core].node for core in range(topology.n_cores)]
    machine.llcs = topology.n_llcs
    machine.nodes = topology.n_nodes
    machine.node_distance = classes(spec.node_distance)
    machine.llc_distance = classes(spec.llc_distance)
    machine.ghz = spec.ghz
    machine.set_l1(shape(spec.l1))
    l2 = spec.l2 or CacheSpec(LINE_BYTES, 1, spec.llc.latency_ns, "exclusive")
    l2_cores = spec.core_classes[0].l2_cores
    machine.set_l2((max(1, l2.sets // l2_cores), l2.ways))
    machine.set_llc(shape(spec.llc))
    machine.set_tlb2((max(1, spec.tlb.l2_entries // spec.tlb.l2_ways), spec.tlb.l2_ways))
    machine.l2_exclusive = l2.inclusion == "exclusive"
    machine.llc_inclusive = spec.llc.inclusion == "inclusive"
    machine.owned_state = spec.protocol == "moesi"
    machine.clean_forwarding = spec.clean_forwarding
    machine.tlb1_entries = spec.tlb.l1_entries
    machine.tlb2_hit = ticks(spec.tlb.l2_hit_ns)
    machine.page_walk = ticks(spec.tlb.walk_ns)
    machine.page_fault = ticks(spec.tlb.page_fault_ns)
    machine.l1_hit = ticks(spec.l1.latency_ns)
    machine.l2_hit = ticks(l2.latency_ns)
    machine.llc_hit = ticks(spec.llc.latency_ns)
    machine.dram = by_distance(spec.latency.dram)
    machine.load_modified = by_distance(spec.latency.load_modified)
    machine.load_shared = by_distance(spec.latency.load_shared)
    machine.store_modified = by_distance(spec.latency.store_modified)
    machine.store_shared = by_distance(spec.latency.store_shared)
    machine.atomic_modified = by_distance(spec.latency.atomic_modified)
    machine.atomic_shared = by_distance(spec.latency.atomic_shared)
    machine.atomic_hit = ticks(spec.latency.atomic_hit)
    machine.memory_service = service(spec.bandwidth.memory_gbs[0])
    machine.link_service = [service(gbs) for gbs in _link_gbs(spec)]
    machine.fabric_service = service(spec.bandwidth.fabric_gbs)
    machine.classes = [core_class(each) for each in spec.core_classes]
    machine.class_of_core = list(spec.class_of_core)
    machine.time_slice = ticks(spec.system.time_slice_us * 1000)
    machine.context_switch = ticks(spec.system.context_switch_us * 1000)
    machine.spin = ticks(spec.system.spin_us * 1000)
    machine.wake = ticks(spec.system.wake_us * 1000)
    machine.migration = ticks(spec.system.migration_us * 1000)
    machine.skew = ticks(spec.skew_ns if skew_ns is None else skew_ns)
    machine.validate()
    return machine


def _link_gbs(spec: MachineSpec) -> list[float]:
    """Narrowest link between two nodes, by distance class; 0 where nothing limits."""
    found = [0.0] * DISTANCES
    distances = [min(each, DISTANCES - 1) for row in spec.node_distance for each in row]
    for distance, route in zip(distances, spec.bandwidth.routes, strict=True):
        limits = [spec.bandwidth.links[link // 2].gbs for link in route]
        limit = min((gbs for gbs in limits if gbs), default=0.0)
        if limit and not 0 < found[distance] <= limit:
            found[distance] = limit
    return found
