"""One core's bandwidth, with its prefetcher, is what was measured on the machine."""

from __future__ import annotations

import pytest
from sim_programs import FIRST_WRITE, cpus, first_touch, region, without_prefetch

from autofinity._core.trace import TraceBuilder
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec

PAGES = 512
"""Pages of each array: 2 MiB."""


def triad_gbs(spec: MachineSpec) -> float:
    """STREAM's triad, a = b + s * c, as it counts bytes: the three arrays once each.

    A line holds eight doubles: with SSE2 some 20 instructions for all of a line's elements.
    """
    builder = TraceBuilder()
    stream = builder.stream()
    arrays = [region(PAGES, 3 * PAGES * i) for i in range(3)]
    for array in arrays:
        first_touch(builder, stream, array)
    builder.compute(stream, gap=100_000)
    builder.roi_begin(stream)
    for a, b, c in zip(*arrays, strict=True):
        builder.access(stream, b, reads=8, gap=7)
        builder.access(stream, c, reads=8, gap=7)
        builder.access(stream, a, reads=0, writes=8, gap=7, flags=FIRST_WRITE)
    builder.roi_end(stream)
    roi_ns = simulate(spec, builder.build(), cpus(0)).roi_ns
    return 3 * PAGES * 4096 / roi_ns


@pytest.mark.parametrize(
    ("name", "published_gbs"),
    [
        ("opteron-6164he", 9.5),  # AnandTech 2978: one thread
        ("xeon-x7550", 5.0),  # AnandTech 3648: one thread
        ("xeon-e5-2650", 12.3),  # kerncraft's SandyBridge machine file: one core
    ],
)
def test_one_core_streams_as_fast_as_was_measured(name: str, published_gbs: float) -> None:
    spec = load_preset(name)
    assert triad_gbs(spec) == pytest.approx(published_gbs, rel=0.2)
    assert triad_gbs(without_prefetch(spec)) < 0.85 * triad_gbs(spec)


def test_prefetches_of_a_stream_are_used() -> None:
    builder = TraceBuilder()
    stream = builder.stream()
    for line in region(64):
        builder.access(stream, line, gap=50)
    result = simulate(load_preset("xeon-e5-2650"), builder.build(), cpus(0))
    # The first two misses of a page find the stream; all its other lines are fetched ahead.
    assert result.total("prefetches_issued") == 64 * 62
    assert result.total("prefetches_useful") == 64 * 62
