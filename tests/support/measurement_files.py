"""Outputs of perf and likwid that are kept in `tests/support/measurements` (README there)."""

from __future__ import annotations

from pathlib import Path

from autofinity.measured.counts import Measured
from autofinity.measured.formats import read_measured
from autofinity.model.affinity import PACKED, Hint
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.model.ratios import OTHER_LLC, SAME_LLC, Ratio
from autofinity.sim.events import EVENTS

FOLDER = Path(__file__).with_name("measurements")
MACHINE = "xeon-8480"
THREADS = 4
PER_SECOND = {
    "instructions": 2e9,
    "cycles": 2.5e9,
    "llc_requests": 4.5e6,
    "llc_misses": 3e6,
    SAME_LLC: 2e5,
    OTHER_LLC: 6e5,
}
"""Counts of each of the four threads, in all of the files."""

TIMED = (
    "perf-stat-6.1.json",
    "perf-stat-6.12-intervals.json",
    "perf-stat-6.1-per-thread.json",
    "perf-stat-6.1.csv",
    "perf-stat-5.10-german-intervals-by-cpu.csv",
    "perf-stat-6.1-per-thread.csv",
    "perf-stat-6.1-by-socket.csv",
    "likwid-5.3.csv",
    "likwid-4.3.csv",
    "likwid-5.3-markers.csv",
    "likwid-5.2.xml",
    "likwid-4.3.xml",
    "likwid-5.2-one-thread.xml",
    "own.csv",
    "own.json",
)
"""That say in what time they counted."""
UNTIMED = (
    "perf-stat-3.13.csv",
    "perf-script-4.15.txt",
    "perf-script-6.6.txt",
    "perf-c2c-4.15.txt",
    "perf-c2c-6.6.txt",
)
"""Files of which only ratios mean something."""
FILES = (*TIMED, *UNTIMED)
_SHARE = "other_cache_share"
_LIMIT = 0.1
POLICY = RulePolicy(
    (OTHER_LLC, "llc_requests"),
    {_SHARE: (_LIMIT,)},
    (Rule((Condition(_SHARE, _LIMIT, float("inf")),), Hint.parse("slP")),),
    PACKED,
    ratios=(Ratio(_SHARE, (OTHER_LLC,), ("llc_requests",)),),
)
"""Asks for counters that all of the files have. Its training data are unknown, so no gain is
reported, which takes seconds.
"""
OWN_CPUS = (0, 1, 56, 57)
"""Where likwid and the own table had the threads."""


def measured(name: str) -> Measured:
    """One of the files, as it is read."""
    return read_measured(FOLDER / name, EVENTS)


def text_of(name: str) -> str:
    """One of the files."""
    return (FOLDER / name).read_text(encoding="utf-8")
