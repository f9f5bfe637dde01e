"""When a line is taken is up to the distances: what comes of it is found out in the replay.

Each program takes lines from a thread before it does something near its writer, and after it far
away, or the other way about; the stage, derived once, has to count right in both.
"""

from __future__ import annotations

import random

import pytest

from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.preset import load_preset
from tests.support.sim_programs import DEPENDENT, FIRST_WRITE, region
from tests.support.staged import both_ways

MACHINES = ("opteron-6164he", "xeon-e5-2650", "epyc-9654")


def a_writer_in_the_middle(turns: int = 40) -> Trace:
    """A reader reads lines, then others of the same L1 sets, then the first again. Meanwhile a
    writer comes, at a time that it takes to fetch what the reader wrote."""
    rng, builder = random.Random(1), TraceBuilder()
    reader, writer = builder.stream(), builder.stream()
    fought_for, waited_for, own = region(1), region(turns, 8), region(40 * 16, 128)
    builder.roi_begin(reader)
    for line in waited_for + own:
        builder.access(reader, line, reads=0, writes=1, gap=4, flags=FIRST_WRITE)
    for turn in range(turns):
        for line in fought_for[:16]:
            builder.access(reader, line, reads=1, gap=20)
        for stream in (reader, writer):
            builder.barrier(stream, 2 * turn + 1, 2)
        # The same L1 sets: pages apart.
        for way in range(rng.randrange(1, 4)):
            for line in own[64 * (4 * turn + way) % len(own) :][:16]:
                builder.access(reader, line, reads=1, gap=150, flags=DEPENDENT)
        for line in fought_for[:16]:
            builder.access(reader, line, reads=1, gap=20)
        for line in waited_for[64 * turn :][: rng.randrange(30)]:
            builder.access(writer, line, reads=1, gap=30, flags=DEPENDENT)
        for line in fought_for[:16]:
            builder.access(writer, line, reads=0, writes=1, gap=20, flags=FIRST_WRITE)
        for stream in (reader, writer):
            builder.barrier(stream, 2 * turn + 2, 2)
    builder.roi_end(reader)
    return builder.build()


def counters_among_pages_of_ones_own(threads: int = 4, turns: int = 1200) -> Trace:
    """All threads count in the lines of one page, each time after a line of each of some pages of
    its own, more or fewer than its prefetcher follows."""
    rng, builder = random.Random(2), TraceBuilder()
    streams = [builder.stream() for _ in range(threads)]
    fought_for, n_pages = region(1), 1100
    builder.roi_begin(streams[0])
    for i, stream in enumerate(streams):
        own = region(n_pages, 8 + n_pages * i)
        lines = [own[64 * page + page % 64] for page in range(n_pages)]
        for line in lines:  # page faults
            builder.access(stream, line, reads=1, gap=50)
        builder.barrier(stream, 1, threads)
        at = 0
        for _ in range(turns):
            for _ in range(rng.randrange(2, 30)):
                builder.access(stream, lines[at % n_pages], reads=1, gap=30)
                at += 1
            line = fought_for[rng.randrange(20)]
            builder.access(stream, line, reads=1, gap=rng.randrange(100, 400), flags=DEPENDENT)
            builder.access(stream, line, reads=0, writes=1, gap=4)
    for stream in streams:
        builder.barrier(stream, 2, threads)
    builder.roi_end(streams[0])
    return builder.build()


def a_writer_while_an_l2_fills() -> Trace:
    """A reader goes through more lines than its L2 holds. Meanwhile a writer takes some that are
    there, after it has fetched others, near in half of the time, far away when all is done."""
    builder = TraceBuilder()
    reader, writer = builder.stream(), builder.stream()
    taken, waited_for, own = region(6, 8), region(16, 40), region(200, 128)
    builder.roi_begin(reader)
    for line in waited_for:
        builder.access(reader, line, reads=0, writes=1, gap=4, flags=FIRST_WRITE)
    for line in own[::64]:  # page faults
        builder.access(reader, line, reads=1, gap=20)
    for line in taken:
        builder.access(reader, line, reads=1, gap=20)
    for stream in (reader, writer):
        builder.barrier(stream, 1, 2)
    for line in waited_for:
        builder.access(writer, line, reads=1, gap=8, flags=DEPENDENT)
    for line in taken:
        builder.access(writer, line, reads=0, writes=1, gap=4, flags=FIRST_WRITE)
    for line in own[: len(own) // 2]:
        builder.access(reader, line, reads=1, gap=90)
    for stream in (reader, writer):
        builder.barrier(stream, 2, 2)
    for line in own[len(own) // 2 :]:
        builder.access(reader, line, reads=1, gap=20)
    for stream in (reader, writer):
        builder.barrier(stream, 3, 2)
    builder.roi_end(reader)
    return builder.build()


@pytest.mark.parametrize(
    ("name", "off"), [("opteron-6164he", 0), ("xeon-e5-2650", 0.07), ("epyc-9654", 0.03)]
)
def test_a_miss_is_a_coherence_miss_where_the_tag_is_there_still(name: str, off: float) -> None:
    for full, staged in both_ways(a_writer_in_the_middle(), load_preset(name)):
        for event in ("coherence_misses", "invalid_data_cache_lines_evicted"):
            assert staged[event] == pytest.approx(full[event], rel=off), event


def test_a_prefetcher_follows_a_page_until_others_have_taken_its_streams() -> None:
    for full, staged in both_ways(counters_among_pages_of_ones_own(), load_preset(MACHINES[0])):
        assert full["prefetches_issued"] > 100 and full["coherence_misses"] > 1000
        for each in (full, staged):  # what takes the place of a line that was taken away
            for state in ("clean", "modified", "invalid"):
                del each[f"{state}_data_cache_lines_evicted"]
        assert staged == full


@pytest.mark.parametrize("name", MACHINES[1:])
def test_races_in_a_page_that_comes_and_goes_count_what_they_may(name: str) -> None:
    allowed = {"cycles": 0.002, "llc_requests": 0.005, "prefetches_issued": 0.01}
    for full, staged in both_ways(counters_among_pages_of_ones_own(), load_preset(name)):
        for event, share in (*allowed.items(), ("coherence_misses", 0.05)):
            assert staged[event] == pytest.approx(full[event], rel=share), event


@pytest.mark.parametrize("name", MACHINES)
def test_lines_stay_in_an_l2_that_others_have_taken_lines_from(name: str) -> None:
    for full, staged in both_ways(a_writer_while_an_l2_fills(), load_preset(name)):
        assert full["invalidations_sent"] > 300
        assert staged["l2_evictions"] == full["l2_evictions"] > 500
