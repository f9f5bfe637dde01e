"""Locks, barriers, tokens, work units, run queues; and what cannot be replayed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hand_machine import VICTIM
from sim_programs import BASE, FIRST_WRITE, counts, cpus, region, without_prefetch, write_all
from thread_texts import written

from autofinity._core import sim as core
from autofinity._core.trace import TraceBuilder
from autofinity.model.errors import PlacementError, SimulationError
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import simulate
from autofinity.sim.result import SimResult

SPEC = without_prefetch(load_preset("opteron-6164he"))


def replay(builder: TraceBuilder, *numbers: int) -> SimResult:
    return simulate(SPEC, builder.build(), cpus(*numbers))


def clocks(result: SimResult) -> float:
    return result.roi_ns * SPEC.ghz


def test_a_critical_section_excludes_the_others() -> None:
    builder = written(*["lock 1, compute 30_000, unlock 1"] * 3)
    assert clocks(replay(builder, 0, 1, 2)) > 3 * 30_000 / SPEC.core.base_ipc


def test_a_mutex_may_be_taken_again_by_its_holder() -> None:
    builder = written("lock 1, lock 1, unlock 1, unlock 1")
    assert replay(builder, 0).total("lock_acquisitions") == 1


def one_after_the_other(*takes: str) -> TraceBuilder:
    """Threads that take a lock 1,000 instructions apart and hold it for 30,000."""
    return written(
        *(
            f"compute {1000 * number}, {take} 1, compute 30_000, unlock 1"
            for number, take in enumerate(takes)
        )
    )


def test_readers_hold_a_lock_together_and_exclude_writers() -> None:
    section = 30_000 / SPEC.core.base_ipc
    together = replay(one_after_the_other("share", "share", "lock"), 0, 1, 2)
    assert 2 * section < clocks(together) < 2.5 * section
    assert together.total("lock_waits") == 1
    alone = replay(one_after_the_other("lock", "lock", "lock"), 0, 1, 2)
    assert clocks(alone) > 3 * section


def test_readers_that_wait_for_a_writer_come_before_the_next_writer() -> None:
    result = replay(one_after_the_other("lock", "lock", "share", "share"), 0, 1, 2, 3)
    section = 30_000 / SPEC.core.base_ipc
    assert 3 * section < clocks(result) < 3.5 * section
    waited = result.of_workers("stall_cycles_sync") / section
    assert [round(each) for each in waited.tolist()] == [0, 2, 1, 1]


def test_a_reader_may_take_its_lock_again_while_a_writer_waits() -> None:
    reader = "share 1, compute 10_000, share 1, unlock 1, unlock 1"
    result = replay(written(reader, "lock 1, unlock 1"), 0, 1)
    assert result.total("lock_acquisitions") == 3
    assert clocks(result) > 10_000 / SPEC.core.base_ipc


def test_nobody_leaves_a_barrier_before_all_have_come() -> None:
    generations = 4
    late, early = (f"compute {gap}, barrier 7 3," * generations for gap in (50_000, 10))
    result = replay(written(late, early, early), 0, 1, 2)
    assert clocks(result) > generations * 50_000 / SPEC.core.base_ipc
    assert result.total("barrier_waits") == generations * 2


def test_an_await_ends_with_its_post() -> None:
    result = replay(written("compute 90_000, post 5", "wait 5, compute 90_000"), 0, 1)
    assert clocks(result) > 2 * 90_000 / SPEC.core.base_ipc
    assert result.total("await_waits") == 1


def test_a_lock_is_not_taken_before_what_its_section_awaits_is_posted() -> None:
    # In the captured order stream 1 came second; in replay it would come first and block stream 0.
    builder = written("compute 100_000, lock 1, unlock 1, post 9", "lock 1, wait 9, unlock 1")
    assert replay(builder, 0, 1).total("lock_acquisitions") == 2


def test_a_section_in_which_the_region_ends_comes_after_what_it_awaits() -> None:
    """As above, but the lock is open when nothing more is simulated."""
    builder = written("compute 100_000, lock 1, unlock 1, post 9", "lock 1, wait 9")
    assert replay(builder, 0, 1).total("lock_acquisitions") == 2


def test_work_units_go_to_whoever_is_free() -> None:
    units = [f"begin 3 {unit}, compute 20_000, end 3 {unit}," for unit in range(16)]
    # Captured unfairly: stream 0 got 15 of the 16 units.
    result = replay(written("".join(units[:15]) + "barrier 1 2", units[15] + "barrier 1 2"), 0, 1)
    assert result.of_workers("units_executed").tolist() == [8, 8]
    assert clocks(result) == pytest.approx(8 * 20_000 / SPEC.core.base_ipc, rel=0.05)


def test_tasks_that_wait_for_their_children_do_not_block_the_team() -> None:
    # A task (unit 0) makes two children that only one captured thread ran, and waits for them.
    parent = "begin 1 0, post 10, post 11, wait 20, wait 21, end 1 0,"
    children = "".join(
        f"begin 1 {unit}, wait {9 + unit}, compute 10_000, post {19 + unit}, end 1 {unit},"
        for unit in (1, 2)
    )
    builder = written(parent + "barrier 1 2", children + "barrier 1 2")
    assert replay(builder, 0, 1).total("units_executed") == 3
    # One PU for both streams changes nothing but the time.
    assert replay(builder, 0, 0).total("units_executed") == 3


def test_two_threads_on_one_pu_take_turns() -> None:
    result = replay(written(*["compute 300_000," * 100] * 2), 0, 0)
    assert clocks(result) > 2 * 100 * 300_000 / SPEC.core.base_ipc
    assert result.total("context_switches") > 5
    alone = result.of_workers("cycles")
    assert alone[0] == pytest.approx(alone[1], rel=0.1)


def test_a_run_that_a_time_slice_cuts_goes_on_after_it_though_its_line_is_lost() -> None:
    """Two threads share a PU with slices of 100,000 clocks, one instruction each. The first is in
    the middle of a run of 100 stores when its slice is over; another core then takes the line.
    """
    builder = TraceBuilder()
    first, second, other = (builder.stream() for _ in range(3))
    builder.compute(first, gap=50_000)
    builder.access(first, BASE, reads=0, writes=100, span=60_000, flags=FIRST_WRITE)
    builder.compute(first, gap=60_000)
    builder.compute(second, gap=90_000)
    builder.compute(other, gap=150_000)
    builder.access(other, BASE, reads=0, writes=1, flags=FIRST_WRITE)
    run = core.Simulation(machine_model(VICTIM), core.Program(builder.build()), [0, 0, 1])
    run.run()
    run.check()
    assert counts(run, "context_switches") == [1, 1, 0]
    assert counts(run, "data_cache_stores") == [100, 0, 1]
    assert counts(run, "coherence_misses") == [1, 0, 0]
    assert counts(run, "invalidations_received") == [
        0,
        1,
        1,
    ]  # of the core, while the second has it


def test_computing_longer_than_a_time_slice_is_not_begun_anew_in_every_slice() -> None:
    gap = 100_000_000  # tens of slices
    result = replay(written(*[f"compute {gap}"] * 3), 0, 0, 0)
    alone = 3 * gap / SPEC.core.base_ipc
    assert alone <= clocks(result) < 1.01 * alone
    assert result.total("instructions") == 3 * gap
    assert result.total("context_switches") > 10


def test_threads_with_long_gaps_that_share_a_pu_finish_after_one_has_moved() -> None:
    gap = 2**32 - 1
    builder = TraceBuilder()
    builder.event(builder.stream(), 8, 1 << 20, gap, 0, 1, 65535, 65535, 106)
    for stream in [builder.stream() for _ in range(2)]:
        builder.event(stream, 6, (1 << 42) - 1, gap, 0, 0, 5, 1, 93)
        builder.event(stream, 11, 2, 42, 65535, 2, 65535, 0, 195)
        builder.event(stream, 12, 1, 45, 65535, 2, 0, 0, 17)
        builder.event(stream, 7, 1 << 20, gap, 0, 3, 0, 0, 83)
    run = simulation(builder, 30, 30, 30)
    assert not run.advance(1000)
    run.bind(0, 12)
    run.run()
    assert run.progress == 1.0


def test_what_is_posted_after_the_region_does_not_keep_it_from_ending() -> None:
    builder = written("enter, compute 1000, leave, post 5", "wait 5, compute 1_000_000")
    assert clocks(replay(builder, 0, 1)) == pytest.approx(1000 / SPEC.core.base_ipc, rel=0.01)


def test_smt_siblings_slow_each_other_down() -> None:
    spec = load_preset("xeon-e5-2650")
    trace = written(*["compute 1_000_000"] * 2).build()
    apart = simulate(spec, trace, cpus(0, 1)).roi_ns
    together = simulate(spec, trace, cpus(0, 16)).roi_ns
    assert together == pytest.approx(apart * spec.core.smt_slowdown, rel=0.01)


@pytest.mark.parametrize(
    ("threads", "said"),
    [
        (  # after a post: both hold their first lock here
            ("lock 1, post 5, wait 6, lock 2", "lock 2, post 6, wait 5, lock 1"),
            (
                "stream 0, event 3: lock of 2, held by stream 1",
                "stream 1, event 3: lock of 1, held by stream 0",
            ),
        ),
        (
            ("share 1, post 5, wait 7", "wait 5, lock 1, post 7"),
            ("stream 1, event 1: lock of 1, held by stream 0, event 0",),
        ),
        (  # the first holds the lock that the other needs to come to its post
            ("lock 9, post 5, wait 7", "wait 5, lock 9, post 7"),
            (
                "stream 0, event 2: await of token 7 of stream 1, event 2",
                "stream 1, event 1: lock of 9, held by stream 0, event 0",
            ),
        ),
    ],
    ids=["two locks", "a reader's lock", "a lock and an await"],
)
def test_a_deadlock_names_every_blocked_event_and_who_would_end_it(
    threads: tuple[str, ...], said: tuple[str, ...]
) -> None:
    with pytest.raises(SimulationError) as caught:
        replay(written(*threads), 0, 1)
    assert all(each in str(caught.value) for each in said)


def malformed(make: Callable[[TraceBuilder, int], object]) -> TraceBuilder:
    builder = TraceBuilder()
    make(builder, builder.stream())
    return builder


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda b, s: b.unlock(s, 4), "event 0: unlock of 4, which nobody holds"),
        (lambda b, s: b.wait(s, 4), "token 4 is awaited but never posted"),
        (lambda b, s: b.barrier(s, 4, 2), "barrier 4, 1 of 2 have arrived"),
        (lambda b, s: b.barrier(s, 4, 0), "a barrier for no thread"),
        (lambda b, s: b.access(s, 1 << 42), "beyond 48 bits"),
        (lambda b, s: b.access(s, 1, 0, 0), "an access burst without accesses"),
        (lambda b, s: b.unit_end(s, 1, 1), "a work unit ends that did not begin"),
        (lambda b, s: b.unit_begin(s, 1, 1), "a work unit does not end"),
        (lambda b, s: (b.post(s, 1), b.post(s, 1)), "token 1 is posted twice"),
    ],
)
def test_a_malformed_trace_is_an_error_that_says_where(
    make: Callable[[TraceBuilder, int], object], message: str
) -> None:
    builder = malformed(make)
    with pytest.raises(SimulationError, match=message):
        replay(builder, 0)


def test_a_pu_the_machine_lacks_is_an_error_with_both_numbers() -> None:
    with pytest.raises(PlacementError, match="has no PU 48; its 48 PUs go from 0 to 47"):
        replay(malformed(lambda b, s: b.compute(s)), 48)


def simulation(builder: TraceBuilder, *pus: int) -> core.Simulation:
    return core.Simulation(machine_model(SPEC), core.Program(builder.build()), list(pus))


def test_a_thread_that_moves_finds_its_caches_cold() -> None:
    builder = TraceBuilder()
    stream = builder.stream()
    lines = region(8)
    for _ in range(200):
        for line in lines:
            builder.access(stream, line, gap=20)
    stays, moves = simulation(builder, 0), simulation(builder, 0)
    for run in (stays, moves):
        assert not run.advance(300_000)
    moves.bind(0, 13)
    assert stays.run()
    assert moves.run()
    (cold,), (warm,) = (
        counts(run, "data_cache_refills_from_northbridge") for run in (moves, stays)
    )
    assert cold - warm == len(lines)
    assert counts(moves, "migrations") == [1]
    assert moves.elapsed_ns > stays.elapsed_ns
    moves.check()


def test_a_page_moves_to_the_node_asked_for_and_is_read_there() -> None:
    builder = TraceBuilder()
    stream = builder.stream()
    write_all(builder, stream, region(1))
    builder.compute(stream, gap=1_000_000)
    for line in region(1):
        builder.access(stream, line)
    run = simulation(builder, 0)
    run.advance(100_000)
    page = BASE // 64
    assert run.node_of_page(page) == 0
    assert run.move_page(page, 3) > 0
    assert run.move_page(page, 3) == 0  # there already
    assert run.move_page(page + 999, 3) == 0  # untouched
    assert run.node_of_page(page) == 3
    run.check()
    run.run()
    assert counts(run, "dram_reads_remote") == [64]
    with pytest.raises(SimulationError, match="no node 8; the machine has 8"):
        run.move_page(page, 8)
