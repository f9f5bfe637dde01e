"""Idle latencies of the model are those of the preset, within 5 %."""

from __future__ import annotations

from dataclasses import replace

import pytest
from measure_latency import cache_levels, memory_ns

from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.spec import MachineSpec

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


def test_translations_cost_nothing_on_the_machine_of_sinuca_whatever_its_tlbs_hold() -> None:
    """SiNUCA translates no addresses. The chase changes pages after 64 lines."""

    def with_tlb(**changes: float) -> MachineSpec:
        core = spec.core_classes[0]
        return replace(spec, core_classes=(replace(core, tlb=replace(core.tlb, **changes)),))

    spec = load_preset("kmaf16-simulated")
    shipped = memory_ns(spec, 0)
    assert memory_ns(with_tlb(l1_entries=254, l1_ways=0, l2_entries=0), 0) == shipped
    assert memory_ns(with_tlb(l1_entries=1, l1_ways=0, l2_entries=0), 0) == shipped
    walking = with_tlb(l1_entries=1, l1_ways=0, l2_entries=0, walk_ns=640)
    assert memory_ns(walking, 0) == pytest.approx(shipped + 640 / 64, rel=0.001)
