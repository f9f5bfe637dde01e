"""A line that is on its way from memory reaches no core of another L2 before it has arrived."""

from __future__ import annotations

import pytest
from sim_programs import (
    chase,
    cpus,
    first_touch,
    region,
    shuffled_in_pages,
    simulate,
    without_prefetch,
)

from autofinity._core.trace import Trace, TraceBuilder
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import PACKED
from autofinity.sim.preset import load_preset

PAGES = 100
WITHIN = 0.02


def in_step(threads: int) -> Trace:
    """All threads follow one chain of lines that no cache has."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(threads)]
    lines = shuffled_in_pages(region(PAGES))
    first_touch(builder, streams[0], lines)
    for stream in streams:
        builder.barrier(stream, 1, threads)
    builder.roi_begin(streams[0])
    for stream in streams:
        chase(builder, stream, lines)
        builder.barrier(stream, 2, threads)
    builder.roi_end(streams[0])
    return builder.build()


@pytest.mark.parametrize("name", ["epyc-9654", "xeon-8480", "xeon-x7550", "opteron-6164he"])
def test_threads_that_read_the_same_cold_lines_are_no_faster_than_one(name: str) -> None:
    """Threads of one cache: one of them fetches each line, the others find it on its way."""
    spec = without_prefetch(load_preset(name))
    alone, together = (
        simulate(spec, in_step(threads), cpus(*get_affinity(spec.topology, threads, PACKED).cpus))
        for threads in (1, 4)
    )
    assert together.roi_ns == pytest.approx(alone.roi_ns, rel=WITHIN)
