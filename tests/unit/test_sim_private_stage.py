"""A replay of the private stage says what a replay of every access says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.model.errors import SimulationError
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex
from autofinity.ports import BindThreads, RunRequest, Sensors
from autofinity.sim.machine import SimMachine
from autofinity.sim.native import native_machine
from autofinity.sim.preset import load_preset
from autofinity.sim.result import EVENT_INDEX
from autofinity.sim.spec import MachineSpec
from tests.support.sim_programs import FIRST_WRITE, false_sharing, region

PRESETS = ("opteron-6164he", "opteron-6386")
PLACEMENTS = {"packed": (0, 1, 2, 3), "spread": (0, 2, 4, 6)}


def own_then_neighbours(threads: int) -> Trace:
    """Each thread works in its own pages, passes a barrier and reads its neighbour's, four times.

    Before the region all of them are written by stream 0.
    """
    rng = random.Random(7)
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(threads)]
    pages = [region(7, 100 * i) for i in range(threads)]
    for lines in pages:
        for line in lines:
            builder.access(streams[0], line, reads=0, writes=1, gap=4, flags=FIRST_WRITE)
    builder.roi_begin(streams[0])
    for phase in range(4):
        for i, stream in enumerate(streams):
            for _ in range(4000):
                line = rng.choice(pages[i])
                builder.access(stream, line, reads=1, writes=rng.randrange(2), gap=5)
        for stream in streams:
            builder.barrier(stream, 2 * phase, threads)
        for i, stream in enumerate(streams):
            for line in pages[(i + 1) % threads][::3]:
                builder.access(stream, line, reads=1, gap=5)
        for stream in streams:
            builder.barrier(stream, 2 * phase + 1, threads)
    builder.roi_end(streams[0])
    return builder.build()


def replay(spec: MachineSpec, program: core.Program, pus: list[int]) -> tuple[int, list[int]]:
    simulation = core.Simulation(native_machine(spec), program, pus, seed=3)
    simulation.run()
    simulation.check()
    return simulation.elapsed_ns, simulation.totals().sum(axis=0).tolist()


def spread(threads: int) -> Placement:
    return Placement(tuple(frozenset({OsIndex(6 * i)}) for i in range(threads)))


def first_pus(spec: MachineSpec, cores: tuple[int, ...]) -> list[int]:
    return [
        next(i for i, pu in enumerate(spec.topology.pus) if pu.core == number) for number in cores
    ]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("placement", sorted(PLACEMENTS))
def test_stage_and_full_stream_agree(preset: str, placement: str) -> None:
    spec = load_preset(preset)
    program = core.Program(own_then_neighbours(4))
    stage = core.derive_private_stage(
        native_machine(spec), program, first_pus(spec, (0, 1, 2, 3)), seed=3
    )
    pus = first_pus(spec, PLACEMENTS[placement])
    full_ns, full = replay(spec, program, pus)
    staged_ns, staged = replay(spec, stage, pus)
    assert stage.staged and stage.steps < program.steps
    assert staged_ns == pytest.approx(full_ns, rel=0.02)
    accesses = full[EVENT_INDEX["data_cache_accesses"]]
    for event, index in EVENT_INDEX.items():
        if not event.endswith(("_clocks", "stall_cycles_sync", "cpu_clocks_halted")):
            assert staged[index] == pytest.approx(full[index], rel=0.05, abs=accesses / 1000), event


def test_false_sharing_costs_the_same_through_the_stage() -> None:
    spec = load_preset("opteron-6164he")
    program = core.Program(false_sharing(4, 300, 8))
    stage = core.derive_private_stage(
        native_machine(spec), program, first_pus(spec, (0, 1, 2, 3)), seed=3
    )
    pus = first_pus(spec, (0, 6, 12, 18))
    full_ns, full = replay(spec, program, pus)
    staged_ns, staged = replay(spec, stage, pus)
    assert staged_ns == pytest.approx(full_ns, rel=0.02)
    misses = EVENT_INDEX["coherence_misses"]
    assert staged[misses] == pytest.approx(full[misses], rel=0.05)
    assert stage.racing_share > 0.25  # so SimMachine would not use it


def test_threads_created_in_the_region_begin_no_earlier_in_a_stage() -> None:
    spec = load_preset("opteron-6164he")
    builder = TraceBuilder()
    main, worker = builder.stream(), builder.stream()
    builder.thread_begin(main)
    for line in region(20):
        builder.access(main, line, reads=0, writes=1, flags=FIRST_WRITE)
    builder.roi_begin(main)
    builder.post(main, 1)
    builder.thread_begin(worker)
    builder.wait(worker, 1)
    for line in region(20):
        builder.access(worker, line)
    builder.post(worker, 2)
    builder.wait(main, 2)
    builder.roi_end(main)
    program = core.Program(builder.build())
    pus = first_pus(spec, (0, 6))
    stage = core.derive_private_stage(native_machine(spec), program, pus, seed=3)
    full_ns, full = replay(spec, program, pus)
    staged_ns, staged = replay(spec, stage, pus)
    assert staged[EVENT_INDEX["instructions"]] == full[EVENT_INDEX["instructions"]]
    assert staged[EVENT_INDEX["data_cache_loads"]] == 20 * 64
    assert staged_ns == pytest.approx(full_ns, rel=0.02)


@pytest.mark.parametrize("private_stage", [False, True])
def test_a_machine_uses_a_stage_only_when_asked(private_stage: bool, tmp_path: Path) -> None:
    machine = SimMachine.preset("opteron-6164he", private_stage=private_stage)
    own_then_neighbours(4).write(str(tmp_path))
    request = RunRequest(str(tmp_path), threads=4)
    process = machine.start(request, spread(4), Sensors(("instructions",)), seed=3)
    full = SimMachine.preset("opteron-6164he").start(
        request, spread(4), Sensors(("instructions",)), seed=3
    )
    staged = process.advance(10**12)
    same = full.advance(10**12)
    assert staged.ended
    assert staged.progress == same.progress == 1.0
    assert staged.end_ns == pytest.approx(same.end_ns, rel=0.02)
    assert (staged == same) is not private_stage


def test_an_action_in_a_staged_replay_goes_on_with_the_full_stream(tmp_path: Path) -> None:
    own_then_neighbours(4).write(str(tmp_path))
    request = RunRequest(str(tmp_path), threads=4)
    ends = []
    for private_stage in (False, True):
        machine = SimMachine.preset("opteron-6164he", private_stage=private_stage)
        process = machine.start(request, spread(4), Sensors(), seed=3)
        process.advance(50_000)
        assert process.apply([BindThreads(Placement(spread(4).masks[::-1]))]).done == 4
        ends.append(process.advance(10**12).end_ns)
    assert ends[0] == ends[1]


def test_stage_is_refused_for_another_seed() -> None:
    spec = load_preset("opteron-6164he")
    program = core.Program(own_then_neighbours(2))
    pus = first_pus(spec, (0, 1))
    stage = core.derive_private_stage(native_machine(spec), program, pus, seed=3)
    with pytest.raises(SimulationError, match="another seed"):
        core.Simulation(native_machine(spec), stage, pus, seed=4)


def test_stage_is_refused_where_streams_share_a_core_otherwise() -> None:
    spec = load_preset("opteron-6164he")
    program = core.Program(own_then_neighbours(2))
    stage = core.derive_private_stage(
        native_machine(spec), program, first_pus(spec, (0, 1)), seed=3
    )
    with pytest.raises(SimulationError, match="share cores"):
        core.Simulation(native_machine(spec), stage, first_pus(spec, (5, 5)), seed=3)


def test_threads_of_a_stage_do_not_move() -> None:
    spec = load_preset("opteron-6164he")
    program = core.Program(own_then_neighbours(2))
    pus = first_pus(spec, (0, 1))
    stage = core.derive_private_stage(native_machine(spec), program, pus, seed=3)
    simulation = core.Simulation(native_machine(spec), stage, pus, seed=3)
    with pytest.raises(SimulationError, match="private stage"):
        simulation.bind(0, 7)
