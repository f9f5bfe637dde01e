"""Description of a machine for the simulator, as frozen values.

Times are nanoseconds, sizes bytes, bandwidths GB/s (10^9 bytes a second; 0 is unlimited). The types
that are tables of machine files (`sim/machine_file.py`) define the accepted values.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from autofinity.model.cpu import Cpu
from autofinity.model.topology import Topology

type ByDistance = tuple[float, ...]
"""One value for each distance class: 0 same LLC (or node), 1 same package, 2 and up ever
further."""

Microseconds = Annotated[float, Field(ge=0, le=1e6)]
Picojoules = Annotated[float, Field(ge=0, le=1e9)]
Watts = Annotated[float, Field(ge=0, le=1e6)]

LINE_BYTES = 64

PAGE_BYTES = (4096, 16384, 2 << 20)
"""Sizes of pages that can be simulated."""

MOST_MISSES_IN_FLIGHT = 32
"""Largest number of misses in flight of a core that the simulator follows
(native/sim/machine.cpp)."""

PMU_COUNTERS = 4
"""Number of events that a PMU counts at once where a preset file has none, as on simulated
machines: the number of the papers' Opterons (AutoFinity, section 3) and Xeons (LIKWID, Nehalem EX
and Sandy Bridge)."""


@dataclass(frozen=True, slots=True)
class CacheSpec:
    """One level of cache.

    `inclusion` is `exclusive`/`inclusive` for the L2, `victim`/`inclusive` for the LLC, empty for
    the L1. `latency_ns` is load to use.
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
    """Two levels of data TLB.

    `l1_ways` 0 means fully associative, `l2_entries` 0 no second level. The `large` counts are
    entries for 2 MiB pages; 0 in the second level: they share the array of the small pages.
    """

    l1_entries: int
    l1_ways: int
    l2_entries: int
    l2_ways: int
    l2_hit_ns: float
    walk_ns: float
    """Time of a page walk, without the cache access that fetches the page-table entry."""
    page_fault_ns: float
    l1_large_entries: int
    l2_large_entries: int
    walk_reads_caches: bool = False
    """Whether a walk reads the page-table entry through the caches, from the L2 on (the L1 where
    there is no L2); otherwise `walk_ns` is the whole time."""

    def last_entries(self, page_bytes: int) -> int:
        """Entries of the last level for pages of this size."""
        if page_bytes == PAGE_BYTES[-1]:
            return self.l2_large_entries or self.l2_entries or self.l1_large_entries
        return self.l2_entries or self.l1_entries


@dataclass(frozen=True, slots=True)
class CoreSpec:
    """Interval model of a core: `base_ipc` without misses, and the overlap of misses."""

    width: Annotated[int, Field(ge=1, le=64)]
    base_ipc: Annotated[float, Field(ge=0.01, le=64)]
    misses_in_flight: Annotated[int, Field(ge=1, le=MOST_MISSES_IN_FLIGHT)]
    window: Annotated[int, Field(ge=1, le=100_000)]
    uops_per_instruction: Annotated[float, Field(ge=0.1, le=10)]
    smt_slowdown: Annotated[float, Field(ge=1, le=16)]
    """Slowdown of a thread while a sibling issues, too."""
    smt_window: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """The `window` of each thread while a sibling has something to run; None: as large as alone."""
    smt_shares_misses: bool = False
    """Whether siblings share the `misses_in_flight`; otherwise each thread has as many."""


@dataclass(frozen=True, slots=True)
class PrefetchSpec:
    """Stream prefetcher of a core, into its L2 (into the LLC where there is no private L2).

    `trigger` L1 misses in a row in one direction within a 4 KiB page start one of `streams`
    streams; each later miss fetches `degree` lines, up to `distance_lines` ahead, within the page.
    """

    streams: Annotated[int, Field(ge=1, le=64)]
    trigger: Annotated[int, Field(ge=1, le=16)]
    distance_lines: Annotated[int, Field(ge=1, le=64)]
    degree: Annotated[int, Field(ge=1, le=16)]
    lines_in_flight: Annotated[int, Field(ge=1, le=256)] = 16
    """Lines that the prefetcher waits for at once; it requests no more until one has come."""


