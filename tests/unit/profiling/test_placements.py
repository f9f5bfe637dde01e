"""Which affinities are profiled, beside which baselines, and what a campaign says it will cost."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from fake_machine import PERIOD_NS, TOPOLOGY, FakeMachine, FakeProcess, Memory, cells, target
from made_up_machine import machine
from observed import observation

from autofinity.affinity.enumerate import enumerate_affinities
from autofinity.affinity.leeway import edit_distance
from autofinity.model.affinity import UNPLACED, Affinity
from autofinity.model.counters import Behaviour
from autofinity.model.errors import PlacementError, UsageError
from autofinity.model.placement import Placement
from autofinity.pool.local import LocalPool
from autofinity.ports import Action, BindThreads, Interval, Outcome, RunRequest, Sensors
from autofinity.profiling.campaign import in_order, plan_baselines, plan_switches, profile
from autofinity.profiling.estimate import expected, probes
from autofinity.profiling.placements import (
    baseline_affinity,
    class_of,
    compact_cpus,
    placement_of,
    random_cpus,
)
from autofinity.profiling.search import neighbours, to_try
from autofinity.profiling.selection import best_matches, select
from autofinity.profiling.thinning import thinned
from autofinity.store.observations import table_of

LARGE = machine(packages=4, nodes=2, cores=6, near=20)


def test_neighbours_are_the_affinities_one_move_away() -> None:
    for affinity in enumerate_affinities(TOPOLOGY, 4):
        one_move = [a for a in enumerate_affinities(TOPOLOGY, 4) if edit_distance(affinity, a) == 1]
        assert neighbours(TOPOLOGY, affinity) == sorted(one_move)


def test_a_screen_is_everything_where_there_is_little() -> None:
    assert set(select(LARGE, 8, "screen:20", 1)) == set(enumerate_affinities(LARGE, 8))


def test_a_screen_has_its_size_begins_with_best_matches_and_ends_far_from_them() -> None:
    chosen = select(LARGE, 16, "screen:30", 1)
    matches = best_matches(LARGE, 16)
    assert chosen[: len(matches)] == matches
    assert len(set(chosen)) == len(chosen) == 30
    distance = [min(edit_distance(a, match) for match in matches) for a in chosen]
    assert distance.count(1) >= 30 * 3 // 4 - len(matches)
    assert max(distance) > 2
    assert chosen == select(LARGE, 16, "screen:30", 1) != select(LARGE, 16, "screen:30", 2)


def test_a_screen_below_the_best_matches_is_an_error() -> None:
    with pytest.raises(UsageError, match="best matches"):
        select(LARGE, 16, "screen:2", 1)


def test_the_search_ends_in_a_local_optimum() -> None:
    """Time is the distance to one affinity: the search must find it from another end."""
    optimum = Affinity.of([[4, 3], [1]])
    known = {a: float(edit_distance(a, optimum)) for a in best_matches(LARGE, 8)}
    tried = 0
    while more := to_try(LARGE, known, 10):
        known |= {a: float(edit_distance(a, optimum)) for a in more}
        tried += len(more)
    assert known[optimum] == 0.0
    assert tried < 70


def test_compact_fills_the_machine_in_order_and_random_draws_distinct_pus() -> None:
    assert compact_cpus(LARGE, 7) == tuple(range(7))
    assert baseline_affinity(LARGE, 7, "compact", 1) == Affinity.of([[6, 1]])
    drawn = random_cpus(LARGE, 8, 3)
    assert len(set(drawn)) == 8
    assert drawn == random_cpus(LARGE, 8, 3) != random_cpus(LARGE, 8, 4)
    assert baseline_affinity(LARGE, 8, "random", 3) == class_of(LARGE, drawn)
    with pytest.raises(PlacementError, match="48"):
        random_cpus(LARGE, 49, 1)


def test_the_operating_system_is_asked_by_no_placement_at_all() -> None:
    assert baseline_affinity(LARGE, 8, "os", 1) == UNPLACED
    assert placement_of(LARGE, "os", UNPLACED, 8, 1) is None


def test_baselines_are_runs_of_their_own_and_no_affinity_is_learned_from_them() -> None:
    programs = [cell.program for cell in cells("a")[:1]]
    sink = Memory()
    plans = in_order([*cells("a"), *plan_baselines(TOPOLOGY, programs)])
    assert profile(target(FakeMachine()), plans, sink, LocalPool(2)) == []
    table = table_of(sink.rows)
    runs = {(row.placement, str(row.affinity), row.seed) for row in table.observations()}
    assert {("os", "", 1), ("os", "", 2), ("os", "", 3), ("compact", "{2}", 1)} < runs
    assert len(runs) == 2 + 3 + 1 + 3
    assert set(table.placed_by("affinity").affinity.names) == {"{2}", "{1}{1}"}
    assert table.placed_by("os").affinity.names == ("",)
    # Also where baselines of other programs are gone, and only their affinities are left.
    alone = table.take(table.placement.equals("affinity"))
    assert set(alone.placed_by("affinity").affinity.names) == {"{2}", "{1}{1}"}


def test_the_cost_is_that_of_one_run_of_each_program_times_what_is_left() -> None:
    plans = [*cells("a"), *cells("b")] * 2
    first = probes(plans, frozenset())
    assert [cell.run.program for cell in first] == ["a", "b"]
    left = expected(plans, frozenset({first[0].run.key}), {("a", "tiny", 2): 3.0})
    assert left == {2: (6, 2 * 3.0 + 4 * 3.0)}  # what was not measured costs the mean


def test_thinning_keeps_means_times_and_the_periods_of_best_matches() -> None:
    row = observation(behaviour=Behaviour({"instructions": 1.0, "rare": math.nan}), roi_s=2.0)
    apart = replace(row, affinity=Affinity.of([[1], [1]]))
    later = Behaviour({"instructions": 3.0, "rare": 5.0})
    rows = [row, apart]
    rows += [replace(each, sample=1, performance=3.0, behaviour=later) for each in rows]
    few = thinned(table_of(rows), {2: [Affinity.of([[1], [1]])]})
    found = [
        (str(o.affinity), o.sample, o.performance, o.behaviour["rare"]) for o in few.observations()
    ]
    assert found[1][:3] == ("{1}{1}", 1, 3.0)
    assert found[2] == ("{2}", 0, 2.0, 5.0)
    assert set(few.roi_s) == {2.0}
    switched = [replace(row, placement="switched", sample=sample) for sample in range(6)]
    early = thinned(table_of(switched), {2: []})
    assert early.sample.tolist() == [0, 1, 2, 3]
    other_threads = thinned(table_of(rows), {4: []})
    assert other_threads.digest() == table_of(rows).digest()


class Moved(FakeMachine):
    """Notes when its processes are bound again, and to what."""

    def __init__(self) -> None:
        super().__init__()
        self.bound: list[tuple[int, tuple[int, ...]]] = []

    def start(
        self, request: RunRequest, placement: Placement | None, sensors: Sensors, seed: int = 0
    ) -> FakeProcess:
        process = super().start(request, placement, sensors, seed)
        periods = [0]
        advance = process.advance

        def counted(duration_ns: int) -> Interval:
            periods[0] += 1
            return advance(duration_ns)

        def apply(actions: Sequence[Action]) -> Outcome:
            for action in actions:
                assert isinstance(action, BindThreads)
                cpus = tuple(min(mask) for mask in action.placement.masks)
                self.bound.append((periods[0], cpus))
            return Outcome(len(actions), 0)

        process.advance = counted  # type: ignore[method-assign]
        process.apply = apply  # type: ignore[method-assign]
        return process


def test_a_switch_begins_spread_and_binds_every_thread_after_two_periods() -> None:
    programs = [cell.program for cell in cells("a")[:1]]
    machine, sink = Moved(), Memory()
    switches = [
        cell for cell in plan_switches(TOPOLOGY, programs) if cell.run.placement == "switched"
    ]
    assert [str(cell.run.affinity) for cell in switches] == ["{2}", "{1,1}"]
    assert placement_of(TOPOLOGY, "switched", Affinity.of([[2]]), 2, 1) == placement_of(
        TOPOLOGY, "affinity", Affinity.of([[1], [1]]), 2, 1
    )
    profile(target(machine), switches, sink, LocalPool(1))
    assert machine.bound == [(2, (0, 1)), (2, (0, 3))]
    assert {row.placement for row in sink.rows} == {"switched"}


def test_a_second_look_is_taken_packed_between_two_switches() -> None:
    programs = [cell.program for cell in cells("a")[:1]]
    machine = Moved()
    probed = [cell for cell in plan_switches(TOPOLOGY, programs) if cell.run.placement == "probed"]
    assert sorted(str(cell.run.affinity) for cell in probed) == ["{1,1}", "{1}{1}"]
    short = replace(target(machine), period_ns=PERIOD_NS // 2)
    profile(short, [c for c in probed if str(c.run.affinity) == "{1,1}"], Memory(), LocalPool(1))
    assert [after for after, _ in machine.bound] == [2, 4]
    packed, chosen = (cpus for _, cpus in machine.bound)
    assert packed == (0, 1)
    assert chosen == (0, 3)


def test_a_sampled_program_is_never_moved_or_left_to_the_scheduler() -> None:
    programs = [replace(cells("a")[0].program, sampled=True)]
    assert not plan_switches(TOPOLOGY, programs)
    baselines = {cell.run.placement for cell in plan_baselines(TOPOLOGY, programs)}
    assert baselines == {"compact", "random"}
