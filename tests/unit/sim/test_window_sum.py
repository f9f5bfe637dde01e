"""Windows of a sampled trace add up to the time and counts of the region."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.sim.likeness import Floats, Intervals, covering_order
from autofinity.sim.window_sum import RegionWork, TimedWindow, WorkLine, estimate, relative_error

WORK = 1_000.0
INTERVAL = 25.0
WINDOWS = ((100.0, 150.0), (400.0, 450.0), (800.0, 850.0))


def region(
    shares: tuple[float, ...],
    meetings: tuple[float, ...] = (),
    met: tuple[float, ...] | None = None,
    windows: tuple[tuple[float, float], ...] = WINDOWS,
    writing: tuple[int, ...] = (),
    parts: Floats | None = None,
) -> RegionWork:
    """Streams that do `shares` instructions a unit of work, evenly over the region; in intervals
    `writing` all touches are writes, in others none. `parts`: of two streams in the work of each
    interval, [intervals, streams].
    """
    points = np.array([0.0, WORK])
    kept = np.array([0.0, *meetings, WORK])
    return RegionWork(
        WorkLine(points, points[:, None] * np.array(shares)[None, :]),
        np.array(windows),
        kept,
        np.arange(len(kept), dtype=float) if met is None else np.array(met),
        intervals(writing, parts),
    )


def intervals(writing: tuple[int, ...] = (), parts: Floats | None = None) -> Intervals:
    number = round(WORK / INTERVAL)
    touches = np.full((number, 16), 10.0)
    writes = np.zeros(number)
    writes[list(writing)] = 160.0
    even = np.full((number, 2), 0.5)
    return Intervals.of(
        INTERVAL,
        touches,
        writes,
        np.full(number, 500.0),
        np.full(number, 2.0),
        even if parts is None else parts,
    )


def window(
    number: int,
    time_ns: float,
    instructions: tuple[int, ...],
    idle_ns: tuple[float, ...] | None = None,
    blocked_ns: tuple[float, ...] | None = None,
) -> TimedWindow:
    counts = np.array([[done, 2 * done] for done in instructions], dtype=np.uint64)
    nothing = np.zeros(len(instructions))
    idle = nothing if idle_ns is None else np.array(idle_ns)
    blocked = nothing if blocked_ns is None else np.array(blocked_ns)
    return TimedWindow(number, time_ns, counts, idle, blocked)


def test_windows_of_one_rate_give_the_region_at_that_rate_without_error() -> None:
    found = estimate(region((1, 1)), [window(k, 100.0, (50, 50)) for k in range(3)])
    assert found.roi_ns == pytest.approx(2_000.0)
    assert found.error == pytest.approx(0.0)
    assert found.totals == pytest.approx(np.array([[1_000.0, 2_000.0]] * 2))
    assert found.progress == pytest.approx([0.275, 0.625, 1.0])


def test_the_slowest_stream_decides_between_meetings() -> None:
    # In the same time stream 0 did 100 of its 1,000 instructions, stream 1 only 25 of as many.
    found = estimate(region((1, 1)), [window(k, 100.0, (100, 25)) for k in range(3)])
    assert found.roi_ns == pytest.approx(4_000.0)


def test_a_stream_with_less_to_do_waits_for_the_others() -> None:
    found = estimate(region((1, 0.25)), [window(k, 100.0, (100, 100)) for k in range(3)])
    assert found.roi_ns == pytest.approx(1_000.0)


def test_waits_at_meetings_between_which_a_window_lies_are_not_counted_twice() -> None:
    # Each stream is busy for 100 ns an 100 instructions; the window saw one of them wait.
    waited = [window(k, 200.0, (200, 100), (0.0, 100.0)) for k in range(3)]
    found = estimate(region((1, 0.5), meetings=(500.0,)), waited)
    assert found.roi_ns == pytest.approx(1_000.0)


def test_streams_that_meet_all_the_time_take_the_windows_own_time() -> None:
    waited = [window(k, 200.0, (100, 100), (100.0, 100.0)) for k in range(3)]
    found = estimate(region((1, 1), met=(0.0, 5_000.0)), waited)
    assert found.roi_ns == pytest.approx(2_000.0)


def test_a_stretch_goes_at_the_rate_of_its_own_window() -> None:
    timed = [window(0, 50.0, (50,)), window(1, 100.0, (50,)), window(2, 50.0, (50,))]
    found = estimate(region((1,)), timed)
    assert found.stretch_ns == pytest.approx([275.0, 700.0, 375.0])
    assert found.error > 0.1


def test_counts_have_the_error_by_which_rates_of_windows_that_are_most_alike_differ() -> None:
    # The second count of windows 0 and 2, whose nearest window is 1, is 2 an instruction, of 1, 4.
    timed = [window(k, 50.0, (50,)) for k in range(3)]
    timed[1].counts[0, 1] *= 2
    found = estimate(region((1,)), timed)
    done = np.array([275.0, 350.0, 375.0])
    assert found.totals[0] == pytest.approx([1_000.0, 2 * done.sum() + 2 * done[1]])
    assert found.misfits.counts[:, 0] == pytest.approx(0.0)
    assert np.abs(found.misfits.counts[:, 1]) == pytest.approx(2 * done)
    wanted = 2 * np.sqrt((done**2).sum() / 2) / found.totals[0, 1]
    assert relative_error(found.misfits.counts[:, 1], found.totals[0, 1]) == pytest.approx(wanted)


def test_rates_of_a_stream_are_compared_with_its_own_in_another_window() -> None:
    # Streams count unlike each other, and each alike in all windows, whoever does how much there.
    timed = [window(k, 50.0, done) for k, done in enumerate(((40, 10), (25, 25), (10, 40)))]
    for each in timed:
        each.counts[1, 1] *= 5
    found = estimate(region((1, 1)), timed)
    assert found.misfits.counts == pytest.approx(0.0)


def test_a_longer_region_has_the_same_relative_error() -> None:
    timed = [window(0, 50.0, (50,)), window(1, 100.0, (50,)), window(2, 50.0, (50,))]
    found = estimate(region((1,)), timed)
    longer = found.lasting(2 * found.roi_ns)
    assert relative_error(longer.misfits.ns, longer.roi_ns) == pytest.approx(found.error)


def test_one_window_has_no_error_and_says_so() -> None:
    found = estimate(region((1,), windows=WINDOWS[:1]), [window(0, 50.0, (50,))])
    assert np.isnan(found.error)
    assert np.isnan(relative_error(found.misfits.counts[:, 1], float(found.totals[0, 1])))


def test_intervals_go_at_the_rate_of_the_window_that_they_are_most_like() -> None:
    # Windows 0 and 2 write, and so do the intervals around window 1: it stands for the others.
    writing = (4, 5, 14, 15, 18, 19, 20, 32, 33)
    timed = [window(0, 50.0, (50,)), window(1, 100.0, (50,)), window(2, 50.0, (50,))]
    found = estimate(
        region((1,), windows=((100, 150), (425, 450), (800, 850)), writing=writing), timed
    )
    slow = WORK - len(writing) * INTERVAL
    assert found.roi_ns == pytest.approx(2 * slow + len(writing) * INTERVAL)


def test_intervals_in_which_other_streams_do_the_work_go_by_windows_with_these_streams() -> None:
    # Stream 0 does most of the work in every other tenth of the region, stream 1 in the others.
    tenth = np.arange(round(WORK / INTERVAL)) // 4
    first = np.where(tenth % 2 == 0, 0.75, 0.25)
    windows = ((0.0, 50.0), (100.0, 150.0))
    timed = [window(0, 50.0, (38, 12)), window(1, 150.0, (12, 38))]
    found = estimate(
        region((0.5, 0.5), windows=windows, parts=np.stack([first, 1 - first], axis=1)), timed
    )
    assert found.progress == pytest.approx([0.5, 1.0])


def test_the_parts_of_streams_in_the_work_are_those_between_meetings() -> None:
    line = WorkLine(np.array([0.0, 100.0, 200.0]), np.array([[0, 0], [60, 20], [60, 120]], float))
    found = line.parts(np.array([0.0, 50.0, 100.0, 150.0, 200.0, 250.0]))
    quarter, none = [0.75, 0.25], [0.0, 0.0]
    assert found == pytest.approx(np.array([quarter, quarter, [0, 1], [0, 1], none]))


def test_waits_at_barriers_are_not_taken_from_windows_in_which_streams_also_wait_at_locks() -> None:
    # Stream 1 came late in the capture: in the window stream 0 waits for it at the barrier.
    timed = [window(k, 200.0, (100, 100), (90.0, 0.0), (10.0, 100.0)) for k in range(3)]
    found = estimate(region((1, 0.5), meetings=(500.0,)), timed)
    assert found.roi_ns == pytest.approx(1_100.0)


def test_streams_that_wait_for_each_other_at_locks_take_the_windows_own_time() -> None:
    blocked = [window(k, 100.0, (100, 25), blocked_ns=(0.0, 75.0)) for k in range(3)]
    assert estimate(region((1, 0.25)), blocked).roi_ns == pytest.approx(1_000.0)


def test_a_stream_that_did_nothing_in_a_window_goes_at_its_rate_in_others() -> None:
    timed = [window(0, 100.0, (50, 25)), window(1, 100.0, (50, 0)), window(2, 100.0, (50, 25))]
    assert estimate(region((1, 1)), timed).roi_ns == pytest.approx(4_000.0)


def test_what_a_stream_did_in_no_window_counts_as_what_the_others_did() -> None:
    timed = [window(k, 100.0, (100, 0)) for k in range(3)]
    found = estimate(region((1, 1)), timed)
    assert found.totals == pytest.approx(np.array([[1_000.0, 2_000.0]] * 2))


def test_the_first_windows_in_order_are_like_most_of_the_region() -> None:
    # A third of the intervals write, and of six windows two do.
    writing = tuple(range(13))
    where = np.array([(100.0 + 150 * k, 125.0 + 150 * k) for k in range(6)])
    order = covering_order(intervals(writing), where)
    assert sorted(order) == list(range(6))
    assert {each < 2 for each in order[:2]} == {True, False}
    assert covering_order(intervals(), where[:0]) == []


def test_no_window_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        estimate(region((1,)), [])


@given(
    st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500)), min_size=3, max_size=3),
    st.lists(st.floats(1.0, 999.0), max_size=5, unique=True).map(sorted),
)
def test_the_order_of_windows_changes_nothing(
    done: list[tuple[int, int]], meetings: list[float]
) -> None:
    timed = [window(k, 100.0, pair) for k, pair in enumerate(done)]
    where = region((1, 1), tuple(meetings))
    results = [estimate(where, order).roi_ns for order in itertools.permutations(timed)]
    assert len(set(results)) == 1


@given(
    st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500)), min_size=3, max_size=3),
    st.lists(st.floats(1.0, 999.0), max_size=5, unique=True).map(sorted),
)
def test_more_meetings_never_make_a_region_shorter(
    done: list[tuple[int, int]], meetings: list[float]
) -> None:
    timed = [window(k, 100.0, pair) for k, pair in enumerate(done)]
    free = estimate(region((1, 1)), timed).roi_ns
    assert estimate(region((1, 1), tuple(meetings)), timed).roi_ns >= free * (1 - 1e-9)
