"""Whatever events a trace holds: the replay ends, or it is a SimulationError. No crash, no hang."""

from __future__ import annotations

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st
from sim_programs import counts

from autofinity._core import sim as core
from autofinity._core.trace import TraceBuilder
from autofinity.model.errors import SimulationError
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset

MACHINE = machine_model(load_preset("opteron-6164he"))

# Few values, so that locks, tokens, barriers and units of different streams meet.
EVENTS = st.tuples(
    st.integers(0, 13),  # kind
    st.one_of(st.integers(0, 4), st.sampled_from([1 << 20, (1 << 20) + 1, (1 << 42) - 1])),
    st.one_of(st.integers(0, 50), st.just(2**32 - 1)),  # gap
    st.sampled_from([0, 7, 65535]),  # span
    st.integers(0, 3),  # participants
    st.sampled_from([0, 1, 5, 65535]),  # reads
    st.sampled_from([0, 1, 5, 65535]),  # writes
    st.integers(0, 255),  # flags
)


@settings(max_examples=400)
@given(
    streams=st.lists(st.lists(EVENTS, max_size=30), min_size=1, max_size=4),
    pus=st.lists(st.sampled_from([0, 1, 7, 30]), min_size=4, max_size=4),
)
def test_any_events_replay_or_are_refused(
    streams: list[list[tuple[int, ...]]], pus: list[int]
) -> None:
    builder = TraceBuilder()
    for events in streams:
        stream = builder.stream()
        for event in events:
            builder.event(stream, *event)
    with contextlib.suppress(SimulationError):
        program = core.Program(builder.build())
        run = core.Simulation(MACHINE, program, pus[: program.streams])
        ended = run.advance(1000)
        run.check()
        if not ended:
            run.bind(0, 12)
            run.run()
        run.check()
        assert run.progress == 1.0


@settings(max_examples=200)
@given(
    units=st.lists(
        st.tuples(st.integers(0, 2), st.lists(st.integers(0, 9), max_size=3)), max_size=10
    ),
    streams=st.integers(1, 3),
    pus=st.lists(st.integers(0, 3), min_size=3, max_size=3),
)
def test_tasks_with_dependencies_on_earlier_ones_always_finish(
    units: list[tuple[int, list[int]]], streams: int, pus: list[int]
) -> None:
    # Unit i posts i and awaits some of the units before it; captured by whichever stream.
    builder = TraceBuilder()
    for _ in range(streams):
        builder.stream()
    for i, (owner, needs) in enumerate(units):
        stream = owner % streams
        builder.unit_begin(stream, 1, i)
        for need in needs:
            if need < i:
                builder.wait(stream, need)
        builder.compute(stream, gap=100)
        builder.post(stream, i)
        builder.unit_end(stream, 1, i)
    for stream in range(streams):
        builder.barrier(stream, 1, streams)
    run = core.Simulation(MACHINE, core.Program(builder.build()), pus[:streams])
    run.run()
    assert sum(counts(run, "units_executed")) == len(units)
