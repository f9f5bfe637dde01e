"""Idle latencies of the model are those of the preset, within 5 %."""

from __future__ import annotations

import pytest
from measure_latency import cache_levels, memory_ns

from autofinity.sim.preset import load_preset, preset_names

WITHIN = 0.05


@pytest.mark.parametrize("name", preset_names())
def test_a_pointer_chase_sees_each_cache_level_at_its_latency(name: str) -> None:
    for level, expected, got in cache_levels(load_preset(name)):
        assert got == pytest.approx(expected, rel=WITHIN), level


@pytest.mark.parametrize("name", preset_names())
def test_memory_is_as_far_as_the_distance_of_its_node_says(name: str) -> None:
    spec = load_preset(name)
    for node, distance in enumerate(spec.node_distance[0]):
        expected = spec.latency.dram[distance]
        assert memory_ns(spec, node) == pytest.approx(expected, rel=WITHIN), f"node {node}"
