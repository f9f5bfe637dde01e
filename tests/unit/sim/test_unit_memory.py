"""A work unit finds the frames of whoever runs it, and nothing else changes hands."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from sim_programs import ATOMIC, BASE, LINES_PER_PAGE, cpus, without_prefetch

from autofinity._core.trace import Trace, TraceBuilder
from autofinity.model.errors import SimulationError
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import simulate
from autofinity.sim.result import SimResult

SPEC = without_prefetch(load_preset("opteron-6164he"))
STREAMS, UNITS, PASSES = 4, 160, 5
HELD = UNITS - STREAMS  # the last unit of the slow thread: another one runs it
SHARED = BASE + 100 * LINES_PER_PAGE
ACCESS, LOCK, UNIT_BEGIN, UNIT_END = 0, 1, 6, 7


def frame_of(stream: int) -> int:
    return BASE + (stream + 1) * 64 * LINES_PER_PAGE


def chunks(units: int, work: Callable[[TraceBuilder, int, int], None]) -> TraceBuilder:
    """Units that four threads took in turn, and a barrier; streams are numbered from 0."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(STREAMS)]
    for unit in range(units):
        stream = streams[unit % STREAMS]
        builder.unit_begin(stream, 3, unit)
        work(builder, stream, unit)
        builder.unit_end(stream, 3, unit)
    for stream in streams:
        builder.barrier(stream, 1, STREAMS)
    return builder


def think(builder: TraceBuilder, stream: int) -> None:
    """Four times as long in thread 0, so that a replay hands units out otherwise."""
    builder.compute(stream, gap=4000 if stream == 0 else 1000)


def loop(*, units: int = UNITS, frames: int = 2, writes: int = 2, shared: bool = False) -> Trace:
    """Chunks with work in `frames` lines of the thread's own."""

    def work(builder: TraceBuilder, stream: int, unit: int) -> None:
        del unit
        for _ in range(PASSES):
            for line in range(frames):
                builder.access(stream, frame_of(stream) + line, reads=3, writes=writes)
            if shared:
                builder.event(stream, ACCESS, SHARED, reads=1, writes=1, flags=ATOMIC)
            think(builder, stream)

    return chunks(units, work).build()


def replay(trace: Trace, *numbers: int) -> SimResult:
    return simulate(SPEC, trace, cpus(*numbers))


SPREAD = (0, 12, 24, 36)
BARRIER = 3 * STREAMS
"""At most so many accesses, misses and invalidations are those of the barrier at the end."""


def test_frames_stay_with_the_thread_that_runs_the_unit() -> None:
    result = replay(loop(), *SPREAD)
    units = result.of_workers("units_executed").tolist()
    assert sum(units) == UNITS
    assert units != [UNITS // STREAMS] * STREAMS  # they did change hands
    assert result.total("coherence_misses") <= BARRIER
    assert result.total("invalidations_sent") <= BARRIER
    # Each worker has its own frames, and those it was captured with: nobody misses any other line.
    assert result.total("data_cache_misses") <= STREAMS * 2 * 2 + BARRIER


def test_every_access_of_a_unit_is_made_whoever_runs_it() -> None:
    accesses = UNITS * PASSES * 2 * 5
    for numbers in (SPREAD, (0, 1, 2, 3), (0, 0, 12, 12)):
        made = replay(loop(), *numbers).total("data_cache_accesses")
        assert accesses <= made <= accesses + BARRIER


def test_what_several_threads_touch_still_goes_from_one_to_the_other() -> None:
    shared = replay(loop(shared=True), *SPREAD)
    # Nearly all of the 800 turns at the line come after another thread's.
    assert shared.total("coherence_misses") > UNITS * PASSES / 4
    alone = replay(loop(shared=True, frames=1), *SPREAD)
    assert alone.total("coherence_misses") > UNITS * PASSES / 4


def test_lines_in_so_few_units_that_it_may_be_chance_are_the_work_itself() -> None:
    # With a quarter of the units each, ten of a thread's would be chance once in 260,000.
    assert replay(loop(units=11 * STREAMS), *SPREAD).total("coherence_misses") <= BARRIER
    assert replay(loop(units=10 * STREAMS), *SPREAD).total("coherence_misses") > 2 * BARRIER


def test_what_is_only_read_stays_where_it_is() -> None:
    lines = 8
    missed = replay(loop(frames=lines, writes=0), *SPREAD).total("data_cache_misses")
    # The lines of all threads come to each; of its own copies a thread would have two sets only.
    assert missed >= lines * STREAMS * STREAMS > 2 * lines * STREAMS + BARRIER


def test_tasks_that_wait_for_their_children_keep_their_own_frames() -> None:
    """Each task makes a child that another thread runs, waits for it, and goes on in its frame."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(STREAMS)]
    tasks = 40 * STREAMS
    for number in range(tasks):
        builder.post(streams[0], 1000 + number)
    for number in range(tasks):
        stream, helper = streams[number % STREAMS], streams[(number + 1) % STREAMS]
        builder.event(stream, UNIT_BEGIN, 1 << 20 | 2 * number, aux=1, gap=1)
        builder.wait(stream, 1000 + number)
        builder.access(stream, frame_of(number % STREAMS), reads=1, writes=1)
        builder.post(stream, 2000 + number)
        builder.wait(stream, 3000 + number)
        builder.access(stream, frame_of(number % STREAMS), reads=1, writes=1)
        builder.event(stream, UNIT_END, 1 << 20 | 2 * number, aux=1, gap=1)
        builder.event(helper, UNIT_BEGIN, 1 << 20 | 2 * number + 1, aux=1, gap=1)
        builder.wait(helper, 2000 + number)
        builder.access(helper, frame_of((number + 1) % STREAMS) + 8, reads=1, writes=1)
        builder.compute(helper, gap=500 * (1 + number % 7))
        builder.post(helper, 3000 + number)
        builder.event(helper, UNIT_END, 1 << 20 | 2 * number + 1, aux=1, gap=1)
    for stream in streams:
        builder.barrier(stream, 1, STREAMS)
    trace = builder.build()
    for numbers in (SPREAD, (0, 1, 2, 3), (0, 0, 0, 0)):
        result = replay(trace, *numbers)
        assert result.total("units_executed") == 2 * tasks
        assert 6 * tasks <= result.total("data_cache_accesses") <= 6 * tasks + BARRIER
        assert result.total("invalidations_sent") <= BARRIER


def test_a_deadlock_inside_a_unit_that_moved_names_its_own_events() -> None:
    def work(builder: TraceBuilder, stream: int, unit: int) -> None:
        builder.access(stream, frame_of(stream), reads=1, writes=1)
        think(builder, stream)
        if unit == HELD:
            builder.lock(stream, 9)  # and never let go

    builder = chunks(UNITS, work)
    for stream in range(STREAMS):
        builder.lock(stream, 9)
    trace = builder.build()
    with pytest.raises(SimulationError) as error:
        replay(trace, *SPREAD)
    held = re.search(
        r"held by stream \d+ \(in a work unit of stream (\d+)\), event (\d+)", str(error.value)
    )
    assert held is not None, error.value
    source, event = map(int, held.groups())
    assert source == HELD % STREAMS
    assert trace.events(source)[event]["kind"] == LOCK
