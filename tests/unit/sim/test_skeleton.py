"""A skeleton: what threads do takes as long as it is said to; who waits for whom is replayed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from sim_programs import without_prefetch

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.model.errors import SimulationError
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset

OPTERON = machine_model(without_prefetch(load_preset("opteron-6164he")))
INTERVAL = 1_000
DONE = 1_000_000
ISSUE_NS = OPTERON.classes[0].instruction / (OPTERON.ghz * core.TICKS_PER_CLOCK)
LITTLE = 0.02
"""Share of the time for barriers and the start of threads."""


def mark(builder: TraceBuilder, stream: int, interval: int, gap: int) -> None:
    """So much is done, and the work gets into that interval."""
    builder.compute(stream, interval * INTERVAL + 1, gap=gap)


def marked(shares: Sequence[Sequence[int]], barrier: bool = False) -> Trace:
    """Streams that do so much in each interval, with a barrier of all after each."""
    builder = TraceBuilder()
    for stream, done in enumerate(shares):
        builder.stream()
        if stream == 0:
            builder.roi_begin(0)
        for interval, gap in enumerate(done):
            mark(builder, stream, interval, gap)
            if barrier:
                builder.barrier(stream, 7, len(shares))
        if stream == 0 and barrier:
            builder.roi_end(0)
    if not barrier:
        for stream in range(1, len(shares)):
            builder.post(stream, stream)
            builder.wait(0, stream)
        builder.roi_end(0)
    return builder.build()


def lasting(
    skeleton: Trace, own: Sequence[Sequence[float]], units: Sequence[float] | None = None
) -> float:
    """Time of the region, in instructions that wait for nothing."""
    program = core.Program.skeleton(
        skeleton,
        INTERVAL,
        np.array(own, dtype=np.float64),
        np.array([1.0] * len(own) if units is None else units),
    )
    simulation = core.Simulation(OPTERON, program, list(range(skeleton.streams)))
    simulation.run()
    return float(simulation.elapsed_ns / ISSUE_NS)


def test_instructions_take_what_their_interval_says() -> None:
    found = lasting(marked([[DONE, DONE]]), [[2], [5]])
    assert found == pytest.approx(7 * DONE, rel=LITTLE)


def test_what_comes_after_the_last_mark_takes_what_it_says() -> None:
    builder = TraceBuilder()
    builder.stream()
    builder.roi_begin(0, gap=DONE)
    mark(builder, 0, 1, DONE)
    builder.roi_end(0, gap=DONE)
    assert lasting(builder.build(), [[9], [2]]) == pytest.approx(4 * DONE, rel=LITTLE)


def test_each_stream_has_its_own_price_and_the_slowest_decides() -> None:
    found = lasting(marked([[DONE], [DONE]]), [[2, 6]])
    assert found == pytest.approx(6 * DONE, rel=LITTLE)


def test_who_is_done_first_waits_at_the_barrier() -> None:
    found = lasting(marked([[DONE, DONE], [2 * DONE, DONE]], barrier=True), [[1, 1], [4, 4]])
    assert found == pytest.approx(2 * DONE + 4 * DONE, rel=LITTLE)


def test_streams_that_did_the_same_between_barriers_in_other_intervals_take_as_long() -> None:
    builder = TraceBuilder()
    for stream, first in enumerate((DONE, 0)):
        builder.stream()
        if stream == 0:
            builder.roi_begin(0)
        mark(builder, stream, 0, first)
        mark(builder, stream, 1, DONE - first)
        builder.barrier(stream, 7, 2)
        if stream == 0:
            builder.roi_end(0)
    found = lasting(builder.build(), [[1, 1], [3, 3]])
    assert found == pytest.approx(2 * DONE, rel=LITTLE)


def test_work_units_go_to_whom_is_free_at_their_own_price() -> None:
    builder = TraceBuilder()
    for stream in range(2):
        builder.stream()
        if stream == 0:
            builder.roi_begin(0)
        builder.barrier(stream, 7, 2)
        # As captured: the first stream took all of the eight but the last.
        for unit in range(7) if stream == 0 else (7,):
            builder.unit_begin(stream, 1, unit)
            mark(builder, stream, unit // 4, DONE)
            builder.unit_end(stream, 1, unit)
        builder.barrier(stream, 7, 2)
        if stream == 0:
            builder.roi_end(0)
    found = lasting(builder.build(), [[50, 50], [50, 50]], units=[1, 3])
    assert found == pytest.approx(2 * DONE + 6 * DONE, rel=LITTLE)


def test_long_gaps_are_not_cut() -> None:
    found = lasting(marked([[(1 << 32) - 1] * 2]), [[3], [1]])
    assert found == pytest.approx(4 * (1 << 32), rel=LITTLE)


@pytest.mark.parametrize(
    ("own", "units", "interval"),
    [
        ([[1.0]], [1.0], INTERVAL),
        ([[1.0, 1.0]], [1.0, 1.0], INTERVAL),
        ([[1.0, -1.0]], [1.0], INTERVAL),
        ([[1.0, np.nan]], [1.0], INTERVAL),
        ([[1.0, 1.0]], [np.inf], INTERVAL),
        ([[1.0, 1e9]], [1.0], INTERVAL),
        ([[1.0, 1.0]], [1.0], 0),
    ],
)
def test_prices_that_are_none_are_refused(
    own: list[list[float]], units: list[float], interval: int
) -> None:
    skeleton = marked([[DONE], [DONE]])
    with pytest.raises(SimulationError, match="got"):
        core.Program.skeleton(skeleton, interval, np.array(own), np.array(units))
