"""A run on record, as the behaviour database gives it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autofinity.model.affinity import PACKED
from autofinity.store.behaviour_rows import RunRecord

_PLACED = RunRecord(
    id=1,
    program="k",
    path="/bin/app",
    pid=7,
    started=100.0,
    ended=130.0,
    tier="hardware counters",
    threads=2,
    hint=PACKED,
    bound=2,
    notes="",
    totals={},
    host="",
    start_ticks=1,
    monitor_pid=2,
    monitor_ticks=3,
    policy="",
    policy_path="",
    allowed="0-3",
    phase="placed",
    cpus="0-1",
    sample={},
    probe={},
)


def run_record(**changes: Any) -> RunRecord:
    """A run of two threads that was placed, on a machine of four CPUs, with `changes`."""
    return replace(_PLACED, **changes)
