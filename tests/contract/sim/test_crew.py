"""Programs that start more threads than promised: placed for as many as run at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pipeline_trace import AT_A_TIME, COMPUTING, STAGES, TOLD, WIDTH, pipeline
from sim_programs import streaming

from autofinity.affinity.best_matches import BestMatches
from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.comparison import Comparison, compare
from autofinity.evaluation.judge import judge
from autofinity.evaluation.under_mechanism import Conditions
from autofinity.mechanisms.recipe import WholeTrace
from autofinity.mechanisms.registry import pick
from autofinity.mechanisms.sharing_aware import nothing
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.errors import LearningError
from autofinity.model.placement import Placement
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.pool.local import LocalPool
from autofinity.ports import BindThreads, RunRequest, Sensors
from autofinity.profiling.campaign import ReadyProgram, plan, plan_baselines, plan_switches
from autofinity.profiling.campaign import profile as run_all
from autofinity.profiling.placements import bound, shared
from autofinity.profiling.selection import best_matches
from autofinity.profiling.target import Target
from autofinity.sim.crew import Crew, crew_of
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess
from autofinity.sim.sampled_process import SampledProcess
from autofinity.store.mechanism_runs import MechanismRuns
from autofinity.store.observations import ObservationStore
from autofinity.trace.meta import read_meta, write_meta
from autofinity.workflow import simulate as workflow
from autofinity.workflow.advice.simulated import seen_simulated
from autofinity.workflow.crewed import with_crew
from autofinity.workflow.observations import placed_counts, with_threads
from autofinity.workflow.simulate import (
    Seats,
    Several,
    simulate_policy,
    simulate_several,
    simulate_trace,
)

MACHINE = SimMachine.preset("opteron-6164he")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pipeline(tmp_path_factory.mktemp("pipeline") / "trace")


class Recording(SimMachine):
    """The machine, which remembers what placements runs begin with."""

    def __init__(self, placements: list[Placement | None]) -> None:
        super().__init__(MACHINE.spec)
        self._placements = placements

    def start(
        self, request: RunRequest, placement: Placement | None, sensors: Sensors, seed: int = 0
    ) -> SimProcess | SampledProcess:
        self._placements.append(placement)
        return super().start(request, placement, sensors, seed)


def sizes(placements: Sequence[Placement | None]) -> set[tuple[int, int]]:
    """Threads of each, and cores that they have together."""
    return {
        (len(placement.masks), len(frozenset[OsIndex]().union(*placement.masks)))
        for placement in placements
        if placement is not None
    }


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
    # The thread that made the others takes its turn before and after them.
    assert crew_of(MACHINE.spec, trace, COMPUTING - 1) == Crew(*(COMPUTING - 1,) * 3)


def test_on_as_many_cores_as_run_at_a_time_it_is_as_fast_as_on_all(trace: Path) -> None:
    crew = crew_of(MACHINE.spec, trace, TOLD)
    everywhere = roi_ns(trace, None)

    def on_cores(count: int) -> int:
        cores = get_affinity(MACHINE.topology, count, PACKED).cpus
        return roi_ns(trace, shared(bound(cores), COMPUTING))

    assert on_cores(crew.room) < 1.1 * everywhere
    assert on_cores(TOLD) > 1.5 * everywhere  # of the promised number


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
    found = simulate_trace(MACHINE.spec, trace, Seats(hint=SPREAD))
    best = get_affinity(MACHINE.topology, crew.room, SPREAD)
    assert set(found.cpus) <= set(best.cpus)
    assert len(found.workers) == COMPUTING


def test_under_a_policy_it_is_placed_on_as_many_cores_as_it_has_room_for(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crew, placements = crew_of(MACHINE.spec, trace, TOLD), list[Placement | None]()
    monkeypatch.setattr(workflow, "SimMachine", lambda spec: Recording(placements))
    packing = RulePolicy((), {}, (), PACKED)
    found = simulate_policy(MACHINE.spec, trace, packing, period_us=100)
    assert found.hints == (SPREAD, PACKED)
    assert sizes(placements) == {(COMPUTING, crew.room)}
    cores = get_affinity(MACHINE.topology, crew.room, PACKED).cpus
    packed_s = roi_ns(trace, shared(bound(cores), COMPUTING)) / 1e9
    assert found.roi_s < 1.1 * packed_s
    # Whoever says how many are placed has his way.
    simulate_policy(MACHINE.spec, trace, packing, period_us=100, threads=TOLD)
    assert sizes(placements[1:]) == {(TOLD, TOLD)}


def test_mechanisms_by_hints_are_compared_on_as_many_cores_as_it_has_room_for(
    trace: Path, tmp_path: Path
) -> None:
    told = ReadyProgram("pipeline", "tiny", TOLD, RunRequest(str(trace), threads=TOLD))
    program, placements = with_crew(MACHINE.spec, told), list[Placement | None]()
    assert (program.threads, program.running) == (TOLD, COMPUTING)
    assert AT_A_TIME < program.placed < COMPUTING
    assert program.origin != told.origin
    names = ["packed", "spread", "compact", "autofinity", "autofinity-restart"]
    entries = [entry for entry in pick([*names, "oracle-affinity"]) if entry.name != "oracle"]
    packing = RulePolicy(("instructions",), {}, (), PACKED)
    conditions = Conditions(
        machine=Recording(placements),
        clock_hz=MACHINE.clock_hz,
        policy=packing,
        whole_trace=lambda ready: WholeTrace(nothing(ready.running), {}),
        repeats=1,
        paper_s=60,
        fault_share_per_s=0.1,
    )
    comparison = Comparison(conditions, seeds=(1,), made_of=lambda ready: ready.origin)
    cases = compare(comparison, [program], entries, MechanismRuns(tmp_path / "runs"), LocalPool(1))
    assert [case.reason for case in cases if case.run is None] == []
    assert sizes(placements) == {(COMPUTING, program.placed)}
    times_s = {case.mechanism: case.run.time_s for case in cases if case.run is not None}
    for name in ("packed", "autofinity-restart"):
        assert times_s[name] < 1.2 * times_s["os"], name  # on the promised cores: over 1.5
    assert times_s["oracle-affinity"] <= times_s["packed"]


def test_beside_another_program_it_shares_its_cores_and_the_other_has_its_own(
    trace: Path, tmp_path: Path
) -> None:
    streaming(6, pages_each=1, repeats=2).write(str(tmp_path))
    write_meta(replace(read_meta(trace), path=tmp_path, threads=6), tmp_path)
    crew = crew_of(MACHINE.spec, trace, TOLD)
    both = Several([trace, tmp_path])
    first, second = both.bound(MACHINE.spec, PACKED)
    assert (len(first.cpus), len(second.cpus)) == (crew.room, 6)
    assert not set(first.cpus) & set(second.cpus)
    found = simulate_several(MACHINE.spec, both, hint=PACKED)
    assert len(found.programs[0].workers) == COMPUTING
    assert set(found.whole.cpus[:COMPUTING]) <= set(first.cpus)
    assert found.whole.cpus[COMPUTING:] == second.cpus


def test_it_is_advised_to_have_as_many_cores_as_it_has_room_for(trace: Path) -> None:
    crew = crew_of(MACHINE.spec, trace, TOLD)
    seen = seen_simulated(MACHINE, trace, RulePolicy(("instructions",), {}, (), PACKED), "by hand")
    assert (seen.threads, seen.placed) == (COMPUTING, crew.room)


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
    assert run_all(target, cells, store, LocalPool(1)) == []
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
    assert case.against("os") > 0.7  # on the promised cores: 0.54
    assert case.roi_s["in_run"] > 0
    # Times on that many cores show nothing of the effect of hints on so many threads.
    with pytest.raises(LearningError, match="no observation with 8 threads"):
        with_threads(table, [TOLD])
