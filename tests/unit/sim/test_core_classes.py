"""Cores of different speeds on one machine."""

from __future__ import annotations

import dataclasses

import pytest
from sim_programs import BASE

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.model.errors import SimulationError
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset

SPEC = load_preset("opteron-6164he")
FAST, SLOW = 0, 47
"""PUs; the second half of the cores is slow in `hybrid()`."""


def hybrid(machine_ghz: float = 2.0, slow_ghz: float = 1.0) -> core.MachineModel:
    """Cores 24 to 47 run at `slow_ghz` with an IPC of 0.5, the others at `machine_ghz` with 2."""
    kind = dataclasses.replace(SPEC.core_classes[0], ghz=machine_ghz)
    machine = machine_model(dataclasses.replace(SPEC, core_classes=(kind,)))
    fast, slow = core.CoreClass(), core.CoreClass()
    fast.side = slow.side = machine.classes[0].side
    fast.instruction = round(core.TICKS_PER_CLOCK / 2)
    slow.instruction = round(core.TICKS_PER_CLOCK / 0.5 * machine_ghz / slow_ghz)
    slow.clock_ratio = slow_ghz / machine_ghz
    fast.misses_in_flight, slow.misses_in_flight = 8, 1
    fast.uops_per_instruction, slow.uops_per_instruction = 1.0, 1.5
    machine.classes = [fast, slow]
    machine.class_of_core = [0] * 24 + [1] * 24
    return machine


def computing(instructions: int) -> Trace:
    builder = TraceBuilder()
    builder.compute(builder.stream(), gap=instructions)
    return builder.build()


def counts(run: core.Simulation) -> dict[str, int]:
    return dict(zip(core.event_names(), run.totals()[0].tolist(), strict=True))


def test_instructions_take_the_time_of_the_core_and_cycles_are_its_own_clocks() -> None:
    program = core.Program(computing(1_000_000))
    on_fast, on_slow = (core.Simulation(hybrid(), program, [pu]) for pu in (FAST, SLOW))
    on_fast.run()
    on_slow.run()
    assert on_fast.elapsed_ns == 250_000  # IPC 2 at 2 GHz
    assert on_slow.elapsed_ns == 2_000_000  # IPC 0.5 at 1 GHz
    assert counts(on_fast)["cycles"] == 500_000
    assert counts(on_slow)["cycles"] == 2_000_000
    assert counts(on_slow)["retired_uops"] == 1_500_000


def test_a_thread_that_changes_the_kind_of_core_keeps_what_it_counted_there() -> None:
    machine = hybrid()
    machine.migration = 0
    run = core.Simulation(machine, core.Program(computing(1_000_000)), [FAST])
    run.advance(125_000)  # half of it
    run.bind(0, SLOW)
    run.run()
    assert run.elapsed_ns == 125_000 + 1_000_000
    assert counts(run)["instructions"] == 1_000_000
    assert counts(run)["cycles"] == 250_000 + 1_000_000
    assert counts(run)["retired_uops"] == 500_000 + 750_000


def test_a_kind_of_core_with_one_miss_buffer_overlaps_no_misses() -> None:
    builder = TraceBuilder()
    stream = builder.stream()
    lines = [BASE + 64 * page + page % 64 for page in range(32)]
    for line in lines:  # first touch: the translations are there
        builder.access(stream, line + 1)
    builder.compute(stream, gap=100_000)
    builder.roi_begin(stream)
    for line in lines:
        builder.access(stream, line)
    builder.roi_end(stream)
    program = core.Program(builder.build())
    elapsed = []
    for pu in (FAST, SLOW):
        run = core.Simulation(hybrid(), program, [pu])
        run.run()
        elapsed.append(run.elapsed_ns)
    alone_ns = SPEC.latency.dram[0]
    assert elapsed[1] == pytest.approx(32 * alone_ns, rel=0.05)
    assert 32 / 8 <= elapsed[0] / alone_ns < 1.3 * 32 / 8  # with a queue at the controller


def test_a_core_of_no_kind_is_refused() -> None:
    machine = hybrid()
    machine.class_of_core = [2] * 48
    with pytest.raises(SimulationError, match="a core is of no class"):
        machine.validate()
