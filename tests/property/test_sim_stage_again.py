"""A private stage is the same from the races that are kept of it, whatever program and machine."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_program import mixed_program

from autofinity._core import sim as core
from autofinity.sim.native import native_machine
from autofinity.sim.preset import load_preset
from autofinity.sim.stage_fitting import first_pus


@pytest.mark.parametrize("preset", ["opteron-6164he", "xeon-e5-2650"])
@settings(max_examples=8)
@given(which=st.integers(0, 1000), seed=st.integers(0, 3))
def test_what_is_derived_again_replays_as_what_was_derived(
    preset: str, which: int, seed: int
) -> None:
    spec = load_preset(preset)
    machine, program = native_machine(spec), core.Program(mixed_program(which, rounds=100))
    pus = first_pus(spec, range(program.streams))
    stage = core.derive_private_stage(machine, program, pus, seed=seed)
    again = core.derive_private_stage(machine, program, pus, seed=seed, races=stage.races)
    assert again.steps == stage.steps
    first, second = (core.Simulation(machine, each, pus, seed=seed) for each in (stage, again))
    assert first.run() and second.run()
    assert first.elapsed_ns == second.elapsed_ns
    assert (first.totals() == second.totals()).all()
