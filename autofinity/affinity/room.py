"""How many cores threads are given that share them: some more than run at a time."""

from __future__ import annotations

import math

SPARE = 0.25
"""Of the threads that run at a time. A thread that wakes looks for an idle core in its own cache,
not in others: with no core to spare it waits for one there while others are idle. With these to
spare a pipeline is within a tenth of the system on all cores (tests/contract/sim/test_crew.py)."""


def room_for(at_a_time: int, threads: int) -> int:
    """Cores for `threads` of which so many run at a time: never more than there are threads."""
    return min(threads, at_a_time + math.ceil(SPARE * at_a_time))
