"""`MachineSpec` → the native core's machine: dense indices, ticks, distances."""

from __future__ import annotations

from itertools import accumulate

from autofinity._core import sim as core
from autofinity.affinity.topology_handle import new_handle
from autofinity.sim.spec import (
    LINE_BYTES,
    PAGE_BYTES,
    ByDistance,
    CacheSpec,
    CoreClassSpec,
    MachineSpec,
    TlbSpec,
)

DISTANCES = 6
"""Number of distance classes of the native core; the last class replaces those that a machine
lacks."""

LARGE_PAGE_BYTES = PAGE_BYTES[-1]


def machine_model(spec: MachineSpec, skew_ns: float = 0.0) -> core.MachineModel:
    """Convert a machine for the native core, and check it.

    Cores act in the order of simulated time; with `skew_ns`, for experiments, cores may run ahead
    of the slowest core by that time. Raises `SimulationError` when the core cannot simulate such a
    machine.
    """
    convert = _Converter(spec)
    topology = spec.topology
    machine = core.MachineModel(
        new_handle(topology, [pu.llc for pu in topology.pus], spec.l2_domains)
    )
    machine.ghz = spec.ghz
    machine.node_distance = [each for row in spec.node_distance for each in row]
    machine.llc_distance = [each for row in spec.llc_distance for each in row]
    machine.classes = [convert.core_class(each) for each in spec.core_classes]
    machine.class_of_core = list(spec.class_of_core)
    machine.llc = _shape(spec.llc)
    machine.llc_inclusive = spec.llc.inclusion == "inclusive"
    machine.llc_by_home = spec.llc_by_home
    machine.llc_hit = convert.ticks(spec.llc.latency_ns)
    machine.owned_state = spec.protocol == "moesi"
    machine.clean_forwarding = spec.clean_forwarding
    if spec.directory is not None:
        ways = spec.directory.ways
        machine.directory = core.CacheShape(spec.directory.entries_per_node // ways, ways)
    machine.page_bytes = spec.page_bytes
    machine.home_of_node = list(spec.topology.memory_homes)
    convert.set_latencies(machine)
    convert.set_bandwidths(machine)
    convert.set_system(machine)
    machine.skew = convert.ticks(skew_ns)
    machine.validate()
    return machine


class _Converter:
    """Nanoseconds → ticks of one machine, for each group of its numbers."""

    def __init__(self, spec: MachineSpec) -> None:
        self._spec = spec
        self._per_ns = spec.ghz * core.TICKS_PER_CLOCK

    def ticks(self, ns: float) -> int:
        return round(ns * self._per_ns)

    def by_distance(self, ns: ByDistance) -> list[int]:
        return [self.ticks(value) for value in (*ns, *[ns[-1]] * DISTANCES)[:DISTANCES]]

    def service(self, gbs: float) -> int:
        return self.ticks(LINE_BYTES / gbs) if gbs else 0

    def core_class(self, each: CoreClassSpec) -> core.CoreClass:
        kind = core.CoreClass()
        kind.clock_ratio = each.ghz / self._spec.ghz
        kind.instruction = self.ticks(1 / (each.ghz * each.core.base_ipc))
        kind.misses_in_flight = each.core.misses_in_flight
        kind.window = each.core.window
        kind.uops_per_instruction = each.core.uops_per_instruction
        kind.smt_slowdown = each.core.smt_slowdown
        kind.smt_window = each.core.smt_window or each.core.window
        kind.smt_shares_misses = each.core.smt_shares_misses
        kind.side = self.private_side(each)
        return kind

    def private_side(self, each: CoreClassSpec) -> core.PrivateSide:
        side = core.PrivateSide()
        side.l1 = _shape(each.l1)
        side.l1_hit = self.ticks(each.l1.latency_ns)
        side.l2 = core.CacheShape(1, 0)
        if each.l2 is not None:
            side.l2 = _shape(each.l2)
            side.l2_exclusive = each.l2.inclusion == "exclusive"
            side.l2_hit = self.ticks(each.l2.latency_ns)
        large = self._spec.page_bytes == LARGE_PAGE_BYTES
        side.tlb1, side.tlb2 = _large_tlbs(each.tlb) if large else _tlbs(each.tlb)
        side.tlb2_hit = self.ticks(each.tlb.l2_hit_ns)
        side.page_walk = self.ticks(each.tlb.walk_ns)
        side.page_fault = self.ticks(each.tlb.page_fault_ns)
        side.walk_reads_caches = each.tlb.walk_reads_caches
        if each.prefetch is not None:
            side.prefetch = core.PrefetchShape(
                each.prefetch.streams,
                each.prefetch.trigger,
                each.prefetch.distance_lines,
                each.prefetch.degree,
                each.prefetch.lines_in_flight,
            )
        return side

    def set_latencies(self, machine: core.MachineModel) -> None:
        latency = self._spec.latency
        machine.dram = self.by_distance(latency.dram)
        machine.load_modified = self.by_distance(latency.load_modified)
        machine.load_shared = self.by_distance(latency.load_shared)
        machine.store_modified = self.by_distance(latency.store_modified)
        machine.store_shared = self.by_distance(latency.store_shared)
        machine.atomic_modified = self.by_distance(latency.atomic_modified)
        machine.atomic_shared = self.by_distance(latency.atomic_shared)
        machine.atomic_hit = self.ticks(latency.atomic_hit)

    def set_bandwidths(self, machine: core.MachineModel) -> None:
        bandwidth = self._spec.bandwidth
        machine.memory_service = [self.service(gbs) for gbs in bandwidth.memory_gbs]
        # A link has two directions: 2i and 2i + 1.
        machine.link_service = [self.service(link.gbs) for link in bandwidth.links for _ in "ab"]
        machine.fabric_service = self.service(bandwidth.fabric_gbs)
        machine.fabric_write_service = self.service(bandwidth.fabric_write_gbs)
        machine.llc_service = self.service(bandwidth.llc_gbs)
        lengths = (len(route) for route in bandwidth.routes)
        machine.route_begin = list(accumulate(lengths, initial=0))
        machine.route_links = [link for route in bandwidth.routes for link in route]

    def set_system(self, machine: core.MachineModel) -> None:
        system = self._spec.system
        machine.time_slice = self.ticks(system.time_slice_us * 1000)
        machine.context_switch = self.ticks(system.context_switch_us * 1000)
        machine.spin = self.ticks(system.spin_us * 1000)
        machine.wake = self.ticks(system.wake_us * 1000)
        machine.migration = self.ticks(system.migration_us * 1000)
        machine.balance = self.ticks(system.balance_us * 1000)
        machine.cache_hot = self.ticks(system.cache_hot_us * 1000)
        machine.daemon = self.ticks(system.daemon_us * 1000)
        machine.shootdown = self.ticks(system.shootdown_us * 1000)
        machine.interrupt = self.ticks(system.interrupt_us * 1000)


def _shape(cache: CacheSpec) -> core.CacheShape:
    return core.CacheShape(cache.sets, cache.ways)


def _array(entries: int, ways: int) -> core.CacheShape:
    """A TLB array; fully associative without ways, with no ways without entries."""
    if entries == 0:
        return core.CacheShape(1, 0)
    return core.CacheShape(entries // ways, ways) if ways else core.CacheShape(1, entries)


def _tlbs(tlb: TlbSpec) -> tuple[core.CacheShape, core.CacheShape]:
    return _array(tlb.l1_entries, tlb.l1_ways), _array(tlb.l2_entries, tlb.l2_ways)


def _large_tlbs(tlb: TlbSpec) -> tuple[core.CacheShape, core.CacheShape]:
    """Arrays for 2 MiB pages; with as many ways as those for small pages where these divide
    evenly.
    """

    def ways(entries: int, small: int) -> int:
        return small if small and entries % small == 0 else 0

    second = tlb.l2_large_entries or tlb.l2_entries
    return (
        _array(tlb.l1_large_entries, ways(tlb.l1_large_entries, tlb.l1_ways)),
        _array(second, ways(second, tlb.l2_ways) or min(second, 128)),
    )
