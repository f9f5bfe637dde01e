"""What the simulator needs to know of a machine, as frozen values. Times are nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from autofinity.model.topology import Topology

type ByDistance = tuple[float, float, float, float]
"""One value a distance: same LLC (or node), same package, one hop, two hops."""

LINE_BYTES = 64


@dataclass(frozen=True, slots=True)
class CacheSpec:
    """One level. `inclusion` is `exclusive`/`inclusive` for the L2, `victim`/`inclusive` for the
    LLC, empty for the L1. `latency_ns` is load to use.
    """

    size_bytes: int
    ways: int
    latency_ns: float
    inclusion: str = ""

    @property
    def sets(self) -> int:
        """Number of sets; a size that is no multiple of ways x line is rounded down."""
        return self.size_bytes // (self.ways * LINE_BYTES)


@dataclass(frozen=True, slots=True)
class TlbSpec:
    """Two levels for 4 KiB pages; the first is fully associative."""

    l1_entries: int
    l2_entries: int
    l2_ways: int
    l2_hit_ns: float
    walk_ns: float
    page_fault_ns: float


@dataclass(frozen=True, slots=True)
class LatencySpec:
    """Idle latencies by distance, nanoseconds (MACHINES: David et al., SOSP'13, or as named)."""

    dram: ByDistance
    load_modified: ByDistance
    load_shared: ByDistance
    store_modified: ByDistance
    store_shared: ByDistance
    atomic_modified: ByDistance
    atomic_shared: ByDistance
    atomic_hit: float


@dataclass(frozen=True, slots=True)
class BandwidthSpec:
    """Gigabytes (10^9) a second: of a node's controllers, of a pair of nodes by distance, and
    between an LLC domain and what is outside it. 0 is unlimited.
    """

    memory_gbs: float
    link_gbs: ByDistance
    fabric_gbs: float


@dataclass(frozen=True, slots=True)
class CoreSpec:
    """Interval model of a core: `base_ipc` without misses, and what misses can overlap with."""

    width: int
    base_ipc: float
    misses_in_flight: int
    window: int
    uops_per_instruction: float
    smt_slowdown: float


@dataclass(frozen=True, slots=True)
class SystemSpec:
    """The operating system's part, microseconds. A wait shorter than `spin_us` needs no wake-up."""

    time_slice_us: float
    context_switch_us: float
    spin_us: float
    wake_us: float
    migration_us: float


@dataclass(frozen=True, slots=True)
class EnergySpec:
    """What things cost: picojoules an event, watts of static power (`sim/energy.py` adds up)."""

    instruction_pj: float
    l1_access_pj: float
    l2_access_pj: float
    llc_access_pj: float
    dram_read_line_pj: float
    dram_write_line_pj: float
    link_byte_pj: float
    core_w: float
    """Of a core while a thread runs on it."""
    idle_core_w: float
    """Of any other core."""
    uncore_w: float
    """Of every LLC domain with its share of memory controllers and links, all the time."""


@dataclass(frozen=True)
class MachineSpec:
    """A whole machine, as a preset file describes it."""

    name: str
    model: str
    ghz: float
    topology: Topology
    two_hops_from: int
    """SLIT distance at and above which another package is two hops away."""
    protocol: Literal["mesi", "moesi"]
    clean_forwarding: bool
    """Clean lines come from the nearest cache (MESIF) instead of memory."""
    l1: CacheSpec
    l2: CacheSpec
    llc: CacheSpec
    tlb: TlbSpec
    latency: LatencySpec
    bandwidth: BandwidthSpec
    core: CoreSpec
    system: SystemSpec
    pmu_counters: int
    """Events the PMU counts at once without multiplexing."""
    energy: EnergySpec | None = None
    """None: the preset file does not say, and energies are NaN."""

    @property
    def clock_hz(self) -> float:
        """Core clock."""
        return self.ghz * 1e9

    @property
    def skew_ns(self) -> float:
        """How far ordered accesses may run ahead: the smallest latency from core to core."""
        return min(self.latency.load_modified[0], self.latency.store_modified[0])