@dataclass(frozen=True, slots=True)
class CoreClassSpec:
    """One kind of core. Machines that are not hybrid have a single one."""

    name: str
    ghz: float
    l1: CacheSpec
    l2: CacheSpec | None
    """None: no private L2; the shared one is the LLC."""
    tlb: TlbSpec
    core: CoreSpec
    prefetch: PrefetchSpec | None = None
    l2_cores: int = 1
    """Number of cores that share one L2 (a module, a cluster): neighbours in one LLC domain."""


@dataclass(frozen=True, slots=True)
class LatencySpec:
    """Idle latencies by distance class (MACHINES: David et al., SOSP'13, or as named)."""

    dram: ByDistance
    load_modified: ByDistance
    load_shared: ByDistance
    store_modified: ByDistance
    store_shared: ByDistance
    atomic_modified: ByDistance
    atomic_shared: ByDistance
    atomic_hit: float


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """A full-duplex link between two nodes; each direction is a queue of its own."""

    a_node: int
    b_node: int
    gbs: float
    """Bandwidth in each direction."""


@dataclass(frozen=True, slots=True)
class BandwidthSpec:
    """Bandwidths of a node's controllers, of the links, around an LLC domain and in it."""

    memory_gbs: tuple[float, ...]
    """Bandwidth by node."""
    links: tuple[LinkSpec, ...]
    routes: tuple[tuple[int, ...], ...]
    """Directed links on the way from node a to b, at `a * nodes + b`: 2i for a→b of link i and 2i +
    1 for b→a (`autofinity.sim.routes`)."""
    fabric_gbs: float
    """Bandwidth into an LLC domain from all parts outside it."""
    fabric_write_gbs: float = 0.0
    """Bandwidth out of an LLC domain: lines written back, and those for other domains."""
    llc_gbs: float = 0.0
    """Bandwidth from an LLC to the cores of its domain."""


@dataclass(frozen=True, slots=True)
class DirectorySpec:
    """Probe filter of a home node: the number of its lines that all caches together can hold."""

    entries_per_node: Annotated[int, Field(ge=1, le=1 << 28)]
    ways: Annotated[int, Field(ge=1, le=128)]


OS_BALANCE_US, OS_CACHE_HOT_US, OS_DAEMON_US = 4_000.0, 500.0, 500_000.0
"""Values of the scheduler in `SystemSpec` where a preset file has none."""


@dataclass(frozen=True, slots=True)
class SystemSpec:
    """Times of the operating system, in microseconds. A wait shorter than `spin_us` needs no
    wake-up.
    """

    time_slice_us: Annotated[float, Field(ge=1, le=1e9)]
    context_switch_us: Microseconds
    spin_us: Microseconds
    wake_us: Microseconds
    migration_us: Microseconds
    balance_us: Annotated[float, Field(ge=0, le=1e9)] = OS_BALANCE_US
    """Time between balancings of threads that are not bound: a timer tick at 250 Hz."""
    cache_hot_us: Microseconds = OS_CACHE_HOT_US
    """Time after its last run in which a waiting thread is left where it is
    (sched_migration_cost_ns)."""
    daemon_us: Annotated[float, Field(ge=0, le=1e12)] = OS_DAEMON_US
    """Mean time between system threads that take a PU and push a thread off it; 0: none. A guess:
    the activity of a quiet Linux depends on the installed software."""
    shootdown_us: Microseconds = 0.0
    """Time of the thread that moves a page to notify the cores that have its translation."""
    interrupt_us: Microseconds = 0.0
    """Time of the interrupt on each of these cores."""


