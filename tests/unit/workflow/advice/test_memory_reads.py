"""Lines read from memory, by whichever counters a CPU has."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.linux.event_tables import event_table
from autofinity.model.cpu import Cpu
from autofinity.workflow.advice.memory_reads import OF_MEMORY, fewest_counters, lines_from_memory

MISSES, LOCAL, REMOTE, OTHER = OF_MEMORY
COUNTS = st.none() | st.just(math.nan) | st.floats(0, 1e12)


@pytest.mark.parametrize(
    ("counts", "lines"),
    [
        # Intel: 12 of 100 misses were answered by another package; loads of data are 70 of them.
        ({MISSES: 100.0, LOCAL: 50.0, REMOTE: 20.0, OTHER: 12.0}, 88.0),
        # Intel, lines go to and fro between packages: remote reads are lines of caches.
        ({MISSES: 100.0, LOCAL: 5.0, REMOTE: 90.0, OTHER: 95.0}, 5.0),
        # Intel where misses leave reads out.
        ({MISSES: 60.0, LOCAL: 50.0, REMOTE: 30.0, OTHER: 12.0}, 68.0),
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
