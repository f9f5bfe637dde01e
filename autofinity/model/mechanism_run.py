"""What one run under a mechanism showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MechanismRun:
    """One run to its end; counts of all threads and the whole region, repetitions included."""

    time_s: float
    threads: int
    instructions: int
    llc_misses: int
    traffic_bytes: int
    """Between last-level caches, nodes and packages: lines, requests and answers on every link."""
    cache_to_cache_transfers: int
    invalidations: int
    energy_j: float
    """Of the whole machine; NaN where it is not known."""
    thread_migrations: int
    page_migrations: int
    overhead_ns: Mapping[str, int] = field(default_factory=dict)
    """Time that the mechanism took from the program's threads, all together, by kind."""

    @property
    def mpki(self) -> float:
        """Misses of the last-level caches per 1,000 instructions."""
        return 1000 * self.llc_misses / self.instructions if self.instructions else float("nan")

    @property
    def overhead(self) -> float:
        """Share of the threads' time that went to the mechanism."""
        return sum(map(self.overhead_of, self.overhead_ns))

    def overhead_of(self, kind: str) -> float:
        """The same of one kind; 0 of one that never came."""
        return self.overhead_ns.get(kind, 0) / (1e9 * self.threads * self.time_s)