@dataclass(frozen=True, slots=True)
class EnergySpec:
    """Prices of energy: picojoules an event, watts of static power (`sim/energy.py` computes the
    sum).
    """

    instruction_pj: Picojoules
    l1_access_pj: Picojoules
    l2_access_pj: Picojoules
    llc_access_pj: Picojoules
    dram_read_line_pj: Picojoules
    dram_write_line_pj: Picojoules
    link_byte_pj: Picojoules
    core_w: Watts
    """Power of a core while a thread runs on it."""
    idle_core_w: Watts
    """Power of any other core."""
    uncore_w: Watts
    """Power of every LLC domain with its share of memory controllers and links, all the time."""


@dataclass(frozen=True)
class MachineSpec:
    """A whole machine, as a preset file describes it."""

    name: str
    model: str
    topology: Topology
    core_classes: tuple[CoreClassSpec, ...]
    class_of_core: tuple[int, ...]
    """Class of each core, by logical core."""
    protocol: Literal["mesi", "moesi"]
    clean_forwarding: bool
    """Whether a cache gives clean lines to other sockets (state F of MESIF) instead of memory."""
    llc: CacheSpec
    """Last-level cache of one LLC domain."""
    llc_by_home: bool
    """Whether an LLC has lines of its node's memory, whichever core of the package uses them
    (sub-NUMA clusters), not the lines that its own cores use."""
    latency: LatencySpec
    node_distance: tuple[tuple[int, ...], ...]
    """Distance class between nodes: 0 the same, 1 the same package, 2 and up other packages and the
    further nodes of a package."""
    llc_distance: tuple[tuple[int, ...], ...]
    """Distance class between LLC domains."""
    bandwidth: BandwidthSpec
    system: SystemSpec
    pmu_counters: int
    """Number of events that the PMU counts at once without multiplexing."""
    energy: EnergySpec | None = None
    """Prices of energy; None: the preset file has none, and energies are NaN."""
    page_bytes: int = 4096
    """Size of all pages of a run: 4 KiB, 16 KiB or 2 MiB."""
    directory: DirectorySpec | None = None
    """Directory of each home node; None: a directory that never has to drop a line."""
    cpu: Cpu | None = field(default=None, repr=False)
    """CPU whose events the real machine counts; None: not given. It changes no run, so it is not
    part of the identity of runs (`repr`)."""

    @property
    def home_nodes(self) -> tuple[int, ...]:
        """Nodes with memory; pages live nowhere else."""
        without = self.topology.memoryless_nodes
        return tuple(node for node in range(self.topology.n_nodes) if node not in without)

    @property
    def ghz(self) -> float:
        """Clock of the first class of cores; the four properties below are also of that class."""
        return self.core_classes[0].ghz

    @property
    def l1(self) -> CacheSpec:
        """First-level data cache."""
        return self.core_classes[0].l1

    @property
    def l2(self) -> CacheSpec | None:
        """Private second-level cache."""
        return self.core_classes[0].l2

    @property
    def tlb(self) -> TlbSpec:
        """Data TLBs."""
        return self.core_classes[0].tlb

    @property
    def core(self) -> CoreSpec:
        """Issue and overlap of misses."""
        return self.core_classes[0].core

    @property
    def clock_hz(self) -> float:
        """Clock of the cores."""
        return self.ghz * 1e9

    def ghz_of(self, pu: int) -> float:
        """Clock of the core of a logical PU."""
        return self.core_classes[self.class_of_core[self.topology.pus[pu].core]].ghz

    @property
    def l2_domains(self) -> tuple[int, ...]:
        """Number of each logical core's L2, in order of appearance.

        The cores of a class in an LLC domain are assigned in order, `l2_cores` to each L2; the last
        L2 of a domain may have fewer.
        """
        first = {pu.core: pu for pu in reversed(self.topology.pus)}
        number: dict[tuple[int, int, int], int] = {}
        before: Counter[tuple[int, int]] = Counter()
        domains = []
        for core, kind in enumerate(self.class_of_core):
            among = first[core].llc, kind
            share = before[among] // self.core_classes[kind].l2_cores
            domains.append(number.setdefault((*among, share), len(number)))
            before[among] += 1
        return tuple(domains)
