"""The looks that a run keeps on record: few, whatever the run lasts, and nothing is lost in sum."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from autofinity.model.timeline import TimelineStep
from autofinity.runtime.look_series import MOST_LOOKS, MOST_THREADS, LookSeries

LENGTHS = st.lists(
    st.tuples(st.integers(1, 10**10), st.sampled_from(["", "{2}", "{1}{1}"])), max_size=300
)


def look(start_ns: int, end_ns: int, **counts: float) -> TimelineStep:
    return (
        TimelineStep(start_ns, end_ns, {0: counts})
        if counts
        else TimelineStep(start_ns, end_ns, {})
    )


@given(LENGTHS)
def test_at_most_64_looks_cover_the_whole_run_and_have_all_its_counts(
    lengths: list[tuple[int, str]],
) -> None:
    series, now = LookSeries(), 0
    for length, place in lengths:
        series.add(look(now, now + length, instructions=float(length)), place)
        now += length
    kept = series.looks()
    assert len(kept) == min(len(lengths), len(kept)) <= MOST_LOOKS
    assert [each.start_ns for each in kept] == [0, *(each.end_ns for each in kept)][: len(kept)]
    assert (kept[-1].end_ns if kept else 0) == now
    counted = sum(each.counts[0]["instructions"] for each in kept)
    assert counted == sum(length for length, _ in lengths)


def test_looks_before_and_after_a_move_are_not_put_together() -> None:
    series = LookSeries()
    for at in range(1000):
        series.add(look(at, at + 1, instructions=1.0), "" if at < 7 else "{2}")
    kept = series.looks()
    assert len(kept) == MOST_LOOKS
    assert max(each.end_ns for each in kept if each.place == "") == 7
    assert min(each.start_ns for each in kept if each.place == "{2}") == 7


def test_the_record_is_due_soon_after_a_change_of_place_then_ever_more_rarely() -> None:
    series, due = LookSeries(), []
    assert not series.is_due
    for at in range(300):
        series.add(look(at, at + 1), "" if at < 100 else "{2}")
        if series.is_due:
            due.append(at + 1)
    powers = [2**power for power in range(7)]
    assert due == [*powers, *(100 + each for each in powers), 100 + 128, 100 + 192]


def test_counts_that_pages_do_not_show_and_threads_beyond_64_are_not_kept() -> None:
    series = LookSeries()
    kept_counts = {"instructions": 1.0, "dram_reads_node_3": 3.0}
    everyone = {number: {**kept_counts, "cycles": 2.0} for number in range(100)}
    series.add(TimelineStep(0, 1, everyone), "")
    (kept,) = series.looks()
    assert list(kept.counts) == list(range(MOST_THREADS))
    assert kept.counts[0] == kept_counts


def test_a_count_that_was_not_measured_in_part_of_a_look_is_not_known() -> None:
    series = LookSeries()
    for at in range(MOST_LOOKS + 1):
        count = math.nan if at == 0 else 1.0
        series.add(look(at, at + 1, instructions=count), "")
    first = series.looks()[0]
    assert first.end_ns == 2
    assert math.isnan(first.counts[0]["instructions"])
