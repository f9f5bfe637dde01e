"""Idle latencies and bandwidth of the model are those of the preset, within 5 %."""

from __future__ import annotations

import pytest
from sim_programs import (
    ATOMIC,
    BASE,
    LINES_PER_PAGE,
    chase,
    chase_ns,
    cpus,
    first_touch,
    load_all,
    region,
    shuffled_in_pages,
    write_all,
)

from autofinity._core.trace import TraceBuilder
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec

WITHIN = 0.05


def pages_of(share: float, size_bytes: int) -> int:
    return max(1, int(size_bytes * share) // 4096)


@pytest.mark.parametrize("name", preset_names())
def test_a_pointer_chase_sees_each_cache_level_at_its_latency(name: str) -> None:
    spec = load_preset(name)
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
    spec = load_preset(name)
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


@pytest.mark.parametrize(("cpu", "distance"), [(1, 0), (6, 1), (12, 2), (18, 3)])
def test_a_modified_line_arrives_at_the_latency_of_its_distance(
    opteron: MachineSpec, cpu: int, distance: int
) -> None:
    builder = TraceBuilder()
    owner, reader = builder.stream(), builder.stream()
    lines = shuffled_in_pages(region(2))
    write_all(builder, owner, lines)
    builder.post(owner, 1)
    first_touch(builder, reader, region(1, 100))
    builder.wait(reader, 1)
    builder.roi_begin(reader)
    chase(builder, reader, lines)
    builder.roi_end(reader)
    result = simulate(opteron, builder.build(), cpus(0, cpu))
    expected = opteron.latency.load_modified[distance]
    assert result.roi_ns / len(lines) == pytest.approx(expected, rel=WITHIN)
    assert result.total("cache_to_cache_transfers_supplied") == len(lines)


@pytest.mark.parametrize(("cpu", "distance"), [(1, 0), (6, 1), (12, 2), (18, 3)])
def test_an_atomic_on_a_modified_line_costs_what_its_distance_says(
    opteron: MachineSpec, cpu: int, distance: int
) -> None:
    builder = TraceBuilder()
    owner, taker = builder.stream(), builder.stream()
    lines = shuffled_in_pages(region(2))
    write_all(builder, owner, lines)
    builder.post(owner, 1)
    builder.wait(taker, 1)
    builder.roi_begin(taker)
    for line in lines:
        builder.access(taker, line, reads=1, writes=1, flags=ATOMIC)
    builder.roi_end(taker)
    result = simulate(opteron, builder.build(), cpus(0, cpu))
    expected = opteron.latency.atomic_modified[distance]
    assert result.roi_ns / len(lines) == pytest.approx(expected, rel=WITHIN)


def bandwidth_gbs(spec: MachineSpec, threads: int, node: int, first_cpu: int) -> float:
    """Read bandwidth of `threads` cores from the memory of one node."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(threads)]
    for stream in streams:
        first_touch(builder, stream, region(300, stream * 600))
        builder.barrier(stream, 1, threads)
    builder.roi_begin(streams[0])
    for stream in streams:
        load_all(builder, stream, region(300, stream * 600))
        builder.barrier(stream, 2, threads)
    builder.roi_end(streams[0])
    result = simulate(
        spec,
        builder.build(),
        cpus(*range(first_cpu, first_cpu + threads)),
        page_policy="bind",
        bind_node=node,
    )
    return threads * 300 * 4096 / result.roi_ns


def test_one_controller_saturates_at_its_bandwidth(opteron: MachineSpec) -> None:
    assert bandwidth_gbs(opteron, 6, 0, 0) == pytest.approx(
        opteron.bandwidth.memory_gbs[0], rel=WITHIN
    )


def test_one_thread_reads_at_about_the_measured_9_5_gigabytes_a_second(
    opteron: MachineSpec,
) -> None:
    # AT: 9.5 GB/s for one thread; misses in flight x line / latency is 7.9.
    assert 7.0 < bandwidth_gbs(opteron, 1, 0, 0) < 10.5


def test_a_link_saturates_at_its_bandwidth(opteron: MachineSpec) -> None:
    (link,) = opteron.bandwidth.routes[2]
    assert bandwidth_gbs(opteron, 6, 2, 0) == pytest.approx(
        opteron.bandwidth.links[link // 2].gbs, rel=WITHIN
    )


def test_lock_handover_costs_at_least_a_transfer(opteron: MachineSpec) -> None:
    rounds = 200
    for cpu, distance in ((1, 0), (18, 3)):
        builder = TraceBuilder()
        for stream in (builder.stream(), builder.stream()):
            for _ in range(rounds):
                builder.lock(stream, BASE)
                builder.unlock(stream, BASE, gap=20)
        result = simulate(opteron, builder.build(), cpus(0, cpu))
        waits = result.total("lock_waits")
        assert waits > rounds
        assert result.roi_ns >= waits * opteron.latency.atomic_modified[distance]
        assert result.total("lock_acquisitions") == 2 * rounds
