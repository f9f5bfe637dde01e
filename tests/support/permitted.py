"""Skips for tests that need more than this kernel permits."""

from __future__ import annotations

import os

import pytest

from autofinity.linux.event_tables import Encoding
from autofinity.linux.perf_event import open_event
from autofinity.linux.watched_program import watch_touches
from autofinity.model.errors import CapabilityError


def _perf_is_permitted() -> bool:
    try:
        os.close(open_event(Encoding(1, 1), 0))
    except OSError:
        return False
    return True


needs_perf = pytest.mark.skipif(
    not _perf_is_permitted(), reason="no perf events are permitted here"
)
needs_x86 = pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="what stands in for a PMU is for x86-64"
)
needs_two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="placing needs two CPUs"
)


def skip_unless_touches_are_seen() -> None:
    """Skip where neither page faults nor sampled accesses can be watched."""
    try:
        watch_touches(["true"])
    except CapabilityError as error:
        pytest.skip(str(error))
