"""The guard undoes what does not pay, and never by a rate that measures nothing."""

from __future__ import annotations

import random

import pytest

from autofinity.runtime.guard import Guard
from autofinity.runtime.phases import Phase


def guarded(before: list[float], after: list[float]) -> Guard:
    guard = Guard()
    for rate in before:
        guard = guard.saw_before(rate)
    for rate in after:
        guard = guard.saw_after(rate)
    return guard


def noisy(mean: float, spread: float, count: int, seed: int) -> list[float]:
    source = random.Random(seed)
    return [mean * (1 + source.gauss(0, spread)) for _ in range(count)]


@pytest.mark.parametrize(
    ("before", "since", "verdict", "undone"),
    [
        (noisy(1.0, 0.02, 8, 1), noisy(1.3, 0.02, 13, 2), "better", False),
        (noisy(1.0, 0.02, 8, 1), noisy(0.8, 0.02, 13, 2), "worse", True),
        ([1.0, 1.01, 0.99, 1.0] * 2, [1.0, 0.99, 1.01, 1.0] * 4, "same", True),
    ],
    ids=["a clear gain", "a clear loss", "no difference after the last look"],
)
def test_what_is_not_better_in_the_end_is_undone(
    before: list[float], since: list[float], verdict: str, undone: bool
) -> None:
    guard = guarded(before, since)
    assert (guard.verdict, guard.undo) == (verdict, undone)


@pytest.mark.parametrize("rate", [float("nan"), float("inf"), 0.0, -1.0])
def test_rates_that_measure_nothing_are_not_taken_in(rate: float) -> None:
    assert guarded([1.0] * 8, [rate] * 50) == guarded([1.0] * 8, [])


def test_a_verdict_stands() -> None:
    guard = guarded([1.0, 1.01] * 4, [1.5, 1.51] * 4)
    assert guard.verdict == "better"
    assert guard.saw_after(0.1).verdict == "better"


def test_looking_each_time_seldom_finds_a_difference_that_is_not_there() -> None:
    wrong = 0
    for seed in range(400):
        guard = guarded(noisy(1.0, 0.05, 8, seed), noisy(1.0, 0.05, 13, seed + 10_000))
        wrong += guard.verdict in ("better", "worse")
    assert wrong / 400 < 0.15  # nominal 5 %; few samples make the normal boundary too narrow


SLOW, FAST = Phase({"llc_requests": 40.0}), Phase({"llc_requests": 4.0})


def phased(gain: float) -> Guard:
    """A program with a slow and a fast phase, in turn; afterwards mostly the slow one."""
    source, guard = random.Random(1), Guard()

    def rate(phase: Phase) -> float:
        return (1.0 if phase == SLOW else 3.0) * (1 + source.gauss(0, 0.01))

    for phase in (SLOW, FAST) * 4:
        guard = guard.saw_before(rate(phase), phase)
    for phase in (SLOW, SLOW, SLOW, FAST) * 8:
        guard = guard.saw_after(gain * rate(phase), phase)
    return guard


@pytest.mark.parametrize(("gain", "verdict"), [(1.1, "better"), (0.9, "worse")])
def test_before_and_after_are_compared_over_the_same_phase(gain: float, verdict: str) -> None:
    assert phased(gain).verdict == verdict
    assert phased(1.0).verdict not in ("better", "worse")


def test_a_phase_that_was_not_seen_before_tells_nothing() -> None:
    slow_only = Guard()
    for _ in range(8):
        slow_only = slow_only.saw_before(1.0, FAST)
    for _ in range(20):
        slow_only = slow_only.saw_after(0.3, SLOW)
    assert (slow_only.rates.after, slow_only.verdict) == ((), "undecided")


def test_what_scatters_too_much_to_tell_stands_unless_it_was_slower_by_a_standard_error() -> None:
    before = [0.9, 1.1] * 4
    faster = guarded(before, [0.94, 1.16] * 15)
    assert (faster.verdict, faster.undo) == ("unclear", False)
    as_good = guarded(before, [0.88, 1.08] * 15)
    assert (as_good.verdict, as_good.undo) == ("unclear", False)
    slower = guarded(before, [0.82, 1.02] * 15)
    assert (slower.verdict, slower.undo) == ("no better", True)


def test_a_slow_moment_counts_for_as_long_as_it_lasted() -> None:
    """A tenth of the time next to nothing is done, and a quarter more in the rest."""
    guard = Guard()
    for _ in range(8):
        guard = guard.saw_before(1.0, time=1.0)
    for number in range(20):
        slow = number % 4 == 1
        guard = guard.saw_after(0.1 if slow else 1.25, time=0.3 if slow else 0.9)
    assert (guard.verdict, guard.undo) == ("unclear", False)


def test_a_look_at_several_phases_is_compared_with_all_of_them() -> None:
    half = Phase({"llc_requests": 15.0})
    for rate, verdict in ((0.5, "worse"), (2.05, "unclear"), (6.0, "better")):
        guard = Guard()
        for phase, before in ((SLOW, 1.0), (FAST, 3.0)) * 4:
            guard = guard.saw_before(before, phase)
        for number in range(20):
            guard = guard.saw_after(rate * (1 + 0.01 * (number % 2)), half)
        assert guard.verdict == verdict
