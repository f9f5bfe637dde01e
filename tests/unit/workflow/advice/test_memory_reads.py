"""Lines read from memory, by whichever counters a CPU has."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.linux.event_tables import event_table
from autofinity.model.cpu import Cpu
from autofinity.workflow.advice.memory_reads import (
    OF_MEMORY,
    fewest_counters,
    lines_from_memory,
    remote_share_of_lines,
)

MISSES, LOCAL, REMOTE, OTHER = OF_MEMORY
COUNTS = st.none() | st.just(math.nan) | st.floats(0, 1e12)


@pytest.mark.parametrize(
    ("counts", "lines"),
    [
        # Intel: loads that memory answered are 70; prefetches and stores are in the misses, too.
        ({MISSES: 100.0, LOCAL: 50.0, REMOTE: 20.0, OTHER: 12.0}, 88.0),
        # Intel, lines go to and fro between packages: misses are lines of caches.
        ({MISSES: 100.0, LOCAL: 3.0, REMOTE: 1.0, OTHER: 95.0}, 5.0),
        # Intel where misses leave reads out.
        ({MISSES: 60.0, LOCAL: 50.0, REMOTE: 30.0, OTHER: 12.0}, 80.0),
        # AMD Zen 3 and later: misses are local and remote reads, and lines of other caches.
        ({MISSES: 82.0, LOCAL: 50.0, REMOTE: 20.0, OTHER: 12.0}, 70.0),
        # AMD Zen 2: lines of other caches have no name, and are in the misses.
        ({MISSES: 82.0, LOCAL: 50.0, REMOTE: 20.0}, 70.0),
        # Without a counter of local reads: Ivy Bridge, or a curve that opens two counters.
        ({MISSES: 100.0, REMOTE: 20.0, OTHER: 12.0}, 88.0),
        ({MISSES: 100.0, REMOTE: 20.0}, 100.0),
        ({MISSES: 100.0}, 100.0),
        ({LOCAL: 50.0, REMOTE: 20.0, OTHER: 12.0}, 70.0),
        ({LOCAL: 50.0, REMOTE: 20.0}, 70.0),
        ({MISSES: 10.0, OTHER: 12.0}, 0.0),
        ({MISSES: 100.0, OTHER: math.nan}, 100.0),
        ({MISSES: math.nan, LOCAL: 50.0, REMOTE: 20.0}, 70.0),
        ({REMOTE: 20.0, OTHER: 12.0}, None),
        ({}, None),
    ],
)
def test_lines_from_memory_are_those_that_no_cache_gave(
    counts: dict[str, float], lines: float | None
) -> None:
    assert lines_from_memory(counts.get) == lines


@pytest.mark.parametrize(
    ("counts", "share"),
    [
        ({MISSES: 100.0, LOCAL: 60.0, REMOTE: 20.0, OTHER: 12.0}, 0.25),
        ({MISSES: 100.0, LOCAL: 1.0, REMOTE: 0.0, OTHER: 99.0}, 0.0),
        ({LOCAL: 60.0, REMOTE: 20.0}, 0.25),
        # The kernel's remote reads: 12 of 20 were lines of other caches, as were 12 of the misses.
        ({MISSES: 52.0, REMOTE: 20.0, OTHER: 12.0}, 0.2),
        ({MISSES: 12.0, REMOTE: 12.0, OTHER: 12.0}, None),
        ({MISSES: 40.0, REMOTE: 10.0}, 0.25),
        ({MISSES: 5.0, REMOTE: 10.0}, 1.0),
        ({LOCAL: 60.0, MISSES: 100.0}, None),
        ({REMOTE: 10.0, OTHER: 5.0}, None),
        ({LOCAL: 0.0, REMOTE: 0.0}, None),
        ({}, None),
    ],
)
def test_the_remote_share_is_of_lines_from_memory(
    counts: dict[str, float], share: float | None
) -> None:
    assert remote_share_of_lines(counts.get) == share


def test_where_local_and_remote_reads_are_exact_nothing_else_counts() -> None:
    counts = {MISSES: 100.0, LOCAL: 50.0, REMOTE: 20.0, OTHER: 12.0}
    assert lines_from_memory(counts.get, exact=True) == 70.0
    assert lines_from_memory({MISSES: 100.0}.get, exact=True) == 100.0


@given(st.fixed_dictionaries(dict.fromkeys(OF_MEMORY, COUNTS)), st.booleans())
def test_lines_are_a_number_from_0_on_or_not_known(
    counts: dict[str, float | None], exact: bool
) -> None:
    lines = lines_from_memory(counts.get, exact=exact)
    assert lines is None or 0 <= lines < math.inf


@pytest.mark.parametrize(
    ("cpu", "counters"),
    [
        (Cpu("GenuineIntel", 6, 143), (MISSES, OTHER)),  # Sapphire Rapids
        (Cpu("GenuineIntel", 6, 62), (MISSES, OTHER)),  # Ivy Bridge server
        (Cpu("GenuineIntel", 6, 94), (MISSES,)),  # Skylake client
        (Cpu("GenuineIntel", 6, 45), (MISSES,)),  # Sandy Bridge server
        (Cpu("AuthenticAMD", 25, 17), (MISSES, OTHER)),  # Zen 4
        (Cpu("AuthenticAMD", 23, 49), (LOCAL, REMOTE)),  # Zen 2
        (Cpu("AuthenticAMD", 23, 1), ()),  # Zen 1
        (Cpu("0x41", 8, 0xD0C), (MISSES,)),  # Neoverse N1
    ],
)
def test_a_run_that_is_counted_for_its_reads_alone_takes_the_fewest_counters(
    cpu: Cpu, counters: tuple[str, ...]
) -> None:
    assert fewest_counters(event_table(cpu)) == counters
