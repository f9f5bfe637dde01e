"""A sample is as many looks as its answer needs; a look with idle threads is none."""

from __future__ import annotations

import math

import pytest
from told_looks import LOOK_NS, interval, look

from autofinity.runtime.looks import look_of, mean_of, scatter
from autofinity.runtime.workers import Workers


def workers() -> Workers:
    return Workers().after(interval(0, 0.0, begins=True))


@pytest.mark.parametrize(
    ("used_ns", "at_work"),
    [
        ((LOOK_NS, LOOK_NS), True),
        ((LOOK_NS, LOOK_NS // 3), True),
        ((LOOK_NS, LOOK_NS // 6), True),
        ((LOOK_NS, LOOK_NS // 12), False),
        ((LOOK_NS, 0), False),
        ((0, 0), False),
    ],
    ids=[
        "both run",
        "one waits now and then",
        "a consumer",
        "one waits nearly all the time",
        "one does not run",
        "the program is stopped",
    ],
)
def test_nothing_is_decided_from_a_look_in_which_threads_were_not_all_at_work(
    used_ns: tuple[int, int], at_work: bool
) -> None:
    assert look_of(interval(LOOK_NS, 0.0, used_ns=used_ns), workers(), 2).all_at_work == at_work


def test_a_thread_that_was_not_there_all_the_time_was_not_at_work() -> None:
    seen = interval(LOOK_NS, 0.0)
    one = type(seen)(seen.start_ns, seen.end_ns, seen.samples[:1])
    assert not look_of(one, workers(), 2).all_at_work


def test_rates_are_those_of_the_computing_threads() -> None:
    seen = look_of(interval(LOOK_NS, 0.0, {"cycles": 2e9}), workers(), 2)
    assert seen.behaviour["cycles"] == 2e9
    assert seen.elapsed_ns == LOOK_NS


def test_longer_looks_count_more_and_what_was_not_measured_not_at_all() -> None:
    looks = [look({"cycles": 1.0}, 300), look({"cycles": 5.0}, 100), look({"cycles": math.nan})]
    assert mean_of(looks)["cycles"] == 2.0


def test_one_sample_says_nothing_of_its_scatter_and_equal_ones_have_none() -> None:
    assert scatter([{"ipc": 1.0}], ["ipc"]) == math.inf
    assert scatter([{"ipc": 1.0}] * 2, ["ipc"]) == 0
    assert scatter([{"ipc": math.nan}], ["ipc"]) == 0
    assert scatter([{"ipc": 1.0}], []) == 0


def test_scatter_is_half_the_interval_of_student() -> None:
    values = [{"ipc": 1.0}, {"ipc": 1.1}, {"ipc": 0.9}]
    assert scatter(values, ["ipc"]) == pytest.approx(4.30 * 0.1 / 3**0.5)
