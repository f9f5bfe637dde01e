"""A part of the pages on trial: what looks that vary are evidence of."""

from __future__ import annotations

import random

from autofinity.model.counters import Behaviour
from autofinity.runtime.before_after import FEWEST, LOOKS
from autofinity.runtime.looks import Look
from autofinity.runtime.part_first import LOOK_NS, Loss, PartFirst

TOTAL_BYTES, PART_BYTES = 22 << 20, 1 << 20
NEEDED = 0.05


def look(rate: float) -> Look:
    return Look(Behaviour({"instructions": rate}), LOOK_NS, all_at_work=True)


def loss_found(loss: float, noise: float, seed: int) -> Loss:
    """The loss that a trial of a program finds whose rates vary so much from look to look."""
    rates, part = random.Random(seed), PartFirst()
    gain = loss * PART_BYTES / TOTAL_BYTES
    for _ in range(FEWEST):
        part = part.saw(look(1e9 * rates.gauss(1, noise)), counts=True)
    part = part.moved(PART_BYTES)
    for _ in range(1 + LOOKS):
        part = part.saw(look(1e9 * (1 + gain) * rates.gauss(1, noise)), counts=True)
        found = part.loss(TOTAL_BYTES, NEEDED)
        if found is not None:
            return found
    raise AssertionError("no result after the last look")


def test_pages_that_gain_nothing_seldom_seem_to_pay_however_much_looks_vary() -> None:
    """Were the mean taken for likely, nearly half of these trials would move all pages."""
    for noise in (0.005, 0.025, 0.1):
        moves = sum(loss_found(0.0, noise, seed).evident >= NEEDED for seed in range(200))
        assert moves < 200 * 0.25


def test_a_large_loss_is_found_where_looks_vary_less_than_the_part_gains() -> None:
    for seed in range(50):
        assert loss_found(0.4, 0.002, seed).evident > 2 * NEEDED


def test_the_upper_boundary_allows_what_looks_do_not_exclude() -> None:
    found = loss_found(0.0, 0.025, seed=1)
    assert found.evident < NEEDED < found.most
