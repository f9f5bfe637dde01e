"""Number of cores for threads that share them: some more than run at a time."""

from __future__ import annotations

import math

SPARE = 0.25
"""Spare cores, as a share of the threads that run at a time. A thread that wakes looks for an idle
core in its own cache, not in others: without a spare core the thread waits there while others are
idle. With this share a pipeline is within a tenth of the system on all cores
(tests/contract/sim/test_crew.py)."""


def room_for(at_a_time: int, threads: int) -> int:
    """Cores for `threads` of which `at_a_time` run at a time: never more cores than threads."""
    return min(threads, at_a_time + math.ceil(SPARE * at_a_time))
