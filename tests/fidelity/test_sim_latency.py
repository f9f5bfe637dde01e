"""Idle latencies and bandwidth of the model are those of the preset, within 5 %."""

from __future__ import annotations

import pytest
from sim_programs import (
    LINES_PER_PAGE,
    chase,
    chase_ns,
    cpus,
    first_touch,
    region,
    shuffled_in_pages,
    without_prefetch,
)

from autofinity._core.trace import TraceBuilder
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.replay import simulate

WITHIN = 0.05


def pages_of(share: float, size_bytes: int) -> int:
    return max(1, int(size_bytes * share) // 4096)


@pytest.mark.parametrize("name", preset_names())
def test_a_pointer_chase_sees_each_cache_level_at_its_latency(name: str) -> None:
    spec = without_prefetch(load_preset(name))
    l1, l2, llc = spec.l1, spec.l2, spec.llc
    assert chase_ns(spec, pages_of(0.5, l1.size_bytes), 8) == pytest.approx(
        l1.latency_ns, rel=WITHIN
    )
    between = llc.size_bytes // 8  # page colours leave room even in four ways
    if l2 is not None:
        # A quarter of a core's L2: above the L1, and page colours leave room in every set.
        share = l2.size_bytes // spec.core_classes[0].l2_cores
        assert chase_ns(spec, pages_of(0.25, share), 2) == pytest.approx(l2.latency_ns, rel=WITHIN)
        between = max(2 * l2.size_bytes, between)
    # Without a second TLB the set is beyond the reach of the first: a walk for every page of it.
    walk_ns = spec.tlb.walk_ns / LINES_PER_PAGE if spec.tlb.l2_entries == 0 else 0
    expected = llc.latency_ns + walk_ns
    assert chase_ns(spec, pages_of(1, between), 1) == pytest.approx(expected, rel=WITHIN)


@pytest.mark.parametrize("name", preset_names())
def test_memory_is_as_far_as_the_distance_of_its_node_says(name: str) -> None:
    spec = without_prefetch(load_preset(name))
    nodes = spec.topology.n_nodes
    for node in range(nodes):
        builder = TraceBuilder()
        stream = builder.stream()
        lines = shuffled_in_pages(region(256))
        first_touch(builder, stream, lines)
        builder.roi_begin(stream)
        chase(builder, stream, lines)
        builder.roi_end(stream)
        result = simulate(spec, builder.build(), cpus(0), page_policy="bind", bind_node=node)
        expected = spec.latency.dram[spec.node_distance[0][node]]
        assert result.roi_ns / len(lines) == pytest.approx(expected, rel=WITHIN)
        remote = result.total("dram_reads_remote")
        assert (remote == 0) == (node == 0)
