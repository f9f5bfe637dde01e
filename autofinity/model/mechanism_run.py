"""Results of one run under a mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

STEPS = 20
"""Number of equal parts of a run's work; runs are compared from the end of a part on."""


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
    settled: float
    """Share of the work that was done when threads last changed PUs; 0 where they never moved."""
    reached_s: Sequence[float]
    """Seconds after which each of `STEPS` parts of the work was done; empty where unknown."""
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
    overhead_ns: Mapping[str, int] = field(default_factory=dict)
    """Time that the mechanism took from the program's threads, summed over them, by kind."""

    @property
    def settled_step(self) -> int:
        """Parts of the work after which threads no longer moved; `STEPS` where unknown."""
        return math.ceil(self.settled * STEPS) if self.reached_s else STEPS

    def rest_s(self, step: int) -> float:
        """Seconds that the work after the first `step` parts took."""
        return self.time_s - (self.reached_s[step - 1] if step else 0.0)

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


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
