"""Lines that a program read from memory, from the counters that a CPU has.

    direct   dram_reads_local + dram_reads_remote
    left     llc_misses − cache_to_cache_transfers_other_llc: misses that no other cache answered
    lines    the larger of direct and left

No sum of events is exact on a real CPU, and each leaves lines out: direct counts of Intel and Zen 2
those that were prefetched or stored to. Misses alone have the lines of other caches in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

from autofinity.model.ratios import OTHER_LLC

_LOCAL, _REMOTE, _MISSES = "dram_reads_local", "dram_reads_remote", "llc_misses"
_SETS = ((_MISSES, OTHER_LLC), (_LOCAL, _REMOTE), (_MISSES,))
OF_MEMORY = (_MISSES, _LOCAL, _REMOTE, OTHER_LLC)
"""Counters of the questions about memory: measured on several nodes, and by a command that is
named, where this CPU has events for them."""


def fewest_counters(countable: Collection[str]) -> tuple[str, ...]:
    """The counters to open for `lines_from_memory` where nothing else asks for any; empty: this CPU
    has none of them.
    """
    return next((names for names in _SETS if all(name in countable for name in names)), ())


def lines_from_memory(
    counted: Callable[[str], float | None], *, exact: bool = False
) -> float | None:
    """Lines read from memory, on the base of the counts; None where no counter shows them.

    `counted` gives the count of a counter, None or NaN where it was not measured. `exact`: direct
    counts have every line from memory and no other, as on a simulated machine.
    """
    misses, local, remote, given = (_known(counted(name)) for name in OF_MEMORY)
    direct = None if local is None or remote is None else local + remote
    if direct is not None and (exact or misses is None or given is None):
        return direct
    if misses is None or given is None:
        return misses
    return max(0.0, misses - given, direct or 0.0)


def remote_share_of_lines(counted: Callable[[str], float | None]) -> float | None:
    """Share of the lines read from memory that are of another node; None where no counters show it.

    Where a CPU has remote reads alone, they are the kernel's, which have lines in them that other
    caches gave.
    """
    misses, local, remote, given = (_known(counted(name)) for name in OF_MEMORY)
    if remote is None or (local is None and misses is None):
        return None
    if local is None:
        remote = max(0.0, remote - (given or 0.0))
        lines = max(remote, (misses or 0.0) - (given or 0.0))
    else:
        lines = local + remote
    return remote / lines if lines > 0 else None


def _known(count: float | None) -> float | None:
    return None if count is None or math.isnan(count) else count
