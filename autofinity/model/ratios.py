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
        "share of requests leaving the core that a cache of another LLC domain answers; packing "
        "makes these cheaper"
    ),
    Ratio("other_package_share", (_REMOTE,), ("llc_requests",)): (
        "share of requests leaving the core that a cache of another package answers"
    ),
    Ratio("other_core_share", _OTHER_CORES, ("llc_requests",)): (
        "share of requests leaving the core that another core's cache answers, in any LLC domain"
    ),
    Ratio("other_cache_miss_share", _OTHER_CACHES, ("llc_misses",)): (
        "share of LLC misses that a cache of another domain answers; memory answers the others"
    ),
    Ratio("llc_miss_share", ("llc_misses",), ("llc_requests",)): (
        "share of requests leaving the core that miss the own LLC; if small, packing may lose LLC "
        "hits"
    ),
    Ratio("modify_share", ("llc_modify_requests",), ("llc_requests",)): (
        "share of requests leaving the core that are for ownership: shared data that is written"
    ),
    Ratio("remote_memory_share", _DRAM[1:], _DRAM): (
        "share of lines read from memory that are on another node"
    ),
    Ratio("llc_requests_pki", ("llc_requests",), ("instructions",), 1e3): (
        "requests leaving the core per 1,000 instructions: weight of the memory side"
    ),
    Ratio("llc_misses_pki", ("llc_misses",), ("instructions",), 1e3): (
        "misses of the own LLC per 1,000 instructions (MPKI)"
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
        "lines read from memory per 1,000 clocks: bandwidth of one thread"
    ),
    Ratio("packed_path_share", ("llc_misses",), ("cycles",), 1e3, "packed_lines_pkc"): (
        "demand of the packed threads as a share of the capacity of their memory paths; near 1, "
        "packing starves threads"
    ),
    Ratio("far_transfer_share", _OTHER_CACHES, ("cycles",), 1.0, "far_transfers_a_clock"): (
        "share of time by which lines from other LLC domains take longer than lines from the own "
        "domain"
    ),
    Ratio("page_walks_pki", ("page_walks",), ("instructions",), 1e3): (
        "page walks per 1,000 instructions"
    ),
    Ratio("ipc", ("instructions",), ("cycles",)): "instructions per clock",
}
"""Every ratio that learning may choose, with its meaning."""

PARTS = frozenset(
    {
        *("other_cache_share", "other_package_share", "other_core_share", "other_cache_miss_share"),
        *("llc_miss_share", "modify_share", "remote_memory_share"),
    }
)
"""Ratios whose numerator is a part of their denominator, so that they are 1 at most."""

SPEED_GAIN = "speed_gain"
"""The ratio that shows the immediate gain or loss of speed in a second look."""

SPEEDUP = Ratio(SPEED_GAIN, ("instructions",), (f"{START}instructions",))

GAINS: Mapping[Ratio, str] = {
    SPEEDUP: ("instructions per second in the second sample, relative to the first: the speedup"),
    Ratio("running_gain", ("cycles",), (f"{START}cycles",)): (
        "running time of threads in the second sample, relative to the first; below 1, threads "
        "wait for others that the placement slows"
    ),
    Ratio("llc_requests_gain", ("llc_requests",), (f"{START}llc_requests",)): (
        "requests leaving the core per second in the second sample, relative to the first"
    ),
    Ratio("llc_misses_gain", ("llc_misses",), (f"{START}llc_misses",)): (
        "misses of the own LLC per second in the second sample, relative to the first; far above "
        "1, packing loses LLC hits"
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
