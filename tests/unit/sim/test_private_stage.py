"""A replay of the private stage says what a replay of every access says."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.affinity.enumerate import enumerate_affinities, place
from autofinity.model.affinity import Affinity
from autofinity.model.errors import SimulationError
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex
from autofinity.ports import BindThreads, Interval, RunRequest, Sensors
from autofinity.profiling.placements import class_of
from autofinity.sim import private_stage, stage_fitting
from autofinity.sim.machine import SimMachine
from autofinity.sim.native import native_machine
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.replay import pus_of_streams
from autofinity.sim.result import EVENT_INDEX
from autofinity.sim.spec import MachineSpec
from autofinity.sim.stage_agreement import (
    CLOCKS_AHEAD,
    ByRaces,
    Difference,
    Totals,
    counted_often,
    farthest_off,
)
from autofinity.sim.stage_fitting import (
    Racing,
    compared_placements,
    fitting_stage,
    may_have_stage,
)
from autofinity.sim.stage_store import StoredVerdict, read_verdict, write_verdict
from tests.support.sim_programs import FIRST_WRITE, false_sharing, region

OPTERON = load_preset("opteron-6164he")
ANY_PLACEMENT = ("opteron-6164he", "xeon-8480")
PACKED_ONLY = ("xeon-e5-2650", "epyc-9654")
PLACEMENTS = {"packed": (0, 1, 2, 3), "spread": (0, 6, 9, 12)}


def own_then_neighbours(threads: int) -> Trace:
    """Each thread works in its own pages, passes a barrier and reads its neighbour's, four times.

    Before the region all of them are written by stream 0, for which the others wait.
    """
    rng = random.Random(7)
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(threads)]
    pages = [region(7, 100 * i) for i in range(threads)]
    for lines in pages:
        for line in lines:
            builder.access(streams[0], line, reads=0, writes=1, gap=4, flags=FIRST_WRITE)
    builder.roi_begin(streams[0])
    for stream in streams:
        builder.barrier(stream, 8, threads)
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


def replay(spec: MachineSpec, program: core.Program, pus: list[int]) -> tuple[int, Totals]:
    simulation = core.Simulation(native_machine(spec), program, pus, seed=3)
    simulation.run()
    simulation.check()
    return simulation.elapsed_ns, simulation.totals().sum(axis=0)


FAR_OFF = Difference("l2_misses", 1, 9, share=0.9)


def not_again(*arguments: object) -> None:
    raise AssertionError("compared again")


def spread(threads: int) -> Placement:
    return Placement(tuple(frozenset({OsIndex(6 * i)}) for i in range(threads)))


def first_pus(spec: MachineSpec, cores: tuple[int, ...]) -> list[int]:
    return [
        next(i for i, pu in enumerate(spec.topology.pus) if pu.core == number) for number in cores
    ]


@pytest.mark.parametrize(
    ("preset", "placement"),
    [(preset, placement) for preset in ANY_PLACEMENT for placement in sorted(PLACEMENTS)]
    + [(preset, "packed") for preset in PACKED_ONLY],
)
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
    assert farthest_off(full, staged).used <= 1


@pytest.mark.parametrize("preset", PACKED_ONLY)
def test_a_stage_that_hangs_on_timing_is_not_used(preset: str) -> None:
    # When a thread loses a line that its L1 is about to push out is up to the distances.
    spec = load_preset(preset)
    program = core.Program(own_then_neighbours(4))
    stage, worst = fitting_stage(spec, native_machine(spec), program, range(4), 3)
    assert stage is None
    assert worst.used > 0.5
    side_by_side = fitting_stage(spec, native_machine(spec), program, range(4), 3, jobs=4)
    assert side_by_side == (None, worst)


def test_no_affinity_is_replayed_after_one_in_which_the_stage_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = load_preset(PACKED_ONLY[0])
    program = core.Program(own_then_neighbours(4))
    placements = compared_placements(spec, program, range(4))
    replayed: list[Sequence[int]] = []

    def totals(_: object, __: object, pus: Sequence[int], ___: int) -> Totals:
        replayed.append(pus)
        return np.full(len(EVENT_INDEX), 1_000_000 * len(replayed), dtype=np.uint64)

    monkeypatch.setattr(stage_fitting, "_totals", totals)
    stage, _ = fitting_stage(spec, native_machine(spec), program, range(4), 3)
    assert stage is None
    assert replayed == [placements[0], placements[0]]


@pytest.mark.parametrize(("off", "used"), [(0.02, True), (0.03, False)])
def test_a_stage_may_use_half_of_the_five_per_cent_that_a_counter_may_be_off(
    off: float, used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = load_preset(PACKED_ONLY[0])
    program = core.Program(own_then_neighbours(4))
    full = np.full(len(EVENT_INDEX), 1_000, dtype=np.uint64)  # noise: three times its root
    staged = full.copy()
    staged[EVENT_INDEX["l2_misses"]] = 1_000 * (1 + off)

    def totals(_: object, replayed: core.Program, __: object, ___: int) -> Totals:
        return staged if replayed.staged else full

    monkeypatch.setattr(stage_fitting, "_totals", totals)
    stage, worst = fitting_stage(spec, native_machine(spec), program, range(4), 3)
    assert (stage is not None) == used
    assert (worst.event, worst.share) == ("l2_misses", pytest.approx(off))


@pytest.mark.parametrize(
    ("off", "moved", "used"),
    [(0.02, 0.04, True), (0.02, 0.06, False), (0.004, 0.06, True), (-0.02, -0.06, False)],
)
def test_a_stage_that_is_not_exact_is_not_used_where_the_order_of_races_decides_more_than_allowed(
    off: float, moved: float, used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = load_preset(PACKED_ONLY[0])
    program, machine = core.Program(own_then_neighbours(4)), native_machine(spec)

    def totals(native: core.Machine, replayed: core.Program, _: Sequence[int], __: int) -> Totals:
        counts = np.full(len(EVENT_INDEX), 1_000, dtype=np.uint64)
        share = off if replayed.staged else moved if native is not machine else 0
        counts[EVENT_INDEX["l2_misses"]] = round(1_000 * (1 + share))
        return counts

    monkeypatch.setattr(stage_fitting, "_totals", totals)
    stage, worst = fitting_stage(spec, machine, program, range(4), 3)
    assert (stage is not None) == used
    assert isinstance(worst, ByRaces) != used
    assert (worst.event, worst.share) == ("l2_misses", pytest.approx(abs(off if used else moved)))


@pytest.mark.parametrize("name", preset_names())
def test_cores_run_ahead_by_less_than_a_line_takes_from_one_to_another(name: str) -> None:
    spec = load_preset(name)
    assert CLOCKS_AHEAD / spec.ghz < min(spec.latency.load_modified)


@pytest.mark.parametrize("affinity", list(enumerate_affinities(OPTERON.topology, 4)), ids=str)
def test_false_sharing_counts_the_same_through_the_stage(affinity: Affinity) -> None:
    """Also what threads do on the line before the first race for it is seen."""
    program = core.Program(false_sharing(4, 300, 8))
    stage = core.derive_private_stage(
        native_machine(OPTERON), program, first_pus(OPTERON, (0, 1, 2, 3)), seed=3
    )
    cpus = place(OPTERON.topology, affinity).cpus
    pus = pus_of_streams(OPTERON.topology, 4, cpus, range(4))
    full_ns, full = replay(OPTERON, program, pus)
    staged_ns, staged = replay(OPTERON, stage, pus)
    assert staged_ns == full_ns
    assert np.array_equal(staged, full)
    assert stage.racing_share > 0.25


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


def whole_run(machine: SimMachine, trace: Path, seed: int = 3) -> Interval:
    request = RunRequest(str(trace), threads=4)
    return machine.start(request, spread(4), Sensors(("instructions",)), seed=seed).advance(10**12)


@pytest.mark.parametrize("private_stage", [False, True])
def test_a_machine_uses_a_stage_only_when_asked(private_stage: bool, tmp_path: Path) -> None:
    machine = SimMachine.preset("opteron-6164he", private_stage=private_stage)
    own_then_neighbours(4).write(str(tmp_path))
    staged = whole_run(machine, tmp_path)
    same = whole_run(SimMachine.preset("opteron-6164he"), tmp_path)
    assert staged.ended
    assert staged.progress == same.progress == 1.0
    assert staged.end_ns == pytest.approx(same.end_ns, rel=0.02)
    assert private_stage or staged == same
    assert [verdict.used for verdict in machine.stage_verdicts()] == [True] * private_stage


def test_a_stage_that_disagrees_is_not_used_and_the_machine_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_then_neighbours(4).write(str(tmp_path))
    monkeypatch.setattr(stage_fitting, "farthest_off", lambda full, staged: FAR_OFF)
    machine = SimMachine.preset("opteron-6164he", private_stage=True)
    assert whole_run(machine, tmp_path) == whole_run(SimMachine.preset("opteron-6164he"), tmp_path)
    (verdict,) = machine.stage_verdicts()
    assert str(verdict) == (
        f"{tmp_path.name}: every access is replayed, its private stage gives l2_misses 9 instead "
        "of 1"
    )


@pytest.mark.parametrize(
    ("worst", "why"),
    [
        (FAR_OFF, "its private stage gives l2_misses 9 instead of 1"),
        (Racing(0.75), "its private stage saves nothing, for threads race in 75% of its events"),
        (
            ByRaces.of(FAR_OFF),
            "its private stage is not exact, and who comes first in races alone makes "
            "l2_misses 9 instead of 1",
        ),
    ],
)
def test_a_verdict_says_why_a_stage_is_not_used(worst: Difference | Racing, why: str) -> None:
    verdict = private_stage.Verdict("lbm", False, worst)
    assert str(verdict) == f"lbm: every access is replayed, {why}"


@pytest.mark.parametrize("used", [True, False])
def test_a_second_sweep_finds_the_verdict_beside_the_trace_and_compares_nothing(
    used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_then_neighbours(4).write(str(tmp_path))
    if not used:
        monkeypatch.setattr(stage_fitting, "farthest_off", lambda full, staged: FAR_OFF)
    machines = [SimMachine.preset("opteron-6164he", private_stage=True) for _ in range(2)]
    first = whole_run(machines[0], tmp_path)
    monkeypatch.setattr(private_stage, "stage_to_use", not_again)
    assert whole_run(machines[1], tmp_path) == first
    assert machines[1].stage_verdicts() == machines[0].stage_verdicts()
    with pytest.raises(AssertionError, match="compared again"):
        whole_run(machines[1], tmp_path, seed=4)
    other = SimMachine.preset("xeon-8480", private_stage=True)
    with pytest.raises(AssertionError, match="compared again"):
        whole_run(other, tmp_path)


def test_a_stage_in_which_threads_race_all_the_time_is_not_used_and_the_machine_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    false_sharing(4, 300, 8).write(str(tmp_path))
    monkeypatch.setattr(stage_fitting, "_totals", not_again)
    machines = [SimMachine.preset("opteron-6164he", private_stage=True) for _ in range(2)]
    full = whole_run(SimMachine.preset("opteron-6164he"), tmp_path)
    assert whole_run(machines[0], tmp_path) == full
    (verdict,) = machines[0].stage_verdicts()
    assert re.fullmatch(
        f"{re.escape(tmp_path.name)}: every access is replayed, its private stage saves nothing, "
        r"for threads race in \d+% of its events",
        str(verdict),
    )
    monkeypatch.setattr(private_stage, "stage_to_use", not_again)
    assert whole_run(machines[1], tmp_path) == full
    assert machines[1].stage_verdicts() == (verdict,)


@pytest.mark.parametrize("damage", ["cut", "turned", "emptied"])
def test_a_damaged_verdict_on_disk_is_found_again(damage: str, tmp_path: Path) -> None:
    own_then_neighbours(4).write(str(tmp_path))
    first = whole_run(SimMachine.preset("opteron-6164he", private_stage=True), tmp_path)
    (file,) = tmp_path.glob("private-*.verdict")
    whole = file.read_bytes()
    turned = bytearray(whole)
    turned[len(whole) // 2] ^= 1
    file.write_bytes({"cut": whole[:-1], "turned": bytes(turned), "emptied": b""}[damage])
    assert whole_run(SimMachine.preset("opteron-6164he", private_stage=True), tmp_path) == first
    assert file.read_bytes() == whole


def test_a_stage_is_the_same_from_the_races_that_are_known() -> None:
    spec = load_preset("opteron-6164he")
    machine, program = native_machine(spec), core.Program(false_sharing(4, 300, 8))
    pus = first_pus(spec, (0, 6, 12, 18))
    stage = core.derive_private_stage(machine, program, pus, seed=3)
    assert stage.races[1] and program.races == ([], [])
    again = core.derive_private_stage(machine, program, pus, seed=3, races=stage.races)
    unknown = core.derive_private_stage(machine, program, pus, seed=3, races=([], []))
    assert again.races == stage.races
    assert again.steps == stage.steps
    assert again.racing_share == stage.racing_share > unknown.racing_share
    (first_ns, first), (second_ns, second) = (replay(spec, each, pus) for each in (stage, again))
    assert first_ns == second_ns
    assert (first == second).all()


def test_races_of_another_program_are_refused() -> None:
    spec = load_preset("opteron-6164he")
    machine, pus = native_machine(spec), first_pus(spec, (0, 1))
    program = core.Program(own_then_neighbours(2))
    for races in (([], [1 << 27]), ([1 << 27], [])):
        with pytest.raises(SimulationError, match="that the program does not have"):
            core.derive_private_stage(machine, program, pus, seed=3, races=races)


@pytest.mark.parametrize(
    "numbers", [[], [0], [7], [0, 1, 2], [3, 4, 9, 10, 11, 4000], [2**32 - 2]], ids=str
)
def test_races_are_kept_as_they_were(numbers: list[int], tmp_path: Path) -> None:
    key = bytes(32)
    for worst, races in (
        (FAR_OFF, (numbers, [])),
        (FAR_OFF, ([], numbers)),
        (FAR_OFF, None),
        (Racing(0.75), None),
        (ByRaces.of(FAR_OFF), None),
    ):
        verdict = StoredVerdict(worst, races)
        write_verdict(tmp_path, key, verdict)
        assert read_verdict(tmp_path, key) == verdict


def test_stages_are_compared_in_the_best_matches_of_hints_and_where_threads_wait_most() -> None:
    spec, program = load_preset("epyc-9654"), core.Program(own_then_neighbours(8))
    found = []
    for placed in compared_placements(spec, program, range(8)):
        cpus = [spec.topology.pus[pu].os_index for pu in placed]
        found.append(str(class_of(spec.topology, cpus)))
    best_matches = ["{1,1,1,1}{1,1,1,1}", "{7}{1}", "{8}", "{1,1,1,1,1,1,1,1}"]
    assert found == ["{4,2,1,1}", "{5}{3}", "{1,1,1,1,1}{1,1,1}", *best_matches]


def test_no_placement_is_compared_twice() -> None:
    """On two packages of one LLC each, to spread over the LLCs of one package is to pack."""
    spec, program = load_preset("xeon-e5-2650"), core.Program(own_then_neighbours(4))
    placements = compared_placements(spec, program, range(4))
    assert len({tuple(placed) for placed in placements}) == len(placements) < 4


def test_counters_agree_in_a_region_in_which_nothing_happens() -> None:
    nothing = np.zeros(len(EVENT_INDEX), dtype=np.uint64)
    assert counted_often(nothing, nothing, 0.0) == []
    assert farthest_off(nothing, nothing).used == 0


def test_what_counts_often_agrees_as_it_was_counted() -> None:
    full = np.full(len(EVENT_INDEX), 1_000, dtype=np.uint64)
    full[[EVENT_INDEX["cycles"], EVENT_INDEX["cpu_clocks_halted"]]] = 1_000_000
    staged = full.copy()
    staged[EVENT_INDEX["l2_misses"]] += 51
    staged[EVENT_INDEX["cpu_clocks_halted"]] += 60_000
    off = {each.event for each in counted_often(full, staged, 20_000.0) if each.used > 1}
    assert off == {"l2_misses"}
    off = {each.event for each in counted_often(full, staged, 0.0) if each.used > 1}
    assert off == {"l2_misses", "cpu_clocks_halted"}
    assert "link_bytes" not in {each.event for each in counted_often(full, staged, 0.0)}


def test_cores_that_share_an_l2_have_no_stage() -> None:
    spec = load_preset("opteron-6386")
    program, pus = core.Program(own_then_neighbours(2)), first_pus(spec, (0, 2))
    assert not may_have_stage(spec, program, pus, (0, 1))
    with pytest.raises(SimulationError, match="share an L2"):
        core.derive_private_stage(native_machine(spec), program, pus, seed=3)


def test_an_action_in_a_staged_replay_goes_on_with_the_full_stream(tmp_path: Path) -> None:
    own_then_neighbours(4).write(str(tmp_path))
    request = RunRequest(str(tmp_path), threads=4)
    ends = []
    for staged in (False, True):
        machine = SimMachine.preset("opteron-6164he", private_stage=staged)
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
