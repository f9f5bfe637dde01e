"""Ratios of counters that carry over between thread counts, clocks and machines.

A rate (counts per thread and second) depends on the clock and on the program's speed. A policy asks
another kind of question: *of the lines that left the core, how many came from another cache?* A
ratio is dimensionless, or in counts per thousand instructions, and answers such a question.

Four counters exist on every machine that counts in hardware. Lines from other cores' caches are
counted on machines whose family has events for them; `autofinity/linux/events` lists the events of
each family.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

START = "start."
"""Prefix of a counter's name in a second look, for its value in the first sample."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """`scale` × a sum of counters over another sum of counters, and over a fact of the machine."""

    name: str
    numerator: tuple[str, ...]
    denominator: tuple[str, ...]
    scale: float = 1.0
    fact: str = ""
    """The one of `model.facts.FACTS` that the ratio is divided by; empty: none. `policy.on_machine`
    puts the fact's value into the scale."""

    @property
    def counters(self) -> tuple[str, ...]:
        """The counters that the ratio needs, each once, in the order in which they appear."""
        return tuple(dict.fromkeys((*self.numerator, *self.denominator)))

    def of(self, sample: Mapping[str, float]) -> float:
        """Value of the ratio for a sample.

        NaN where a counter is missing, the denominator is not above zero, or the ratio depends on
        the fact of a machine that is not known yet (`fact`).

        The order of the operations is that of the exported header, so that both agree on every bit.
        """
        over = _sum(sample, self.denominator)
        if self.fact or not over > 0:
            return math.nan
        return self.scale * _sum(sample, self.numerator) / over


def _sum(sample: Mapping[str, float], names: tuple[str, ...]) -> float:
    """Sum from left to right. The built-in `sum` compensates for rounding, which C does not."""
    total = float(sample.get(names[0], math.nan))
    for name in names[1:]:
        total += float(sample.get(name, math.nan))
    return total


SAME_LLC = "cache_to_cache_transfers_same_llc"
OTHER_LLC = "cache_to_cache_transfers_other_llc"
_REMOTE = "cache_to_cache_transfers_remote"

SUMS: Mapping[str, tuple[str, ...]] = {
    OTHER_LLC: (_REMOTE, "cache_to_cache_transfers_same_package")
}
"""Counters that are sums of other counters, which older observations have instead."""

_OTHER_CACHES = (OTHER_LLC,)
_OTHER_CORES = (SAME_LLC, OTHER_LLC)
_DRAM = ("dram_reads_local", "dram_reads_remote")

CATALOGUE: Mapping[Ratio, str] = {
    Ratio("other_cache_share", _OTHER_CACHES, ("llc_requests",)): (
        "of the requests that left the core, those that a cache of another LLC domain answered: "
        "what packing makes cheaper"
    ),
    Ratio("other_package_share", (_REMOTE,), ("llc_requests",)): (
        "those that a cache of another package answered"
    ),
    Ratio("other_core_share", _OTHER_CORES, ("llc_requests",)): (
        "those that another core's cache answered, in the own LLC domain or in another"
    ),
    Ratio("other_cache_miss_share", _OTHER_CACHES, ("llc_misses",)): (
        "of the requests that the own LLC did not hold, those that a cache of another domain "
        "answered: the others went to memory"
    ),
    Ratio("llc_miss_share", ("llc_misses",), ("llc_requests",)): (
        "of the requests that left the core, those the own LLC did not hold: where it is small, "
        "packing may take away what the LLC gives"
    ),
    Ratio("modify_share", ("llc_modify_requests",), ("llc_requests",)): (
        "of the requests that left the core, those for ownership: shared data that is written"
    ),
    Ratio("remote_memory_share", _DRAM[1:], _DRAM): (
        "of the lines read from memory, those of another node"
    ),
    Ratio("llc_requests_pki", ("llc_requests",), ("instructions",), 1e3): (
        "requests that left the core per 1,000 instructions: how much the memory side matters"
    ),
    Ratio("llc_misses_pki", ("llc_misses",), ("instructions",), 1e3): (
        "requests that the own LLC did not hold, per 1,000 instructions (MPKI)"
    ),
    Ratio("other_cache_pki", _OTHER_CACHES, ("instructions",), 1e3): (
        "lines from caches of other LLC domains, per 1,000 instructions"
    ),
    Ratio("other_core_pki", _OTHER_CORES, ("instructions",), 1e3): (
        "lines from other cores' caches, in the own LLC domain or in another, per 1,000 "
        "instructions"
    ),
    Ratio("memory_reads_pki", _DRAM, ("instructions",), 1e3): (
        "lines read from memory, per 1,000 instructions"
    ),
    Ratio("memory_reads_pkc", _DRAM, ("cycles",), 1e3): (
        "lines read from memory per 1,000 clocks: the bandwidth that one thread draws"
    ),
    Ratio("packed_path_share", ("llc_misses",), ("cycles",), 1e3, "packed_lines_pkc"): (
        "of what the memory paths of the packed threads carry, what they ask for: near 1, packing "
        "starves them"
    ),
    Ratio("far_transfer_share", _OTHER_CACHES, ("cycles",), 1.0, "far_transfers_a_clock"): (
        "of the time, what lines take longer from caches of other LLC domains than they would take "
        "from the own one"
    ),
    Ratio("page_walks_pki", ("page_walks",), ("instructions",), 1e3): (
        "page walks per 1,000 instructions"
    ),
    Ratio("ipc", ("instructions",), ("cycles",)): "instructions per clock",
}
"""Every ratio that learning may choose, with its meaning."""

SPEED_GAIN = "speed_gain"
"""The ratio that shows the immediate gain or loss of speed in a second look."""

GAINS: Mapping[Ratio, str] = {
    Ratio(SPEED_GAIN, ("instructions",), (f"{START}instructions",)): (
        "instructions per second there over those at the start: did it get faster?"
    ),
    Ratio("running_gain", ("cycles",), (f"{START}cycles",)): (
        "share of the time that threads run there over that at the start: below 1 threads wait "
        "for others that the placement treats worse"
    ),
    Ratio("llc_requests_gain", ("llc_requests",), (f"{START}llc_requests",)): (
        "requests that left the core per second, there over at the start"
    ),
    Ratio("llc_misses_gain", ("llc_misses",), (f"{START}llc_misses",)): (
        "those that the own LLC did not hold: far above 1 packing takes away what it gave"
    ),
}
"""Changes between the first sample and the second look; portable counters only."""

PORTABLE_COUNTERS = frozenset({"cycles", "instructions", "llc_requests", "llc_misses"})
"""Counters of every machine that counts anything in hardware."""

CROSS_CORE_COUNTERS: Mapping[str, str] = {
    SAME_LLC: "in the own LLC domain",
    OTHER_LLC: "in other domains",
}
"""Lines from other cores' caches, by where these caches are; counted where the CPU's family can."""


def portable(cross_core: Collection[str] = ()) -> tuple[Ratio, ...]:
    """Ratios of every machine that counts in hardware and has the counters `cross_core` of
    `CROSS_CORE_COUNTERS`.
    """
    counted = PORTABLE_COUNTERS.union(cross_core)
    return tuple(ratio for ratio in CATALOGUE if counted.issuperset(ratio.counters))
