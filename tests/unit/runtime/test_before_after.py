"""Rates before and after a change: what a mixture of phases does, and how often a verdict is
wrong.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from autofinity.runtime.before_after import LOOKS, BeforeAfter
from autofinity.runtime.mixture import Point, at_mixture
from autofinity.runtime.phases import Phase

TIMES = (1.0, 2.0, 1.3)
"""Seconds for a thousand instructions in three phases."""
KINDS: Mapping[str, Sequence[float]] = {
    "data_cache_loads": (350, 150, 260),
    "data_cache_stores": (12, 77, 20),
    "llc_requests": (40, 24, 60),
}


def mixed(shares: Sequence[float], noise: float = 0.0, counted: float = 1.0) -> tuple[float, Phase]:
    """Rate and phase of a look with such shares of its instructions in these phases, and so much
    of its events counted.
    """
    total = sum(shares)
    rate = total / sum(share * time for share, time in zip(shares, TIMES, strict=False))
    counts = {
        name: counted
        * sum(share * count for share, count in zip(shares, each, strict=False))
        / total
        for name, each in KINDS.items()
    }
    return rate * (1 + noise), Phase(counts)


def seen(
    rng: random.Random, gain: float, phases: int, noise: float, before: int = 6
) -> BeforeAfter:
    """Looks at mixtures by chance, until a verdict or the last test."""

    def look() -> tuple[float, Phase]:
        shares = [rng.random() for _ in range(phases)]
        return mixed(shares, rng.gauss(0, noise), 1 + rng.gauss(0, noise / 4))

    rates = BeforeAfter(of_instructions=True)
    for _ in range(before):
        rates = rates.saw_before(*look())
    while len(rates.after) < LOOKS:
        rate, phase = look()
        rates = rates.saw_after(rate * (1 + gain), phase)
        found = rates.difference
        if found is not None and (found.least > 0 or found.most < 0):
            break
    return rates


def test_two_phases_in_any_mixture_hide_no_difference_of_a_hundredth() -> None:
    rng = random.Random(1)
    for _ in range(50):
        found = seen(rng, 0.01, phases=2, noise=0.0).difference
        assert found is not None
        assert found.relative == pytest.approx(0.01, abs=0.005)
        assert found.least > 0


@pytest.mark.parametrize("phases", [1, 2, 3])
@pytest.mark.parametrize("noise", [0.0, 0.005, 0.02])
def test_where_nothing_changed_few_verdicts_say_that_something_did(
    phases: int, noise: float
) -> None:
    rng = random.Random(2)
    runs = 400
    wrong = 0
    for run in range(runs):
        found = seen(rng, 0.0, phases, noise, before=4 + 2 * (run % 3)).difference
        assert found is not None
        wrong += found.least > 0 or found.most < 0
    assert wrong / runs <= 0.09


@pytest.mark.parametrize("often", [3, 7, 15])
@pytest.mark.parametrize("after", ["A", "AB"])
def test_a_phase_that_was_seen_once_gives_few_wrong_verdicts(often: int, after: str) -> None:
    """One look at phase A and so many at B, then looks at A alone, or at both."""
    rng = random.Random(3)
    kinds = {"A": mixed([1, 0]), "B": mixed([0, 1])}
    runs, wrong = 400, 0
    for _ in range(runs):
        rates = BeforeAfter()
        for name in "A" + often * "B":
            rate, phase = kinds[name]
            rates = rates.saw_before(rate * (1 + rng.gauss(0, 0.005)), phase)
        found = None
        for number in range(LOOKS):
            rate, phase = kinds[after[number % len(after)]]
            rates = rates.saw_after(rate * (1 + rng.gauss(0, 0.005)), phase)
            found = rates.difference
            if found is not None and (found.least > 0 or found.most < 0):
                wrong += 1
                break
        assert found is not None
    assert wrong / runs <= 0.09


def test_a_mixture_is_taken_out_of_instructions_only() -> None:
    """Progress of threads that wait less, in other instructions: that is the gain itself."""
    for of_instructions in (False, True):
        rates = BeforeAfter(of_instructions=of_instructions)
        for number in range(8):
            rates = rates.saw_before(*mixed([1, 0.4 + 0.05 * (number % 2)]))
        for number in range(8):
            rates = rates.saw_after(*mixed([1, 0.3 + 0.05 * (number % 2)]))
        found = rates.difference
        assert found is not None
        assert (found.least > 0) is not of_instructions


def test_rates_of_one_mixture_are_as_they_were() -> None:
    before = [Point(1.0, 100, 1.0), Point(1.1, 100, 1.0)]
    assert at_mixture(before, before) is None


def test_rates_are_taken_to_the_earlier_mixture() -> None:
    """Phases with 100 and 200 events an instruction; the latter takes twice the time."""
    before = [Point(1.0, 100, 1.0), Point(0.5, 200, 1.0)]
    after = [Point(0.5, 200, 1.0), Point(1 / 1.5, 150, 1.0)]
    found = at_mixture(before, after)
    assert found is not None
    # Before, 1.5 units of work took 2 s.
    assert (*found.before, *found.after) == pytest.approx([0.75] * 4)
    assert found.error == pytest.approx(0, abs=1e-9)


def test_a_slope_that_would_leave_no_time_is_none() -> None:
    before = [Point(1.0, 100, 1.0), Point(2.0, 50, 1.0)]
    after = [Point(1.0, 1, 1.0), Point(0.1, 100, 1.0)]
    assert at_mixture(before, after) is None
