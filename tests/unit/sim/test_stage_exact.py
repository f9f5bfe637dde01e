"""Where no two threads race, a replay from the private stage counts what the full stream counts.

Each program is about one thing that a stage has to tell at the right time.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.preset import load_preset
from tests.support.sim_programs import DEPENDENT, FIRST_WRITE, region, shuffled_in_pages
from tests.support.staged import both_ways

MACHINES = ("opteron-6164he", "xeon-e5-2650", "epyc-9654")


def page_walks() -> Trace:
    """Loads of another node's pages, nearly each with a page walk that misses the caches."""
    rng, builder = random.Random(1), TraceBuilder()
    owner, reader = builder.stream(), builder.stream()
    lines = region(1500)[::16]
    for line in lines:
        builder.access(owner, line, reads=0, writes=1, gap=4, flags=FIRST_WRITE)
    builder.roi_begin(owner)
    for stream in (owner, reader):
        builder.barrier(stream, 1, 2)
    for _ in range(6000):
        flags = rng.choice((0, DEPENDENT))
        builder.access(reader, rng.choice(lines), reads=1, gap=40, flags=flags)
    for stream in (owner, reader):
        builder.barrier(stream, 2, 2)
    builder.roi_end(owner)
    return builder.build()


def entries_in_place_of_dirty_lines() -> Trace:
    """Stores of two threads to a line of every eighth page: each walks to another line of a page
    table, and the LLC writes back what is pushed out for that."""
    builder, n_pages = TraceBuilder(), 8000
    streams = [builder.stream() for _ in range(2)]
    builder.roi_begin(streams[0])
    for i, stream in enumerate(streams):
        own = region(n_pages, (n_pages + 64) * i)
        builder.barrier(stream, 1, 2)
        for number in range(30_000):
            page = (number * 8 + number * 8 // n_pages) % n_pages
            line = own[64 * page + number % 64]
            builder.access(stream, line, reads=0, writes=1, gap=400, flags=FIRST_WRITE)
    builder.roi_end(streams[0])
    return builder.build()


def dependent_misses() -> Trace:
    """Loads that the next instruction waits for, and that fetch ahead and push lines out."""
    builder = TraceBuilder()
    stream = builder.stream()
    builder.roi_begin(stream)
    for _ in range(3):
        for line in region(400):
            builder.access(stream, line, reads=1, gap=30, flags=DEPENDENT)
    builder.roi_end(stream)
    return builder.build()


def barriers_in_a_row() -> Trace:
    """The lines of the barriers lie side by side, so that prefetchers fetch them ahead."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(4)]
    builder.roi_begin(streams[0])
    for number in range(60):
        for i, stream in enumerate(streams):
            builder.access(stream, region(1, 10 + i)[number], reads=1, gap=100 * (i + 1))
            builder.barrier(stream, number + 1, 4)
    builder.roi_end(streams[0])
    return builder.build()


def a_page_of_two() -> Trace:
    """One thread writes half a page again and again, the other's prefetcher comes for it."""
    builder = TraceBuilder()
    writer, reader = builder.stream(), builder.stream()
    lines = region(2)
    builder.roi_begin(writer)
    for stream in (writer, reader):
        builder.barrier(stream, 1, 2)
    for turn in range(40):
        for line in lines[32:64]:
            builder.access(writer, line, reads=0, writes=1, gap=20)
        for line in lines[:32]:
            builder.access(reader, line, reads=1, gap=37)
        for line in lines[64 + turn % 60 :][:4]:
            builder.access(reader, line, reads=1, gap=50)
    for stream in (writer, reader):
        builder.barrier(stream, 2, 2)
    builder.roi_end(writer)
    return builder.build()


def a_page_among_many() -> Trace:
    """The same, but between two visits to the page the reader follows more pages of its own than
    its prefetcher has streams for."""
    builder = TraceBuilder()
    writer, reader = builder.stream(), builder.stream()
    shared, own = region(1), region(80, 8)
    builder.roi_begin(writer)
    for stream in (writer, reader):
        builder.barrier(stream, 1, 2)
    for _ in range(20):
        for line in shared[32:]:
            builder.access(writer, line, reads=0, writes=1, gap=400)
        for line in shared[:34]:
            builder.access(reader, line, reads=1, gap=37)
        for line in own[:: len(shared) // 2]:
            builder.access(reader, line, reads=1, gap=50)
    for stream in (writer, reader):
        builder.barrier(stream, 2, 2)
    builder.roi_end(writer)
    return builder.build()


def lines_fetched_ahead_dirty() -> Trace:
    """A prefetcher fetches what its LLC has dirty, from pages that are fought for; then they make
    room in the L1 for lines of the reader's own."""
    builder = TraceBuilder()
    owner, reader = builder.stream(), builder.stream()
    pages, own, flush = region(16), region(40, 32), region(400, 100)
    builder.roi_begin(owner)
    for line in pages + flush:
        builder.access(owner, line, reads=0, writes=1, gap=8, flags=FIRST_WRITE)
    for stream in (owner, reader):
        builder.barrier(stream, 1, 2)
    for stream in (owner, reader):  # races
        for line in pages[63::64] * 70:
            builder.access(stream, line, reads=0, writes=1, gap=100)
    for stream in (owner, reader):
        builder.barrier(stream, 2, 2)
    for page in range(0, len(pages), 64):
        for line in pages[page : page + 60]:
            builder.access(reader, line, reads=1, gap=40)
    for line in own:
        builder.access(reader, line, reads=1, gap=40)
    for stream in (owner, reader):
        builder.barrier(stream, 3, 2)
    builder.roi_end(owner)
    return builder.build()


def more_prefetches_than_buffers() -> Trace:
    """Threads read many arrays at a time, faster than memory answers; then again from the LLC."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(2)]
    arrays = [[region(8, 10 * (8 * i + k)) for k in range(8)] for i in range(2)]
    builder.roi_begin(streams[0])
    for number in range(3):
        for mine, stream in zip(arrays, streams, strict=True):
            for lines in zip(*mine, strict=True):
                for line in lines:
                    builder.access(stream, line, reads=8, gap=8)
            builder.barrier(stream, number, 2)
    builder.roi_end(streams[0])
    return builder.build()


def a_writer_comes(delay: int, pages: int = 1, own_pages: int = 500) -> Trace:
    """To lines that a reader is about to push out by `own_pages` of others, after `delay`
    instructions and waits for other lines of the reader, who waits for nobody."""
    builder = TraceBuilder()
    reader, writer = builder.stream(), builder.stream()
    read, waited_for, own = region(pages), region(48, 8), region(own_pages, 64)
    builder.roi_begin(reader)
    for line in own[::64]:  # page faults
        builder.access(reader, line, reads=1, gap=4)
    for line in waited_for:
        builder.access(reader, line, reads=0, writes=1, gap=4, flags=FIRST_WRITE)
    for line in read:
        builder.access(reader, line, reads=1, gap=4)
    for stream in (reader, writer):
        builder.barrier(stream, 1, 2)
    for line in shuffled_in_pages(own):
        builder.access(reader, line, reads=1, gap=8, flags=DEPENDENT)
    builder.compute(writer, gap=delay)
    for line in waited_for:
        builder.access(writer, line, reads=1, gap=8, flags=DEPENDENT)
    for line in read:
        builder.access(writer, line, reads=0, writes=1, gap=8, flags=FIRST_WRITE)
    for stream in (reader, writer):
        builder.barrier(stream, 2, 2)
    builder.roi_end(reader)
    return builder.build()


def locks_that_order_nothing() -> Trace:
    """Both threads write the same lines, each after a lock of its own."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(2)]
    builder.roi_begin(streams[0])
    for turn in range(400):
        for i, stream in enumerate(streams):
            builder.lock(stream, i)
            builder.unlock(stream, i)
            line = region(1)[turn % 8]
            builder.access(stream, line, reads=1, writes=1, gap=300 + 70 * i)
            builder.access(stream, line, reads=0, writes=1, gap=150)
    builder.roi_end(streams[0])
    return builder.build()


def asked_for_long_after_it_came(others: int) -> Trace:
    """Of a page that two threads race for, the reader's prefetcher brings lines whose tags its L1
    still has; it asks for them after `others`, which come ahead as well, each once."""
    builder = TraceBuilder()
    reader, writer = builder.stream(), builder.stream()
    fought_for, turns = region(1), 8
    own = region(-(-others * turns // 64), 64)
    builder.roi_begin(reader)
    for line in own[::64]:  # page faults
        builder.access(reader, line, reads=1, gap=4)
    for turn in range(turns):
        for line in fought_for:
            builder.access(reader, line, reads=1, gap=40)
        for line in fought_for:
            builder.access(writer, line, reads=0, writes=1, gap=40, flags=FIRST_WRITE)
        for stream in (reader, writer):
            builder.barrier(stream, 2 * turn + 1, 2)
        for line in fought_for[:10]:
            builder.access(reader, line, reads=1, gap=40)
        for line in own[others * turn : others * (turn + 1)]:
            builder.access(reader, line, reads=1, gap=40)
        for line in fought_for[10:20]:
            builder.access(reader, line, reads=1, gap=40, flags=DEPENDENT)
        for stream in (reader, writer):
            builder.barrier(stream, 2 * turn + 2, 2)
    builder.roi_end(reader)
    return builder.build()


def races_after_short_stalls() -> Trace:
    """Four threads read and write one line, each time after a load of a page that only the second
    TLB knows and that delays what follows by a few clocks, or by a part of one."""
    rng, builder = random.Random(1), TraceBuilder()
    streams = [builder.stream() for _ in range(4)]
    fought_for, n_pages = region(1)[0], 200
    builder.roi_begin(streams[0])
    for i, stream in enumerate(streams):
        own = region(n_pages, 1 + i * n_pages)
        lines = [own[64 * page + page % 64] for page in range(n_pages)]
        for line in lines:  # page faults
            builder.access(stream, line, reads=1, gap=200)
        builder.barrier(stream, 1, len(streams))
        for turn in range(1500):
            gap, hidden = rng.randrange(600, 2000), rng.randrange(30)
            builder.access(stream, lines[turn % n_pages], reads=1, gap=gap, flags=DEPENDENT)
            builder.access(stream, fought_for, reads=1, gap=hidden, flags=DEPENDENT)
            builder.access(stream, fought_for, reads=0, writes=1, gap=4)
    for stream in streams:
        builder.barrier(stream, 2, len(streams))
    builder.roi_end(streams[0])
    return builder.build()


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("program", [page_walks, dependent_misses])
def test_a_stage_counts_what_the_full_stream_counts(
    program: Callable[[], Trace], name: str
) -> None:
    for full, staged in both_ways(program(), load_preset(name)):
        assert staged == full


@pytest.mark.parametrize("name", MACHINES)
def test_lines_that_come_ahead_at_a_barrier_come_before_the_wait(name: str) -> None:
    for full, staged in both_ways(barriers_in_a_row(), load_preset(name)):
        for event in ("cycles", "cpu_clocks_halted", "l2_misses", "prefetches_issued"):
            assert staged[event] == pytest.approx(full[event], rel=0.002), event


@pytest.mark.parametrize("name", ["opteron-6164he", "epyc-9654"])
def test_lines_that_only_a_prefetcher_takes_away_cost_the_same(name: str) -> None:
    for full, staged in both_ways(a_page_of_two(), load_preset(name)):
        assert staged == full


@pytest.mark.parametrize("name", ["opteron-6164he", "epyc-9654"])
def test_prefetchers_that_follow_many_pages_fetch_the_same_from_one_that_is_fought_for(
    name: str,
) -> None:
    for full, staged in both_ways(a_page_among_many(), load_preset(name)):
        for each in (full, staged):  # what takes the place of a line that was taken away
            del each["clean_data_cache_lines_evicted"]
            del each["invalid_data_cache_lines_evicted"]
        assert staged == full


@pytest.mark.parametrize("name", ["opteron-6164he", "epyc-9654"])
def test_a_line_that_came_ahead_is_not_in_the_l1_however_long_ago_it_came(name: str) -> None:
    for full, staged in both_ways(asked_for_long_after_it_came(200), load_preset(name)):
        for event in ("data_cache_misses", "data_cache_refills_from_l2", "l2_misses"):
            assert staged[event] == full[event], event


@pytest.mark.parametrize("name", MACHINES)
def test_a_stall_of_a_few_clocks_is_told_before_the_access_that_follows_it(name: str) -> None:
    for full, staged in both_ways(races_after_short_stalls(), load_preset(name)):
        assert full["coherence_misses"] > 1000
        assert full["l2_tlb_hits"] > 5000
        assert staged == full


@pytest.mark.parametrize("name", ["xeon-x7550", "epyc-9654"])
def test_prefetches_that_find_no_buffer_are_not_sent(name: str) -> None:
    events = ("prefetches_issued", "prefetches_useful", "prefetches_late", "l2_misses", "cycles")
    for full, staged in both_ways(more_prefetches_than_buffers(), load_preset(name)):
        for event in events:
            assert staged[event] == pytest.approx(full[event], rel=0.03), event


@pytest.mark.parametrize("name", MACHINES)
def test_threads_that_lock_different_locks_race(name: str) -> None:
    for full, staged in both_ways(locks_that_order_nothing(), load_preset(name)):
        assert full["coherence_misses"] > 300
        for event in ("cycles", "coherence_misses", "llc_requests"):
            assert staged[event] == pytest.approx(full[event], rel=0.02), event


@pytest.mark.parametrize(
    ("name", "delay"),
    [("opteron-6164he", 600_000), ("xeon-e5-2650", 780_000), ("epyc-9654", 6_750_000)],
)
def test_lines_have_left_where_the_writer_is_too_far_to_take_them(name: str, delay: int) -> None:
    near, far = both_ways(a_writer_comes(delay), load_preset(name))
    assert far[0]["invalidations_sent"] < near[0]["invalidations_sent"] - 60
    for full, staged in (near, far):
        for event in ("invalidations_sent", "l2_evictions"):
            assert staged[event] == full[event]


def test_an_l1_has_given_up_lines_where_the_writer_is_too_far_to_take_them() -> None:
    event = "invalid_data_cache_lines_evicted"
    trace = a_writer_comes(0, pages=4, own_pages=60)
    near, far = both_ways(trace, load_preset("epyc-9654"))
    assert far[0][event] < near[0][event] - 100
    for full, staged in (near, far):
        assert staged[event] == full[event]


@pytest.mark.parametrize("name", ["opteron-6164he", "epyc-9654"])
def test_lines_that_came_ahead_dirty_leave_the_l1_dirty(name: str) -> None:
    modified, clean = ("modified_data_cache_lines_evicted", "clean_data_cache_lines_evicted")
    near, far = both_ways(lines_fetched_ahead_dirty(), load_preset(name))
    assert near[0][modified] > far[0][modified] + 800  # near, they come from the LLC of both
    for full, staged in (near, far):
        assert staged[clean] == full[clean]
        assert staged[modified] == pytest.approx(full[modified], abs=10)


def test_what_a_walk_pushes_out_is_on_its_way_before_its_access() -> None:
    spec = load_preset("opteron-6164he")
    spec = replace(spec, llc=replace(spec.llc, size_bytes=1 << 20))
    for full, staged in both_ways(entries_in_place_of_dirty_lines(), spec):
        assert full["dram_writes"] > 10_000
        assert staged["memory_queue_clocks"] == full["memory_queue_clocks"] > 10_000
