"""Ways to see which threads share and which node uses a page: one description for each source.

A mechanism names the detectors it needs in `Sensors.detectors`; the machine attaches them or raises
`CapabilityError`. Each detector is a native sink; no Python runs inside it. Its findings come with
the next `Interval`. Its cost is charged to the program where the cost arises, in simulated time,
and is reported by kind in `Interval.overhead_ns`.

Defaults are the papers' own. Their periods are for runs of minutes: a recipe for runs of
milliseconds scales the periods, and its docstring says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from autofinity.model.errors import UsageError

_LINE_BYTES = 64
_MOST_SHARERS = 8
_MOST = 10**15


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise UsageError(what)


@dataclass(frozen=True, slots=True)
class FaultSampling:
    """Induced page faults (SPCD, kMAF'14, kMAF'16).

    A kernel thread goes round the pages that the program has touched and clears the present bit of
    some. Their translations leave all TLBs. The next access, by any thread, faults, and its thread,
    address and node are recorded. First-touch faults are recorded too (kMAF'16, section 4.2).

    Senses sharing (unless `table` is "none") and pages: counts of faults from each node since the
    program began.

    Raises `UsageError` for numbers that no table could have.
    """

    share_per_s: float = 0.1
    """Share of the touched pages whose present bit is cleared, per second (kMAF'16, table 3)."""
    round_ns: int = 1_000_000
    """Time between two rounds of the kernel thread (ours: the paper does not say)."""
    table: Literal["blocks", "sub-blocks", "none"] = "blocks"
    """Table that holds the last threads.

    "blocks": a hash table of memory blocks (SPCD; kMAF'16, section 4.3.2). A thread that is not the
    latest of its block counts once with every thread that the table holds for the block; then it is
    put in front, and the last thread leaves. When the latest thread faults again, nothing shifts
    and nothing counts. A block that meets the entry of another block overwrites that entry.

    "sub-blocks": vectors of each page's blocks (kMAF'14, section 3.2). The thread is put in front,
    then all pairs of threads in the vector count."""
    block_bytes: int = 256
    """Granularity of sharing: 256 (kMAF'16, table 3), 1024 in kMAF'14. At least a line of 64."""
    entries: int = 1 << 20
    """Blocks in the hash table (kMAF'16, table 3); a power of two."""
    sharers: int = 2
    """Threads kept for each block, 1 to 8."""
    counter_bits: int = 8
    """Bits of each saturating counter of a page's NUMA vector (kMAF'14, table 2; kMAF'16, section
    4.8.1: 1 byte)."""
    halve_on_move: bool = False
    """Halve a page's counters when it is moved (kMAF'14, section 3.3)."""
    fault_ns: float = 454.0
    """Time to clear the bit and resolve the extra fault: 2.19 s for 4 828 171 (kMAF'16, table
    5)."""
    update_ns: float = 385.0
    """Time to update the tables on any fault: 1.95 s for 5 063 691 (kMAF'16, table 5)."""

    def __post_init__(self) -> None:
        _require(
            0 <= self.share_per_s < 1e12, f"share_per_s is {self.share_per_s}; expected 0 or more"
        )
        _require_count(self.round_ns, "round_ns")
        _require_blocks(self.block_bytes, self.sharers)
        _require_power(self.entries, "entries")
        _require(
            self.counter_bits in {4, 8, 16, 32},
            f"counter_bits is {self.counter_bits}; expected 4, 8, 16 or 32",
        )
        _require_times(self.fault_ns, self.update_ns)


@dataclass(frozen=True, slots=True)
class TlbAccessCounters:
    """Accesses counted in the TLB (SAMMU), or in the page table on every access (LAPT).

    SAMMU (section 3): each TLB entry counts its accesses (AC). When the entry is evicted, or the
    counter is full, AC is compared with the page's threshold AT (equations 1 and 2). From the
    threshold on, the thread counts, in its own row of the matrix, once with each thread of the
    page's sharers vector SV and enters SV; the page's saturating NUMA counters NC go up by `v_add`
    for the own node and down by one for the others. The hardware reports a page to the operating
    system when NC of a node exceeds NC of the page's present node by `numa_threshold`.

    LAPT (`sammu.py` says what is known of it): the page-table entry holds SV and NC, and every TLB
    access updates them, without AC and AT. NC are then plain counts, and every page whose counts
    changed is reported.

    Senses sharing and pages: NC of the reported pages. The unit reads and writes its tables in the
    simulated memory, from the L2 on as page walks do: entries of eight bytes a page, on the node
    that first needs them, and rows of four bytes a thread; LAPT writes the page-table entry back on
    eviction. The time of these accesses is charged to the core ("update"; the paper multiplies
    accesses by their latency, section 4.4), as is the interrupt that reports a page ("interrupt").
    """

    held_in: Literal["tlb", "page table"] = "tlb"
    access_counter_bits: int = 32
    """Bits of AC and AT (table 1). Short runs in a small working set evict nothing: a smaller
    counter is full, and so compared, more often."""
    sharers: int = 2
    """Threads of a sharers vector (table 1: 2 of 8 bits), 1 to 8."""
    numa_counter_bits: int = 4
    """Bits of each saturating NUMA counter (table 1)."""
    v_add: int = 2
    """Increment of NC of the own node (table 1)."""
    numa_threshold: int = 10
    """NUMA threshold NT (table 1)."""

    def __post_init__(self) -> None:
        _require(
            1 <= self.access_counter_bits <= 32,
            f"access_counter_bits is {self.access_counter_bits}; expected 1 to 32",
        )
        _require_sharers(self.sharers)
        _require(
            1 <= self.numa_counter_bits <= 16,
            f"numa_counter_bits is {self.numa_counter_bits}; expected 1 to 16",
        )
        _require(0 < self.v_add < 1 << 16, f"v_add is {self.v_add}; expected 1 to 65535")
        _require(
            0 < self.numa_threshold < 1 << self.numa_counter_bits,
            f"numa_threshold is {self.numa_threshold}; a counter of {self.numa_counter_bits} bits "
            "never exceeds another one by so much",
        )


@dataclass(frozen=True, slots=True)
class TlbMatching:
    """Equal entries in the TLBs of several cores (Cruz, Diener & Navaux 2014).

    On a trigger, a core reads its own TLB into a mirror in memory and compares it, set by set, with
    the mirrors of the others (sections 4.2 and 4.2.4). Each page that is found in two TLBs counts
    once for the pair of threads. With several TLB levels the last level is read.

    Senses sharing, and `Interval.triggers`.
    """

    trigger: Literal["time", "global misses", "local misses", "shared pages"] = "local misses"
    """Event that starts a comparison (section 4.3). "time" and "global misses" read the TLBs of all
    cores. "shared pages", for TLBs that software fills, compares only the missed page, and counts
    every thread that has it."""
    period_ns: int = 10_000_000
    """Time between two triggers of the kind "time" (ours: the paper does not use it)."""
    misses: int | None = None
    """TLB misses until a trigger. Default: T · E, threads by entries (section 4.3.2)."""
    misses_scale: float = 1.0
    """Factor on T · E, for runs that stand for longer ones (section 4.4: "adjust the trigger to
    enable the detection with less TLB misses"). A trigger takes at least T misses, one for each
    thread (ours): with fewer, next to nothing has changed since a TLB was last read."""
    most_share: float = 1.0
    """Largest share of a core's time that the trigger "local misses" may take. After a core has
    read its TLB, it counts no misses until its share is that small again. A trigger that is
    adjusted to fewer misses would otherwise cost more than it does in the paper (section 6.6)."""
    entry_cycles: float = 20.0
    """Clocks to read one TLB entry (section 6.6)."""
    compare_cycles: float = 1.0
    """Clocks for each entry of another mirror that is looked at (ours: section 4.2.4 gives the
    order T · E only)."""

    def __post_init__(self) -> None:
        _require_count(self.period_ns, "period_ns")
        if self.misses is not None:
            _require_count(self.misses, "misses")
        for name in ("misses_scale", "most_share"):
            share = getattr(self, name)
            _require(0 < share <= 1, f"{name} is {share}; expected more than 0 and at most 1")
        _require_times(self.entry_cycles, self.compare_cycles)


@dataclass(frozen=True, slots=True)
class RemoteAccesses:
    """Accesses that another LLC domain's caches resolved (Azimi et al. 2009).

    The PMU gives the address of every `period`-th such access. Lines go into a table of last
    threads as in `FaultSampling`. Accesses that the own domain or memory resolves are not seen, so
    the pattern changes with the placement.

    Senses sharing.
    """

    period: int = 10
    """Remote accesses of a core for each sample (ours)."""
    block_bytes: int = 64
    entries: int = 1 << 20
    sharers: int = 2
    sample_ns: float = 1000.0
    """Time of the core for each sample: the interrupt (ours, as the presets' `interrupt_us`)."""

    def __post_init__(self) -> None:
        _require_count(self.period, "period")
        _require_blocks(self.block_bytes, self.sharers)
        _require_power(self.entries, "entries")
        _require_times(self.sample_ns)


@dataclass(frozen=True, slots=True)
class AccessSampling:
    """Sampled accesses: every n-th one (Carrefour), or long-latency loads (Marathe & Mueller).

    Senses pages: samples from each node since the program began, for the first `pages` pages that
    were sampled.
    """

    what: Literal["accesses", "long-latency loads"] = "accesses"
    period: int = 10_000
    """Accesses (or such loads) of a core for each sample (ours)."""
    least_latency_ns: float = 100.0
    """Latency from which a load is long (ours: beyond the LLC of every preset)."""
    pages: int = 30_000
    """Largest number of pages that are recorded (kMAF'16, section 2.1.1, of Carrefour)."""
    sample_ns: float = 1000.0
    """Time of the core for each sample: the interrupt (ours, as the presets' `interrupt_us`)."""

    def __post_init__(self) -> None:
        _require_count(self.period, "period")
        _require_count(self.pages, "pages")
        _require_times(self.sample_ns, self.least_latency_ns)


@dataclass(frozen=True, slots=True)
class HintingFaults:
    """Hinting faults of the kernel's NUMA balancing: scan, unmap, and record which thread faults
    next.

    A scan continues where the last one stopped. Senses pages, without any history: faults from each
    node in the interval only. A page that was scanned once has one fault.
    """

    scan_period_ns: int = 1_000_000_000
    """Time between scans (Linux: scan_period_min_ms = 1000)."""
    scan_bytes: int = 256 << 20
    """Memory that one scan unmaps (Linux: scan_size_mb = 256)."""
    fault_ns: float = 454.0
    """Time to unmap and resolve, as for the extra faults of kMAF'16 (table 5)."""

    def __post_init__(self) -> None:
        _require_count(self.scan_period_ns, "scan_period_ns")
        _require(
            4096 <= self.scan_bytes < _MOST, f"scan_bytes is {self.scan_bytes}; expected a page"
        )
        _require_times(self.fault_ns)


type Detector = (
    FaultSampling
    | TlbAccessCounters
    | TlbMatching
    | RemoteAccesses
    | AccessSampling
    | HintingFaults
)


def senses_sharing(detector: Detector) -> bool:
    """Whether `Interval.sharing` comes from this detector."""
    if isinstance(detector, FaultSampling):
        return detector.table != "none"
    return not isinstance(detector, AccessSampling | HintingFaults)


def senses_pages(detector: Detector) -> bool:
    """Whether `Interval.pages` comes from this detector."""
    return not isinstance(detector, TlbMatching | RemoteAccesses)


def _require_count(number: int, name: str) -> None:
    _require(0 < number < _MOST, f"{name} is {number}; expected more than 0")


def _require_sharers(sharers: int) -> None:
    _require(1 <= sharers <= _MOST_SHARERS, f"sharers is {sharers}; expected 1 to {_MOST_SHARERS}")


def _require_power(number: int, name: str) -> None:
    _require(
        1 <= number <= 1 << 26 and number.bit_count() == 1,
        f"{name} is {number}; expected a power of two up to 2^26",
    )


def _require_blocks(block_bytes: int, sharers: int) -> None:
    _require_power(block_bytes, "block_bytes")
    _require(
        block_bytes >= _LINE_BYTES,
        f"block_bytes is {block_bytes}; the addresses known are those of lines of {_LINE_BYTES}",
    )
    _require_sharers(sharers)


def _require_times(*times: float) -> None:
    _require(all(0 <= time < 1e9 for time in times), f"a time is negative or too long: {times}")
