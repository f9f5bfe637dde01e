"""Values of runs: shares as they are, ratios to a baseline, and their means."""

from __future__ import annotations

import math

import pytest
from paper_runs import case

from autofinity.papers.values import mean, values


def test_shares_are_as_they_are_and_counts_of_nothing_are_left_out() -> None:
    cases = [case("a", "os", 2.0, invalidations=0), case("a", "tlb", 2.0)]
    assert values(cases, "overhead")["tlb"]["a"] == pytest.approx(100 * 0.088 / 8)
    assert values(cases, "tlb_miss_rate")["os"]["a"] == pytest.approx(0.2)
    assert math.isnan(values(cases, "invalidations")["tlb"]["a"])
    assert math.isnan(mean(values(cases, "invalidations")["tlb"], "invalidations"))


def test_seeds_are_averaged_before_ratios_are_made() -> None:
    cases = [case("a", "os", 1.0), case("a", "os", 3.0), case("a", "tlb", 1.0)]
    assert values(cases, "time")["tlb"] == {"a": 0.5}


def test_ratios_have_geometric_means_and_shares_arithmetic_ones() -> None:
    assert mean({"a": 1.0, "b": 4.0}, "time") == pytest.approx(2.0)
    assert mean({"a": 1.0, "b": 4.0}, "overhead") == pytest.approx(2.5)
