"""Threads that are not bound: where the scheduler puts them, and when it moves them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from sim_programs import counts, kept, region, streaming, write_all
from thread_texts import written

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.model.errors import SimulationError
from autofinity.ports import RunRequest, Sensors
from autofinity.sim.machine import SimMachine
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.spec import MachineSpec

OPTERON = load_preset("opteron-6164he")
EVERYWHERE: list[int] = []


def quiet(spec: MachineSpec = OPTERON, **changes: float) -> core.MachineModel:
    """Without system threads."""
    system = dataclasses.replace(spec.system, daemon_us=0, **changes)
    return machine_model(dataclasses.replace(spec, system=system))


def team(threads: int, instructions: int) -> Trace:
    """A main thread that creates `threads - 1` others and computes as they do."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(threads)]
    builder.thread_begin(streams[0])
    for stream in streams[1:]:
        builder.post(streams[0], stream)
        builder.thread_begin(stream, gap=0)
        builder.wait(stream, stream)
    for stream in streams:
        builder.compute(stream, gap=instructions)
    return builder.build()


def unbound(
    machine: core.MachineModel, trace: Trace, seed: int = 0, pus: list[list[int]] | None = None
) -> core.Simulation:
    program = core.Program(trace)
    return core.Simulation(
        machine, program, [0] * program.streams, seed=seed, os_pus=pus or [EVERYWHERE]
    )


def places(run: core.Simulation) -> list[int]:
    return [run.pu_of(stream) for stream in range(len(run.totals()))]


@pytest.mark.parametrize("threads", [2, 3, 5, 9])
def test_a_package_stays_one_though_some_of_its_nodes_are_further(threads: int) -> None:
    spec = load_preset("xeon-6972p")
    assert max(spec.node_distance[0][:3]) == 2  # of the same package
    alike = dataclasses.replace(spec, node_distance=spec.llc_distance)
    assert max(alike.node_distance[0][:3]) == 1
    runs = [unbound(quiet(each), team(threads, 2_000_000)) for each in (spec, alike)]
    for run in runs:
        run.advance(200_000)
    assert places(runs[0]) == places(runs[1])
    assert [spec.topology.pus[pu].package for pu in places(runs[0])[:2]] == [0, 1]


def test_new_threads_go_to_the_idlest_socket_die_and_core() -> None:
    run = unbound(quiet(), team(8, 2_000_000))
    run.advance(200_000)
    pus = places(run)
    assert sorted(pu // 6 for pu in pus) == list(range(8))  # a die each
    sockets = [pu // 12 for pu in pus[:4]]
    assert sorted(sockets) == [0, 1, 2, 3]  # the first four on four sockets
    run.run()
    assert sum(counts(run, "migrations")) == 0


def test_the_seed_decides_among_equals_and_nothing_else_does() -> None:
    trace = team(8, 200_000)
    runs = [unbound(machine_model(OPTERON), trace, seed) for seed in (1, 1, 2)]
    for run in runs:
        run.run()
    first, same, other = runs
    assert places(first) == places(same)
    assert np.array_equal(first.totals(), same.totals())
    assert places(first) != places(other)


def test_threads_stay_on_the_pus_they_may_use() -> None:
    run = unbound(quiet(), team(12, 3_000_000), pus=[[3, 4, 20]] * 12)
    run.run()
    assert set(places(run)) <= {3, 4, 20}


def test_more_threads_than_pus_share_them_evenly() -> None:
    run = unbound(quiet(), team(96, 30_000_000))
    run.run()
    alone = 30_000_000 / (OPTERON.ghz * OPTERON.core.base_ipc)
    assert 2 * alone < run.elapsed_ns < 2.2 * alone


def test_a_core_that_runs_dry_pulls_a_thread_that_waits() -> None:
    # Two PUs, three threads: the second, which is alone, ends and leaves its PU to the third.
    trace = written("compute 40_000_000", "compute 2_000_000", "compute 40_000_000").build()
    spec = dataclasses.replace(OPTERON.system, daemon_us=0, balance_us=0, cache_hot_us=0)
    machine = machine_model(dataclasses.replace(OPTERON, system=spec))
    run = unbound(machine, trace, pus=[[0, 1]] * 3)
    run.run()
    ipns = OPTERON.ghz * OPTERON.core.base_ipc
    assert run.elapsed_ns < 1.1 * 42_000_000 / ipns
    assert sum(counts(run, "migrations")) == 1
    assert places(run) == [0, 1, 1]


def test_balancing_moves_a_running_thread_away_from_a_full_die() -> None:
    # Bound masks would keep all six on one die; here they start there and are free later.
    trace = team(6, 4_000_000_000)
    program = core.Program(trace)
    run = core.Simulation(quiet(), program, [0] * 6, os_pus=[EVERYWHERE])
    run.advance(100_000)
    for stream in range(6):
        run.bind(stream, stream)
    assert {run.pu_of(stream) // 6 for stream in range(6)} == {0}
    run.run()
    assert {run.pu_of(stream) // 12 for stream in range(6)} == {0, 1, 2, 3}


def test_system_threads_push_threads_off_now_and_then() -> None:
    system = dataclasses.replace(OPTERON.system, daemon_us=10_000)
    machine = machine_model(dataclasses.replace(OPTERON, system=system))
    run = unbound(machine, team(8, 100_000_000))
    run.run()
    # 39 ms on 8 PUs, once in 10 ms each: about 31.
    assert 10 < sum(counts(run, "migrations")) < 80


def test_a_woken_thread_goes_back_to_its_pu_when_that_is_idle() -> None:
    waker = "".join(f"compute 100_000, post {token}," for token in range(20))
    sleeper = "".join(f"compute 1_000, wait {token}," for token in range(20))
    run = unbound(quiet(), written(waker, sleeper).build())
    run.run()
    assert sum(counts(run, "migrations")) == 0


def test_siblings_are_used_when_all_cores_are_busy() -> None:
    spec = load_preset("xeon-e5-2650")
    run = unbound(quiet(spec), team(16, 5_000_000))
    run.advance(100_000)
    cores = {spec.topology.pus[pu].core for pu in places(run)}
    assert len(cores) == 16


def test_threads_may_wander_over_more_cores_than_are_simulated_at_once() -> None:
    spec = load_preset("epyc-9654")
    builder = TraceBuilder()
    stream = builder.stream()
    for page in range(70):
        write_all(builder, stream, region(1, page % 4), gap=6000)
    program = core.Program(builder.build())
    run = core.Simulation(machine_model(spec), program, [0])
    for pu in range(1, 71):
        run.advance(50_000)
        run.bind(0, pu)
        if pu % 8 == 0:
            run.check()
    run.run()
    run.check()
    assert sum(counts(run, "migrations")) == 70


def test_a_pu_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SimulationError, match="may run on PU 48; the machine has 48"):
        unbound(quiet(), team(2, 10), pus=[[48]])


def test_a_look_is_as_long_as_was_asked_whatever_the_scheduler_does_in_it(tmp_path: Path) -> None:
    machine, look_ns = SimMachine.preset("opteron-6164he"), 1_700_000
    trace = kept(streaming(4, 300, 100), tmp_path / "trace")
    process = machine.start(RunRequest(trace, threads=4), None, Sensors(("instructions",)), seed=1)
    looks = [process.advance(look_ns)]
    while not looks[-1].ended:
        looks.append(process.advance(look_ns))
    assert looks[-1].end_ns > 2 * 1e3 * machine.spec.system.balance_us
    assert {look.end_ns - look.start_ns for look in looks[:-1]} == {look_ns}
