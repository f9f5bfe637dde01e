"""Programs whose pages lie on the node of the thread that touched them first."""

from __future__ import annotations

from sim_programs import first_touch, load_all, region, write_all

from autofinity._core.trace import Trace, TraceBuilder


def own_pages(threads: int, pages_each: int, rounds: int) -> Trace:
    """Every thread touches its own pages first, then reads them again and again."""
    return _reading(threads, pages_each, rounds, initialised_by_one=False)


def initialised_by_one(threads: int, pages_each: int, rounds: int) -> Trace:
    """As `own_pages`, but the first thread touches all pages first."""
    return _reading(threads, pages_each, rounds, initialised_by_one=True)


def owned_and_evicted(rounds: int = 3) -> Trace:
    """One thread writes lines and keeps them; the other reads these, evicts its copies from its
    small caches by reading many others, and reads them again.
    """
    builder = TraceBuilder()
    owner, reader = builder.stream(), builder.stream()
    owned, others = region(4), region(512, 64)
    write_all(builder, owner, owned)
    for stream in (owner, reader):
        builder.barrier(stream, 1, 2)
    builder.roi_begin(reader)
    for _ in range(rounds):
        load_all(builder, reader, owned)
        load_all(builder, reader, others)
    builder.roi_end(reader)
    return builder.build()


def _reading(threads: int, pages_each: int, rounds: int, *, initialised_by_one: bool) -> Trace:
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(threads)]
    parts = [region(pages_each, thread * pages_each) for thread in range(threads)]
    for stream, part in zip(streams, parts, strict=True):
        first_touch(builder, streams[0] if initialised_by_one else stream, part)
    for stream in streams:
        builder.barrier(stream, 1, threads)
    builder.roi_begin(streams[0])
    for stream, part in zip(streams, parts, strict=True):
        builder.barrier(stream, 2, threads)
        for _ in range(rounds):
            load_all(builder, stream, part, gap=16)
        builder.barrier(stream, 3, threads)
    builder.roi_end(streams[0])
    return builder.build()
