"""Whatever a cut leaves of a program, a whole window of it replays to its end."""

from __future__ import annotations

import random

import numpy as np
from cut_programs import Run
from hypothesis import given, settings
from hypothesis import strategies as st

from autofinity._core import sim as core
from autofinity._core.trace import Trace, whole_window
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset

MODELS = [machine_model(load_preset(name)) for name in ("opteron-6164he", "epyc-9654")]
NAMES = core.event_names()


def accesses_of(trace: Trace) -> int:
    return sum(
        int(np.sum(events["reads"] + events["writes"], where=events["kind"] == 0))
        for events in map(trace.events, range(trace.streams))
    )


def instructions_of(trace: Trace) -> int:
    return sum(int(trace.events(stream)["gap"].sum()) for stream in range(trace.streams))


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32),
    threads=st.integers(1, 6),
    steps=st.integers(1, 400),
    cut=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    machine=st.integers(0, len(MODELS) - 1),
)
def test_a_window_of_any_program_replays_to_its_end(
    seed: int, threads: int, steps: int, cut: tuple[float, float], machine: int
) -> None:
    rng = random.Random(seed)
    run = Run(rng, threads, steps)
    first, last = sorted(round(share * steps) for share in cut)
    recorded = run.window(first, last + 1)
    whole = whole_window(recorded)
    assert accesses_of(whole) == accesses_of(recorded)
    assert instructions_of(whole) == instructions_of(recorded)
    simulation = core.Simulation(
        MODELS[machine], core.Program(whole), [rng.randrange(24) for _ in range(threads)]
    )
    assert simulation.run()
    totals = simulation.totals().sum(axis=0)
    done = totals[NAMES.index("data_cache_loads")] + totals[NAMES.index("data_cache_stores")]
    assert done >= accesses_of(recorded)
    assert totals[NAMES.index("instructions")] >= instructions_of(recorded)
    simulation.check()


@settings(deadline=None)
@given(seed=st.integers(0, 2**32), threads=st.integers(1, 6), steps=st.integers(1, 400))
def test_a_whole_program_needs_no_mending(seed: int, threads: int, steps: int) -> None:
    whole = Run(random.Random(seed), threads, steps).window(0, steps + 1)
    mended = whole_window(whole)
    for stream in range(threads):
        before, after = whole.events(stream), mended.events(stream)
        kept = after["kind"][: len(before)] == before["kind"]
        # Missing events are at the end, where threads would have come to a barrier.
        assert np.isin(before["kind"][~kept], [3, 5, 6]).all()
