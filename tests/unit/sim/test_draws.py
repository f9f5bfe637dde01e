"""Variants of a machine: other numbers, the same shape, always within the spread."""

from __future__ import annotations

import pytest

from autofinity.sim.draws import SPREAD, drawn
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset, preset_names


@pytest.mark.parametrize("name", preset_names())
def test_every_draw_of_every_preset_is_a_machine_that_the_core_accepts(name: str) -> None:
    spec = load_preset(name)
    for seed in range(1, 4):
        other = drawn(spec, seed)
        machine_model(other)
        assert other.topology == spec.topology
        assert other.latency != spec.latency


def test_a_draw_is_the_same_for_its_seed_and_another_for_another() -> None:
    spec = load_preset("opteron-6164he")
    assert drawn(spec, 1) == drawn(spec, 1) != drawn(spec, 2)
    assert drawn(spec, 1, 0.0) == spec


def test_numbers_stay_within_the_spread_and_tables_by_distance_keep_their_order() -> None:
    spec = load_preset("opteron-6164he")
    low, high = 1 - SPREAD - 1e-9, 1 + SPREAD + 1e-9
    for seed in range(20):
        other = drawn(spec, seed)
        assert low <= other.llc.latency_ns / spec.llc.latency_ns <= high
        assert low <= other.llc.ways / spec.llc.ways <= high
        assert other.llc.sets == spec.llc.sets
        pairs = zip(other.latency.dram, spec.latency.dram, strict=True)
        factors = [after / before for after, before in pairs]
        assert all(low <= factor <= high for factor in factors)
        assert max(factors) == pytest.approx(min(factors))
