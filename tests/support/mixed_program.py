"""Eight threads that do everything at once."""

from __future__ import annotations

import numpy as np
from sim_programs import BASE, load_all, region, write_all

from autofinity._core.trace import Trace, TraceBuilder


def mixed_program(seed: int = 7, rounds: int = 1000) -> Trace:
    """A program with shared updates, private streams, a table that all read, locks and barriers."""
    rng = np.random.default_rng(seed)
    builder = TraceBuilder()
    threads = 8
    streams = [builder.stream() for _ in range(threads)]
    table, shared, private = region(64), region(8, 100), 200
    write_all(builder, streams[0], [*table, *shared])
    for stream in streams:
        builder.barrier(stream, 9, threads)
        load_all(builder, stream, [*table, *shared, *region(40, private + 100 * stream)])
        builder.barrier(stream, 1, threads)
    builder.roi_begin(streams[0])
    for stream in streams:
        own = region(40, private + 100 * stream)
        for phase in range(3):
            for i in range(rounds):
                kind = rng.integers(10)
                if kind < 5:
                    builder.access(stream, own[i % len(own)], 4, 2, gap=20, span=16)
                elif kind < 8:
                    builder.access(stream, table[rng.integers(len(table))], 2, 0, gap=12, span=8)
                else:
                    line = shared[rng.integers(len(shared))]
                    builder.access(stream, line, 2, 1, gap=15, span=10)
            builder.lock(stream, BASE + phase)
            builder.access(stream, shared[0], 1, 1, gap=10)
            builder.unlock(stream, BASE + phase)
            builder.barrier(stream, 2 + phase, threads)
    builder.roi_end(streams[0])
    return builder.build()
