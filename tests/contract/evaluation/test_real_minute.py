"""Runs in real time under mechanisms, on the simulated machine, beside whole replays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from memory_programs import own_pages
from sim_programs import kept, ping_pong

from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.comparison import Comparison, as_simulated, compare
from autofinity.evaluation.lasting import LastingProcess, region_of
from autofinity.evaluation.lasting_samples import denser
from autofinity.evaluation.real_minute import (
    LastingMachine,
    in_real_time,
    lasting_machine,
    pages_follow,
)
from autofinity.evaluation.under_mechanism import Conditions
from autofinity.evaluation.watched_run import watched_run
from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.recipe import Recipe, Setting, WholeTrace
from autofinity.mechanisms.registry import MECHANISMS
from autofinity.mechanisms.sharing_aware import nothing
from autofinity.mechanisms.unified import Unified
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.detection import AccessSampling, RemoteAccesses
from autofinity.model.mechanism_run import MechanismRun
from autofinity.model.memory import MOVED_BYTES_PER_S
from autofinity.model.policy import RulePolicy
from autofinity.pool.local import LocalPool
from autofinity.ports import RunRequest, Sensors, SpendTime
from autofinity.profiling.campaign import ReadyProgram
from autofinity.profiling.placements import bound
from autofinity.runtime.live_state import LiveState
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess
from autofinity.store.mechanism_runs import MechanismRuns

THREADS, REPEATS, DENSER = 4, 40, 10
DETECTORS = (
    RemoteAccesses(period=20),
    AccessSampling(what="long-latency loads", period=20),
)


@pytest.fixture(scope="module")
def machine() -> SimMachine:
    return SimMachine.preset("opteron-6164he")


@pytest.fixture
def request_of(tmp_path: Path) -> RunRequest:
    return RunRequest(kept(own_pages(THREADS, 64, 20), tmp_path / "trace"), threads=THREADS)


def started(machine: SimMachine, request: RunRequest, sensors: Sensors, repeats: int) -> SimProcess:
    cpus = get_affinity(machine.topology, request.threads, SPREAD).cpus
    process = machine.start(replace(request, repeats=repeats), bound(cpus), sensors)
    assert isinstance(process, SimProcess)
    return process


def region(machine: SimMachine, request: RunRequest) -> float:
    return region_of(started(machine, request, Sensors(("instructions",)), 1))


def test_samples_and_their_cost_are_as_many_as_if_every_repeat_had_been_replayed(
    machine: SimMachine, tmp_path: Path
) -> None:
    """Two threads on two sockets hand lines to each other."""
    request = RunRequest(kept(ping_pong(2, 4000), tmp_path / "trace"), threads=2)
    plain = Sensors(("instructions",), DETECTORS, reads_by_node=True)
    dense = replace(plain, detectors=denser(DETECTORS, DENSER))
    whole = started(machine, request, plain, REPEATS).advance(10**13)
    process = LastingProcess(
        started(machine, request, dense, REPEATS),
        region(machine, request),
        REPEATS,
        denser=DENSER,
    )
    seen = process.advance(10**13)
    assert process.done == REPEATS
    assert seen.sharing is not None and whole.sharing is not None
    assert whole.sharing.cells[0][1] > 1000
    # A sample shares with the last that were sampled: dense ones more often find the other thread.
    assert seen.sharing.cells[0][1] == pytest.approx(whole.sharing.cells[0][1], rel=0.15)
    assert seen.pages is not None and whole.pages is not None
    samples = (sum(map(sum, each.pages.pages.values())) for each in (seen, whole))  # type: ignore[union-attr]
    assert next(samples) == pytest.approx(next(samples), rel=0.05)
    reads = (sum(map(sum, each.reads_by_node)) for each in (seen, whole))
    assert next(reads) == pytest.approx(next(reads), rel=0.05, abs=8)
    assert seen.overhead_ns["sample"] == pytest.approx(whole.overhead_ns["sample"], rel=0.05)


def setting(machine: SimMachine) -> Setting:
    policy = RulePolicy(("instructions",), {}, (), PACKED)
    return Setting(machine.topology, THREADS, machine.clock_hz, policy=policy)


def minute(machine: SimMachine, request: RunRequest, recipe: Recipe[object]) -> MechanismRun:
    process = started(machine, request, Sensors(("instructions",)), REPEATS)
    repeat_s = LastingProcess(process, region(machine, request)).lasting().repeat_s
    lasting = lasting_machine(machine, request, recipe, 60 / repeat_s, seed=0)
    return in_real_time(lasting, request, recipe, watch=pages_follow(lasting, recipe))


def test_pages_go_along_with_threads_and_the_program_stops_for_their_copies(
    machine: SimMachine, request_of: RunRequest
) -> None:
    """Each thread has its own 64 pages on its own node; the answer has all on one socket."""
    run = minute(machine, request_of, InRun(setting(machine)))  # type: ignore[arg-type]
    assert len({machine.topology.by_os_index[cpu].package for cpu in run.cpus}) == 1  # type: ignore[index]
    assert run.page_migrations > 0
    copies_s = run.page_migrations * 4096 / MOVED_BYTES_PER_S
    assert run.overhead_ns["page copy"] >= 1e9 * THREADS * copies_s * 0.99
    assert 0 < run.overhead < 0.01
    assert run.time_s == pytest.approx(60, rel=0.05)


def test_unified_is_as_autofinity_where_no_threads_share(
    machine: SimMachine, request_of: RunRequest
) -> None:
    plain = minute(machine, request_of, InRun(setting(machine)))  # type: ignore[arg-type]
    both = minute(machine, request_of, Unified(setting(machine)))  # type: ignore[arg-type]
    assert both.cpus == plain.cpus
    assert both.time_s == pytest.approx(plain.time_s, rel=0.005)


def test_time_that_is_spent_is_shared_and_the_repeat_is_not_replayed_for_it(
    machine: SimMachine, request_of: RunRequest
) -> None:
    sensors = Sensors(("instructions",))
    process = LastingProcess(
        started(machine, request_of, sensors, REPEATS), region(machine, request_of), 10_000
    )
    process.advance(10**9)
    done, now_ns, repeat_ns = process.done, process.now_ns, process.repeat_ns
    outcome = process.apply((SpendTime("mapping", 4_000_000),))
    assert outcome.done == 1
    assert process.now_ns == now_ns + 4_000_000 / THREADS
    seen = process.advance(10**9)
    assert seen.overhead_ns == {"mapping": 4_000_000}
    assert process.repeat_ns == repeat_ns
    assert process.done - done == pytest.approx(10**9 / repeat_ns, rel=0.001)


def test_compare_runs_those_with_a_decider_for_as_long_as_the_others_stand_for(
    machine: SimMachine, request_of: RunRequest, tmp_path: Path
) -> None:
    conditions = Conditions(
        machine=machine,
        clock_hz=machine.clock_hz,
        policy=RulePolicy(("instructions",), {}, (), PACKED),
        whole_trace=lambda program: WholeTrace(nothing(THREADS), {}),
        repeats=3,
        paper_s=60.0,
        fault_share_per_s=0.1,
    )
    program = ReadyProgram("own", "tiny", THREADS, request_of, origin="trace")
    entries = [MECHANISMS[name] for name in ("os", "packed", "autofinity")]
    runs = MechanismRuns(tmp_path / "runs")
    comparison = Comparison(conditions, (1,), lambda program: "made")
    cases = compare(comparison, [program], entries, runs, LocalPool(1))
    assert not [case.reason for case in cases if case.reason]
    times = {case.mechanism: case.minute and case.minute.time_s for case in cases}
    assert times["os"] == pytest.approx(60, rel=0.05)
    assert times["autofinity"] == pytest.approx(times["packed"], rel=0.02)
    assert [case.mechanism for case in as_simulated(cases)] == ["os", "packed"]


def test_a_watched_minute_is_the_same_run_with_looks_over_all_of_it(
    machine: SimMachine, request_of: RunRequest
) -> None:
    recipe: Recipe[LiveState] = InRun(setting(machine))

    def lasting() -> LastingMachine:
        return lasting_machine(machine, request_of, recipe, 100_000, seed=0)

    here = lasting()
    plain = in_real_time(here, request_of, recipe, watch=pages_follow(here, recipe))
    there = lasting()
    watched = watched_run(there, request_of, recipe, 0, pages_follow(there, recipe))
    assert watched.run.cpus == plain.cpus
    assert watched.run.instructions == plain.instructions
    assert watched.looks[-1].end_ns / 1e9 == pytest.approx(plain.time_s, rel=0.01)
    assert watched.looks[-1].place != watched.looks[0].place
