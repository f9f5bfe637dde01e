"""Looking at a program is cheap in the long run and quick at the beginning."""

from __future__ import annotations

from autofinity.linux.look_budget import LookBudget

MS = 1_000_000


def test_the_first_looks_wait_for_nothing_until_they_have_cost_what_was_granted() -> None:
    budget = LookBudget(30 * MS, 0)
    for _ in range(3):
        assert budget.rest_ns(0) == 0
        budget.spend(10 * MS)
    assert budget.rest_ns(0) == 0
    budget.spend(10 * MS)
    assert budget.rest_ns(0) == 1000 * MS


def test_in_the_long_run_looks_take_a_hundredth_of_a_core_whatever_they_cost() -> None:
    for cost in (MS, 7 * MS, 450 * MS):
        budget, now, spent = LookBudget(100 * MS, 0), 0, 0
        for _ in range(1000):
            now += cost + max(100 * MS, budget.rest_ns(now))
            budget.spend(cost)
            spent += cost
        assert spent <= 100 * MS + now / 100 + cost
        if cost > MS:  # a cheap one comes as often as it is asked for
            assert spent > 0.95 * now / 100


def test_a_long_silence_earns_no_more_than_was_granted_at_first() -> None:
    budget = LookBudget(10 * MS, 0)
    budget.spend(10 * MS)
    assert budget.rest_ns(10**15) == 0
    budget.spend(11 * MS)
    assert budget.rest_ns(10**15) == 100 * MS
