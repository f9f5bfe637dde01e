"""Meaning of the columns of the table of `compare`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from autofinity.evaluation.bootstrap import TOO_FEW
from autofinity.evaluation.comparison_summary import MechanismSummary
from autofinity.report.legend import listed

MEANINGS: Mapping[str, str] = {
    "time": "time",
    "energy": "energy of the machine",
    "traffic": "bytes between caches, nodes and sockets",
    "mpki": "misses of last-level caches per 1,000 instructions",
    "cache_to_cache": "transfers from cache to cache",
    "invalidations": "invalidations",
}
"""Figure → its meaning. Each is compared with the operating system's."""
HEADINGS: Mapping[str, str] = {
    "mpki": "MPKI",
    "traffic": "traffic",
    "cache_to_cache": "c2c",
    "invalidations": "inval.",
    "energy": "energy",
}
"""Figure → heading of its column, in order; the time has columns of its own."""


def without_interval(summary: Mapping[str, MechanismSummary]) -> bool:
    """Whether the time of some mechanism has no interval."""
    return any(math.isnan(of.vs_os["time"].low) for of in summary.values())


def legend(summary: Mapping[str, MechanismSummary]) -> list[str]:
    """A line for each column; where an interval is missing, with the reason."""
    times = {
        "time": "time of the region of interest",
        "95 %": "interval of its mean" + f"; {TOO_FEW}" * without_interval(summary),
        "of oracle": "time of oracle, the fastest fixed placement, over this one",
    }
    ratios = {heading: MEANINGS[figure] for figure, heading in HEADINGS.items()}
    means = {
        "overhead": "share of the threads' time that the mechanism took",
        "moved": "moves of threads",
        "pages": "moves of pages",
    }
    return [
        "Ratios to os, geometric means over programs; below 1 is less, empty: 0 counted:",
        *listed(times | ratios),
        "Means over runs:",
        *listed(means),
    ]
