"""A part of the pages on trial: what looks that vary are evidence of."""

from __future__ import annotations

import random

import pytest

from autofinity.model.counters import Behaviour
from autofinity.runtime.before_after import FEWEST, LOOKS
from autofinity.runtime.looks import Look
from autofinity.runtime.part_first import LOOK_NS, Loss, PartFirst

SMALL, LARGE = 1 / 22, 1 / 8
"""Shares of all memory that parts are."""
TOTAL_BYTES = 1 << 30
NEEDED = 0.05


def look(rate: float) -> Look:
    return Look(Behaviour({"instructions": rate}), LOOK_NS, all_at_work=True)


def loss_found(loss: float, noise: float, share: float, seed: int) -> Loss:
    """The loss that a trial of a program finds whose rates vary so much from look to look."""
    rates, part = random.Random(seed), PartFirst()
    while not part.may_move(share, NEEDED):
        part = part.saw(look(1e9 * rates.gauss(1, noise)), counts=True)
    part = part.moved(round(share * TOTAL_BYTES))
    gain = loss * share
    for _ in range(1 + LOOKS):
        part = part.saw(look(1e9 * (1 + gain) * rates.gauss(1, noise)), counts=True)
        found = part.loss(TOTAL_BYTES, NEEDED)
        if found is not None:
            return found
    raise AssertionError("no result after the last look")


def share_that_moves(loss: float, noise: float, share: float, trials: int = 200) -> float:
    moves = sum(loss_found(loss, noise, share, seed).evident >= NEEDED for seed in range(trials))
    return moves / trials


@pytest.mark.parametrize("noise", [0.005, 0.025])
@pytest.mark.parametrize("share", [SMALL, LARGE])
def test_pages_that_gain_nothing_seldom_seem_to_pay(noise: float, share: float) -> None:
    """Were the mean taken for likely, up to half of these trials would move all pages."""
    assert share_that_moves(0.0, noise, share) < 0.25


@pytest.mark.parametrize(("noise", "share"), [(0.002, SMALL), (0.005, LARGE), (0.025, LARGE)])
def test_a_large_loss_is_found(noise: float, share: float) -> None:
    assert share_that_moves(0.3, noise, share) > 0.9


def test_the_upper_boundary_allows_what_looks_do_not_exclude() -> None:
    found = loss_found(0.0, 0.025, SMALL, seed=2)
    assert found.evident < NEEDED < found.most


def test_rates_that_vary_little_need_few_looks_before_and_others_as_many_as_after() -> None:
    for noise, looks in ((0.0, FEWEST), (0.1, LOOKS)):
        rates, part, count = random.Random(1), PartFirst(), 0
        while not part.may_move(LARGE, NEEDED):
            part, count = part.saw(look(1e9 * rates.gauss(1, noise)), counts=True), count + 1
        assert count == looks


def test_looks_in_which_not_even_the_loss_of_all_time_would_show_are_no_result() -> None:
    part = PartFirst()
    for rate in (1e9, 9e9, 1e9, 9e9):
        part = part.saw(look(rate), counts=True)
    part = part.moved(1)
    for rate in (1e9, *(9e9, 1e9) * LOOKS):
        part = part.saw(look(rate), counts=True)
    assert part.loss(TOTAL_BYTES, NEEDED) is None
