import pytest
from fake_machine import PERIOD_NS, TOPOLOGY, FakeMachine, FakeProcess, Memory, cells, target

from autofinity.model.errors import UsageError
from autofinity.pool.local import LocalPool
from autofinity.profiling.campaign import profile
from autofinity.profiling.sampling import behaviour_of
from autofinity.profiling.selection import best_matches, select


def test_a_sliver_at_the_end_is_no_sample_but_counts_as_time() -> None:
    sink = Memory()
    assert profile(target(FakeMachine()), cells("a"), sink, LocalPool(1)) == []
    assert [row.sample for row in sink.rows] == [0, 1, 2, 0, 1, 2]
    assert {row.roi_s for row in sink.rows} == {3.25e-3}


def test_behaviour_is_counts_per_thread_and_second() -> None:
    interval = FakeProcess(4).advance(PERIOD_NS)
    assert behaviour_of(interval, 4)["instructions"] == pytest.approx(1e6)


def test_progress_is_that_of_the_middle_of_the_period() -> None:
    sink = Memory()
    profile(target(FakeMachine()), cells("a")[:1], sink, LocalPool(1))
    assert [row.progress for row in sink.rows] == pytest.approx(
        [0.5 / 3.25, 1.5 / 3.25, 2.5 / 3.25]
    )


def test_what_the_sink_has_is_not_run_again() -> None:
    sink = Memory()
    profile(target(FakeMachine()), cells("a"), sink, LocalPool(2))
    machine = FakeMachine()
    told: list[float | None] = []
    pool = LocalPool(2)
    profile(target(machine), cells("a", "b"), sink, pool, lambda cell, cpu_s: told.append(cpu_s))
    assert machine.started == ["b", "b"]
    assert [cpu_s is None for cpu_s in told] == [True, True, False, False]


def test_a_run_that_fails_is_named_and_the_others_go_on() -> None:
    sink = Memory()
    failures = profile(target(FakeMachine(broken="a")), cells("a", "b"), sink, LocalPool(2))
    assert [(f.run.program, f.reason) for f in failures] == [("a", "deadlock")] * 2
    assert {row.program for row in sink.rows} == {"b"}


def test_an_interruption_keeps_what_was_finished() -> None:
    sink = Memory()
    with pytest.raises(KeyboardInterrupt):
        profile(target(FakeMachine(interrupt="b")), cells("a", "b"), sink, LocalPool(1))
    assert {row.program for row in sink.rows} == {"a"}


def test_best_matches_come_first_and_all_means_all() -> None:
    chosen = select(TOPOLOGY, 3, "all", 1)
    matches = best_matches(TOPOLOGY, 3)
    assert chosen[: len(matches)] == matches
    assert len(set(chosen)) == len(chosen) == 4


def test_a_draw_of_affinities_is_that_of_its_seed() -> None:
    few = len(best_matches(TOPOLOGY, 5)) + 2
    assert select(TOPOLOGY, 5, str(few), 7) == select(TOPOLOGY, 5, str(few), 7)
    assert len(select(TOPOLOGY, 5, str(few), 7)) == few


def test_fewer_affinities_than_best_matches_is_an_error() -> None:
    with pytest.raises(UsageError, match="best matches"):
        select(TOPOLOGY, 3, "1", 1)
