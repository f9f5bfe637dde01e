"""Whatever a stage's bytes say: it is refused, or its replay ends. No crash, no hang."""

from __future__ import annotations

import contextlib
import functools

from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_program import mixed_program

from autofinity._core import sim as core
from autofinity.model.errors import SimulationError
from autofinity.sim.native import native_machine
from autofinity.sim.preset import load_preset

PUS = [0, 6, 12, 18, 24, 30, 36, 42]


@functools.cache
def derived() -> tuple[core.Machine, core.Program, bytes]:
    machine = native_machine(load_preset("opteron-6164he"))
    program = core.Program(mixed_program(1))
    stage = core.derive_private_stage(machine, program, PUS, seed=0)
    return machine, program, core.pack_private_stage(machine, program, stage)


@settings(max_examples=150)
@given(
    changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=3),
    cut=st.one_of(st.just(1.0), st.floats(0, 1)),
)
def test_changed_bytes_are_refused_or_replay_to_the_end(
    changes: list[tuple[float, int]], cut: float
) -> None:
    machine, program, packed = derived()
    damaged = bytearray(packed)
    for place, value in changes:
        damaged[int(place * (len(damaged) - 1))] = value
    del damaged[int(cut * len(damaged)) :]
    with contextlib.suppress(SimulationError):
        stage = core.unpack_private_stage(machine, program, PUS, bytes(damaged), seed=0)
        simulation = core.Simulation(machine, stage, PUS, seed=0)
        assert simulation.run()
        assert simulation.progress == 1.0
