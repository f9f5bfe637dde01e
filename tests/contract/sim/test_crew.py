"""Programs that start more threads than they were told: placed for as many as run at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipeline_trace import AT_A_TIME, COMPUTING, STAGES, TOLD, WIDTH, pipeline

from autofinity.affinity.best_matches import BestMatches
from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.judge import judge
from autofinity.model.affinity import DISTRIBUTED, PACKED
from autofinity.model.errors import LearningError
from autofinity.model.placement import Placement
from autofinity.model.policy import RulePolicy
from autofinity.ports import BindThreads, RunRequest, Sensors
from autofinity.profiling.campaign import ReadyProgram, Target, plan, plan_baselines, plan_switches
from autofinity.profiling.campaign import profile as run_all
from autofinity.profiling.placements import bound, shared
from autofinity.profiling.selection import best_matches
from autofinity.sim.crew import Crew, crew_of
from autofinity.sim.machine import SimMachine
from autofinity.store.observations import ObservationStore
from autofinity.workflow.observations import placed_counts, with_threads
from autofinity.workflow.simulate import Seats, simulate_trace

MACHINE = SimMachine.preset("opteron-6164he")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pipeline(tmp_path_factory.mktemp("pipeline") / "trace")


def roi_ns(trace: Path, placement: Placement | None, threads: int = COMPUTING) -> int:
    process = MACHINE.start(RunRequest(str(trace), threads=threads), placement, Sensors())
    begin = None
    while True:
        interval = process.advance(1_000_000)
        begin = interval.start_ns if begin is None else begin
        if interval.ended:
            return interval.end_ns - begin


def test_the_threads_that_run_at_a_time_are_read_from_the_trace(trace: Path) -> None:
    crew = crew_of(MACHINE.spec, trace, TOLD)
    assert crew.computing == COMPUTING == STAGES * WIDTH + 1
    assert AT_A_TIME - 1 <= crew.at_a_time <= AT_A_TIME + 2
    assert crew.at_a_time < crew.room < COMPUTING
    assert crew.shares


def test_as_many_threads_as_were_told_are_what_they_are_told(trace: Path) -> None:
    assert crew_of(MACHINE.spec, trace, COMPUTING) == Crew(*(COMPUTING,) * 3)
    # The one that made the others takes its turn before and after them.
    assert crew_of(MACHINE.spec, trace, COMPUTING - 1) == Crew(*(COMPUTING - 1,) * 3)


def test_on_as_many_cores_as_run_at_a_time_it_is_as_fast_as_on_all(trace: Path) -> None:
    crew = crew_of(MACHINE.spec, trace, TOLD)
    everywhere = roi_ns(trace, None)

    def on_cores(count: int) -> int:
        cores = get_affinity(MACHINE.topology, count, PACKED).cpus
        return roi_ns(trace, shared(bound(cores), COMPUTING))

    assert on_cores(crew.room) < 1.1 * everywhere
    assert on_cores(TOLD) > 1.5 * everywhere  # of the number that was told


def test_threads_that_share_cores_keep_to_them(trace: Path) -> None:
    cores = frozenset(get_affinity(MACHINE.topology, AT_A_TIME, PACKED).cpus)
    away = frozenset(MACHINE.topology.allowed - cores)
    process = MACHINE.start(
        RunRequest(str(trace), threads=COMPUTING), Placement((cores,) * COMPUTING), Sensors()
    )
    used = set()
    for _ in range(20):
        interval = process.advance(20_000)
        used |= set(interval.cpus)
        assert 0 < interval.runnable <= COMPUTING
    assert used <= cores
    assert len(used) == AT_A_TIME
    others = frozenset(sorted(away)[:AT_A_TIME])
    process.apply([BindThreads(Placement((others,) * COMPUTING))])
    for _ in range(20):
        seen = process.advance(20_000).cpus
    assert set(seen) <= others


def test_one_program_is_simulated_on_the_cores_of_its_affinity(trace: Path) -> None:
    crew = crew_of(MACHINE.spec, trace, 2)
    found = simulate_trace(MACHINE.spec, trace, Seats(hint=DISTRIBUTED))
    best = get_affinity(MACHINE.topology, crew.room, DISTRIBUTED)
    assert set(found.cpus) <= set(best.cpus)
    assert len(found.workers) == COMPUTING


def test_it_is_profiled_and_judged_against_the_os_like_all_others(
    trace: Path, tmp_path: Path
) -> None:
    crew = crew_of(MACHINE.spec, trace, TOLD)
    program = ReadyProgram(
        "pipeline",
        "tiny",
        TOLD,
        RunRequest(str(trace), threads=TOLD),
        computing=crew.computing,
        room=crew.room,
    )
    topology = MACHINE.topology
    hints = best_matches(topology, crew.room)
    cells = plan([program], {crew.room: hints}, [1])
    cells += plan_baselines(topology, [program]) + plan_switches(topology, [program])
    store = ObservationStore(tmp_path)
    target = Target(MACHINE, "opteron-6164he", "sim", MACHINE.clock_hz, 100_000, "0")
    assert run_all(target, cells, store, 1) == []
    table = store.read()
    assert placed_counts(table, TOLD) == (crew.room,)
    cases, skipped = judge(
        table,
        [TOLD],
        lambda name: RulePolicy((), {}, (), PACKED),
        BestMatches(topology),
        1,
        0,
    )
    assert skipped == []
    (case,) = cases
    assert case.workload.threads == TOLD
    assert case.affinities["packed"].threads == crew.room
    assert case.roi_s["os"] > 0.9 * case.roi_s["best_hint"]
    assert case.against("os") > 0.7  # on as many cores as were told: 0.54
    assert case.roi_s["in_run"] > 0
    # What it did on that many cores tells nothing of what hints do to so many threads.
    with pytest.raises(LearningError, match="no observation with 8 threads"):
        with_threads(table, [TOLD])
