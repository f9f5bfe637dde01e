"""Pages are where Linux puts them, and the TLBs hold what their geometry says."""

from __future__ import annotations

from itertools import pairwise

import pytest
from sim_programs import (
    BASE,
    LINES_PER_PAGE,
    cpus,
    first_touch,
    load_all,
    region,
    route_gbs,
    without_prefetch,
    write_all,
)

from autofinity._core import sim as core
from autofinity._core.trace import TraceBuilder
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.replay import simulate
from autofinity.sim.spec import LINE_BYTES, MachineSpec

FIRST_PAGE = BASE // LINES_PER_PAGE


def core_of_node(spec: MachineSpec, node: int) -> int:
    return next(int(pu.os_index) for pu in spec.topology.pus if pu.node == node)


def nodes_after(
    spec: MachineSpec, pages: int, cpu: int, **placement: object
) -> tuple[list[int], core.Simulation]:
    """Node of each page after one thread on PU number `cpu` has touched them in order."""
    builder = TraceBuilder()
    first_touch(builder, builder.stream(), region(pages))
    run = core.Simulation(machine_model(spec), core.Program(builder.build()), [cpu], **placement)
    run.run()
    return [run.node_of_page(FIRST_PAGE + page) for page in range(pages)], run


@pytest.mark.parametrize("node", [0, 5])
def test_first_touch_puts_a_page_on_the_node_of_its_toucher(
    opteron: MachineSpec, node: int
) -> None:
    """Linux, numa(7): by default a page is allocated on the node of the CPU that triggers it."""
    assert nodes_after(opteron, 8, core_of_node(opteron, node))[0] == [node] * 8


def test_interleave_spreads_pages_evenly_over_all_nodes(opteron: MachineSpec) -> None:
    """Linux, set_mempolicy(2): MPOL_INTERLEAVE goes round the nodes page by page."""
    nodes, _ = nodes_after(opteron, 32, 0, page_policy="interleave")
    assert sorted(nodes) == sorted(list(range(8)) * 4)
    assert all(b == (a + 1) % 8 for a, b in pairwise(nodes))


def test_bind_puts_every_page_on_its_node(opteron: MachineSpec) -> None:
    """Linux, set_mempolicy(2): MPOL_BIND restricts allocation to the nodes given."""
    assert nodes_after(opteron, 8, 0, page_policy="bind", node=6)[0] == [6] * 8


def test_a_page_with_a_node_of_its_own_goes_there_whatever_the_policy(
    opteron: MachineSpec,
) -> None:
    nodes, _ = nodes_after(
        opteron, 4, 0, page_policy="interleave", page_table={FIRST_PAGE + 1: 7, FIRST_PAGE + 2: 7}
    )
    assert nodes[1:3] == [7, 7]


def test_a_page_stays_when_another_node_touches_it_later(opteron: MachineSpec) -> None:
    """Linux without NUMA balancing never moves a page by itself."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(3)]
    for stream in streams:
        first_touch(builder, stream, region(4, 10 * stream))
    builder.post(streams[0], 1)
    builder.wait(streams[1], 1)
    builder.roi_begin(streams[1])
    load_all(builder, streams[1], region(4, 0)[1::64])
    builder.roi_end(streams[1])
    near = simulate(opteron, builder.build(), cpus(0, 1, 2))
    assert (near.total("dram_reads_local"), near.total("dram_reads_remote")) == (4, 0)
    far = simulate(opteron, builder.build(), cpus(0, 30, 2))
    assert (far.total("dram_reads_local"), far.total("dram_reads_remote")) == (0, 4)


def test_a_migrated_page_is_read_once_copied_and_flushed_from_all_tlbs(
    opteron: MachineSpec,
) -> None:
    """Linux, move_pages(2): the page is copied, its translations are shot down, and the next touch
    walks the page table but is no allocation.
    """
    lines = region(1)
    builder = TraceBuilder()
    stream = builder.stream()
    write_all(builder, stream, lines)
    builder.compute(stream, gap=1_000_000)
    builder.roi_begin(stream)
    builder.compute(stream, gap=1_000_000)
    load_all(builder, stream, lines)
    builder.roi_end(stream)
    run = core.Simulation(machine_model(opteron), core.Program(builder.build()), [0])
    run.advance(1000)
    cost_ns = run.move_page(FIRST_PAGE, 2)
    # 64 lines, read by one controller, sent over a link and written by another, in a pipeline.
    slowest_gbs = min(*opteron.bandwidth.memory_gbs, route_gbs(opteron, 0, 2))
    assert cost_ns >= 4096 / slowest_gbs
    run.run()
    counts = dict(zip(core.event_names(), run.totals()[0].tolist(), strict=True))
    wanted = {"page_walks": 1, "page_faults": 0, "dram_reads_local": 0, "dram_reads_remote": 64}
    assert {event: counts[event] for event in wanted} == wanted


def test_pages_that_move_at_one_instant_take_the_time_of_one_each(opteron: MachineSpec) -> None:
    """They are copied one after another: none pays for standing in a queue behind the others."""
    count = 100
    builder = TraceBuilder()
    stream = builder.stream()
    write_all(builder, stream, region(count))
    builder.roi_begin(stream)
    builder.compute(stream, gap=1_000_000)
    builder.roi_end(stream)
    run = core.Simulation(machine_model(opteron), core.Program(builder.build()), [0])
    run.advance(1000)
    first_ns, *others_ns = (run.move_page(FIRST_PAGE + page, 2) for page in range(count))
    assert len(others_ns) == count - 1
    assert all(0.3 * first_ns < ns < 3 * first_ns for ns in others_ns)


@pytest.mark.parametrize("name", preset_names())
def test_a_stride_of_a_page_walks_as_the_tlbs_of_the_machine_say(name: str) -> None:
    """Pages in turn are the worst case of LRU (Mattson et al., IBM Systems Journal 1970): a level
    holds all of them or, once they are more than it has entries, not one.
    """
    spec = without_prefetch(load_preset(name))
    tlb = spec.tlb
    l1_sets = tlb.l1_entries // tlb.l1_ways if tlb.l1_ways else 1
    cases = {tlb.l1_entries: (0, 0), tlb.l1_entries + l1_sets: (tlb.l1_entries + l1_sets, 0)}
    if tlb.l2_entries:
        beyond = tlb.l2_entries + tlb.l2_entries // tlb.l2_ways
        cases |= {tlb.l2_entries: (tlb.l2_entries, 0), beyond: (beyond, beyond)}
    else:
        cases = {pages: (misses, misses) for pages, (misses, _) in cases.items()}
    for pages, (misses, walks) in cases.items():
        builder = TraceBuilder()
        stream = builder.stream()
        stride = range(
            BASE, BASE + pages * spec.page_bytes // LINE_BYTES, spec.page_bytes // LINE_BYTES
        )
        load_all(builder, stream, stride)
        builder.roi_begin(stream)
        load_all(builder, stream, stride)
        builder.roi_end(stream)
        result = simulate(spec, builder.build(), cpus(0))
        got = [result.total(e) for e in ("dtlb_misses", "l2_tlb_hits", "page_walks")]
        assert got == [misses, misses - walks, walks], pages
