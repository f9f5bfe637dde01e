"""Shares that no program can have are named, beside the answer that they lead to."""

from __future__ import annotations

import pytest

from autofinity.model.ratios import CATALOGUE, PARTS
from autofinity.policy.impossible import impossible_lines
from autofinity.policy.readable import number
from autofinity.workflow.policies import named_policy

ANY = named_policy("any-machine")


@pytest.mark.parametrize(("transfers", "said"), [(1e6, 0), (1.05e6, 0), (1.2e6, 1), (1e9, 1)])
def test_a_share_far_above_one_is_named_with_its_counters(transfers: float, said: int) -> None:
    sample = {"cache_to_cache_transfers_other_llc": transfers, "llc_requests": 1e6}
    lines = impossible_lines(ANY, sample)
    assert len(lines) == said
    for line in lines:
        assert line.startswith(
            f"other_cache_share is {number(transfers / 1e6)}, and a share is 1 at"
        )
        assert "cache_to_cache_transfers_other_llc and llc_requests" in line


def test_a_counter_that_was_not_measured_makes_no_share() -> None:
    assert impossible_lines(ANY, {"llc_requests": 1e6}) == []
    assert impossible_lines(ANY, {"cache_to_cache_transfers_other_llc": 1.0}) == []


def test_parts_of_a_whole_are_ratios_that_learning_may_choose() -> None:
    assert {ratio.name for ratio in CATALOGUE} >= PARTS
