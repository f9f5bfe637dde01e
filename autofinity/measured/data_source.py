"""Where a sampled access got its data: `perf_mem_data_src` of linux/perf_event.h.

perf prints it as a number and in words; words differ between versions, the number does not.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Source(IntEnum):
    """The part of the machine that answered an access."""

    UNKNOWN = 0
    CORE = 1
    """The caches of the core itself, or a line that was on its way."""
    OWN_LLC = 2
    BESIDE = 3
    """The own LLC domain, for a line that another core of it has, too."""
    OTHER_CACHE = 4
    """A cache of another LLC domain."""
    OTHER_CHANGED = 5
    """The same, of a line that was changed there (HITM)."""
    LOCAL_MEMORY = 6
    REMOTE_MEMORY = 7
    STORE = 8
    """For stores perf records whether the L1 had the line, no more."""
    BESIDE_CHANGED = 9
    """As BESIDE, of a line that was changed there (local HITM)."""


_LOAD, _STORE = 0x2, 0x4
_HIT_LEVEL, _L1, _LFB, _L2, _L3 = 0x02, 0x08, 0x10, 0x20, 0x40
_LOCAL_RAM, _REMOTE_RAM, _REMOTE_CACHE = 0x80, 0x300, 0xC00
_SNOOP_HIT, _SNOOP_HITM, _PEER = 0x4, 0x10, 0x2
_NUM_CORE: Final = (0x1, 0x2, 0xC)
_NUM_L3, _NUM_ANY_CACHE, _NUM_RAM = 0x3, 0xB, 0xD


def source_of(word: int) -> Source:
    """Source of the number that perf prints for `data_src`."""
    operation, level, snoop = word & 0x1F, word >> 5 & 0x3FFF, word >> 19 & 0x1F
    number, remote, peer = word >> 33 & 0xF, word >> 37 & 1, word >> 38 & _PEER
    if not operation & _LOAD:
        return Source.STORE if operation & _STORE else Source.UNKNOWN
    changed = bool(snoop & _SNOOP_HITM)
    if level & _REMOTE_RAM or (remote and (level & _LOCAL_RAM or number == _NUM_RAM)):
        return Source.REMOTE_MEMORY
    if level & _REMOTE_CACHE or (remote and (level & _L3 or number in (_NUM_L3, _NUM_ANY_CACHE))):
        return Source.OTHER_CHANGED if changed else Source.OTHER_CACHE
    if level & _LOCAL_RAM or number == _NUM_RAM:
        return Source.LOCAL_MEMORY
    if (level & _L3 and level & _HIT_LEVEL) or number == _NUM_L3:
        if changed:
            return Source.BESIDE_CHANGED
        return Source.BESIDE if snoop & _SNOOP_HIT or peer else Source.OWN_LLC
    if level & (_L1 | _LFB | _L2) or number in _NUM_CORE:
        return Source.CORE
    return Source.UNKNOWN


def counts_of(found: dict[Source, int]) -> dict[str, int]:
    """Neutral counters of loads by where they were answered: of loads alone, where a PMU would
    count prefetches and stores as well.
    """
    beside = found.get(Source.BESIDE, 0) + found.get(Source.BESIDE_CHANGED, 0)
    other = found.get(Source.OTHER_CACHE, 0) + found.get(Source.OTHER_CHANGED, 0)
    local, remote = found.get(Source.LOCAL_MEMORY, 0), found.get(Source.REMOTE_MEMORY, 0)
    misses = other + local + remote
    return {
        "llc_requests": found.get(Source.OWN_LLC, 0) + beside + misses,
        "llc_misses": misses,
        "cache_to_cache_transfers_same_llc": beside,
        "cache_to_cache_transfers_other_llc": other,
        "dram_reads_local": local,
        "dram_reads_remote": remote,
    }
