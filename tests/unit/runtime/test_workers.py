"""Who computes and who only serves, by CPU time alone."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.model.counters import CounterSample
from autofinity.ports import Interval, ThreadEvent
from autofinity.runtime.workers import Workers

MS = 1_000_000


def look(
    used_ms: Mapping[int, int], begin: tuple[int, ...] = (), end: tuple[int, ...] = ()
) -> Interval:
    """100 ms in which thread n (tid 100 + n) used `used_ms[n]`."""
    events = [ThreadEvent("end", n, 100 + n, 0) for n in end]
    events += [ThreadEvent("begin", n, 100 + n, 0) for n in begin]
    samples = tuple(
        CounterSample(100 + n, 0, 100 * MS, {"task_clock_ns": ms * MS}, 100 * MS, 100 * MS)
        for n, ms in used_ms.items()
    )
    return Interval(0, 100 * MS, samples, tuple(events))


def after(*looks: Interval) -> Workers:
    workers = Workers()
    for interval in looks:
        workers = workers.after(interval)
    return workers


def test_threads_with_a_fair_share_compute_and_others_serve() -> None:
    workers = after(look({0: 1, 1: 100, 2: 80, 3: 15}, begin=(0, 1, 2, 3)))
    assert workers.computing == (1, 2)
    assert workers.tids == {101, 102}
    assert len(workers.alive) == 4


def test_a_thread_wants_as_much_however_long_the_pmu_counted_it() -> None:
    """All counts of a sample are of the time that the PMU counted, those of the kernel, too."""
    counted = CounterSample(100, 0, 100 * MS, {"task_clock_ns": 9 * MS}, 60 * MS, 6 * MS)
    begun = tuple(ThreadEvent("begin", n, 100 + n, 0) for n in (0, 1))
    whole = CounterSample(101, 0, 100 * MS, {"task_clock_ns": 90 * MS}, 60 * MS, 60 * MS)
    workers = after(Interval(0, 100 * MS, (counted, whole), begun))
    assert workers.computing == (0, 1)
    assert workers.demand.shares == {0: 0.9, 1: 0.9}


def starved(times_ms: Mapping[int, tuple[int, int]]) -> Interval:
    """100 ms in which thread n, new, was on a CPU and waited for one as long as `times_ms[n]`."""
    samples = tuple(
        CounterSample(
            100 + n,
            0,
            100 * MS,
            {"task_clock_ns": had * MS, "run_delay_ns": waited * MS},
            100 * MS,
            100 * MS,
        )
        for n, (had, waited) in times_ms.items()
    )
    events = tuple(ThreadEvent("begin", n, 100 + n, 0) for n in times_ms)
    return Interval(0, 100 * MS, samples, events)


def test_on_a_crowded_machine_waiting_for_a_cpu_counts_as_computing() -> None:
    assert after(starved({0: (5, 90), 1: (4, 95), 2: (0, 80)})).computing == (0, 1)


def test_who_hardly_runs_is_no_worker_though_each_wake_up_waits() -> None:
    assert after(starved({0: (50, 50), 1: (50, 50), 2: (1, 60)})).computing == (0, 1)


def test_a_program_that_merely_blinks_has_no_workers() -> None:
    assert after(look({0: 5, 1: 4}, begin=(0, 1))).computing == ()


def test_a_worker_that_waits_now_and_then_stays_one() -> None:
    start = look({0: 100, 1: 100}, begin=(0, 1))
    waits = [look({0: 100, 1: 0})] * 29
    assert after(start, *waits).computing == (0, 1)
    assert after(start, *waits, look({0: 100, 1: 100}), *waits).computing == (0, 1)


def test_a_worker_that_is_done_is_none_any_more() -> None:
    start = look({0: 100, 1: 100}, begin=(0, 1))
    assert after(start, *[look({0: 100, 1: 0})] * 30).computing == (0,)


def test_nobody_loses_his_place_while_all_wait() -> None:
    start = look({0: 100, 1: 100}, begin=(0, 1))
    assert after(start, *[look({0: 0, 1: 0})] * 50).computing == (0, 1)


def test_a_number_that_is_used_again_begins_anew() -> None:
    start = look({0: 100, 1: 100}, begin=(0, 1))
    again = look({0: 100}, end=(1,), begin=(1,))
    assert after(start, again).computing == (0,)
    assert after(start, look({0: 100}, end=(1,))).alive == ((0, 100),)
