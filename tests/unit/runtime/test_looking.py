"""Looking costs at most 0.3 % of a minute, and comes further and further apart."""

from __future__ import annotations

import pytest
from made_up_machine import machine

from autofinity.model.topology import Cache
from autofinity.runtime.looking import SHARE, LookCosts, refill_ns

S = 1_000_000_000


def test_a_run_may_be_sampled_for_so_long_as_costs_three_thousandths_of_a_minute() -> None:
    costs = LookCosts()
    left_s = costs.sample_left_ns(0) / S
    assert left_s == pytest.approx(2.25)
    spent = costs.sampled(round(left_s * S))
    assert spent.spent_ns == pytest.approx(SHARE * 60 * S)
    assert spent.sample_left_ns(60 * S) == pytest.approx(0, abs=1)


def test_moves_count_and_a_longer_run_earns_more() -> None:
    spent = LookCosts().moved(0.18 * S)
    assert spent.sample_left_ns(60 * S) == pytest.approx(0, abs=1)
    assert spent.sample_left_ns(120 * S) == pytest.approx(2.25 * S)


def test_a_move_fills_each_threads_share_of_a_cache_anew() -> None:
    small = machine(packages=2, caches=(Cache(3, 10_000_000, 64, 16, 4),))
    assert refill_ns(small, 2) == pytest.approx(5_000_000 / 5e9 * 1e9)
    assert refill_ns(machine(), 4) == 0  # no cache is known
