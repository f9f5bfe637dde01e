"""Results of one run under a mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

COUNTS = (
    *("instructions", "l2_misses", "llc_misses", "tlb_accesses", "page_walks", "traffic_bytes"),
    *("cache_to_cache_transfers", "invalidations", "accesses"),
)
"""Counts of a `MechanismRun` that grow with the work of the program."""


@dataclass(frozen=True, slots=True)
class MechanismRun:
    """One run to its end. Counts cover all threads and the whole region, repetitions included."""

    time_s: float
    threads: int
    instructions: int
    l2_misses: int
    llc_misses: int
    tlb_accesses: int
    page_walks: int
    """Translations that no TLB had."""
    traffic_bytes: int
    """Bytes between last-level caches, nodes and packages: lines, requests and answers on every
    link."""
    cache_to_cache_transfers: int
    invalidations: int
    energy_j: float
    """Energy of the whole machine; NaN where unknown."""
    thread_migrations: int
    page_migrations: int
    dram_energy_j: float
    """Joules of these for lines that the memory read and wrote."""
    accesses: int
    """Loads and stores."""
    mappings_changed: int
    """How often threads were put elsewhere, however many at once (TLB paper, table II: "number of
    migrations")."""
    mappings: int
    """How often a mapping was computed."""
    operation_ns: Mapping[str, Sequence[float]]
    """Time of one operation, by kind ("page copy", "thread migration"): least, quartiles and most,
    over actions and intervals with such operations. Kinds without any are left out."""
    detection_accesses: int = 0
    """Accesses to memory that hardware beside the cores made to detect."""
    cpus: Sequence[int] = ()
    """OS index of the CPU where each thread ran last."""
    overhead_ns: Mapping[str, int] = field(default_factory=dict)
    """Time that the mechanism took from the program's threads, summed over them, by kind."""
    notes: Sequence[str] = field(default_factory=list)
    """Lines on the moves and findings of a decider, with the time of each; none of mechanisms
    without a decider."""

    @property
    def mpki(self) -> float:
        """Misses of the last-level caches per 1,000 instructions."""
        return _share(1000 * self.llc_misses, self.instructions)

    @property
    def l2_mpki(self) -> float:
        """Misses of the L2 caches per 1,000 instructions."""
        return _share(1000 * self.l2_misses, self.instructions)

    @property
    def processor_energy_j(self) -> float:
        """Joules without those of the memory."""
        return self.energy_j - self.dram_energy_j

    @property
    def energy_per_instruction_nj(self) -> float:
        """The processors'."""
        return _share(1e9 * self.processor_energy_j, self.instructions)

    @property
    def transactions_added(self) -> float:
        """Accesses that detecting made over those of the program (SAMMU, section 4.4)."""
        return _share(self.detection_accesses, self.accesses)

    @property
    def tlb_miss_rate(self) -> float:
        """Share of the translations that no TLB had."""
        return _share(self.page_walks, self.tlb_accesses)

    @property
    def overhead(self) -> float:
        """Share of the threads' time that went to the mechanism."""
        return sum(map(self.overhead_of, self.overhead_ns))

    def overhead_of(self, kind: str) -> float:
        """Share of the threads' time that went to one kind of overhead; 0 for an absent kind."""
        return self.overhead_ns.get(kind, 0) / (1e9 * self.threads * self.time_s)


@dataclass(frozen=True, slots=True)
class Ran:
    """A run as it was simulated, and the run that it stands for."""

    run: MechanismRun
    minute: MechanismRun | None = None
    """None where the region runs once, as programs side by side do."""


def fastest(runs: Sequence[Ran]) -> Ran:
    """The fastest of either length; both need not be of one recipe."""
    minutes = [each.minute for each in runs if each.minute is not None]
    return Ran(
        min((each.run for each in runs), key=lambda run: run.time_s),
        min(minutes, key=lambda run: run.time_s, default=None),
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
