"""Exact answers of the PMU for programs of a few events."""

from __future__ import annotations

import pytest
from sim_programs import (
    ATOMIC,
    BASE,
    FIRST_WRITE,
    cpus,
    first_touch,
    load_all,
    region,
    write_all,
)

from autofinity._core.trace import TraceBuilder
from autofinity.sim.replay import simulate
from autofinity.sim.result import SimResult
from autofinity.sim.spec import MachineSpec


def expect(result: SimResult, **counts: int) -> None:
    got = {event: result.total(event) for event in counts}
    assert got == counts


def one_stream(spec: MachineSpec, *runs: tuple[int, int, int]) -> SimResult:
    """Each run: line, reads, writes."""
    builder = TraceBuilder()
    stream = builder.stream()
    for line, reads, writes in runs:
        flags = FIRST_WRITE if writes and not reads else 0
        builder.access(stream, line, reads, writes, gap=10, flags=flags)
    return simulate(spec, builder.build(), cpus(0))


def test_a_first_load_misses_everywhere_and_touches_its_page(opteron: MachineSpec) -> None:
    result = one_stream(opteron, (BASE, 1, 0))
    expect(
        result,
        instructions=10,
        data_cache_accesses=1,
        data_cache_loads=1,
        data_cache_stores=0,
        data_cache_misses=1,
        data_cache_refills_from_l2=0,
        data_cache_refills_from_northbridge=1,
        l2_accesses=1,
        l2_misses=1,
        llc_requests=1,
        llc_read_requests=1,
        llc_modify_requests=0,
        llc_hits=0,
        llc_misses=1,
        dtlb_misses=1,
        l2_tlb_hits=0,
        page_walks=1,
        page_faults=1,
        dram_reads_local=1,
        dram_reads_remote=0,
        exclusive_read_requests_to_llc_any_core=1,
        modify_read_requests_to_llc_any_core=0,
        link_bytes=0,
    )


def test_later_accesses_to_the_line_hit(opteron: MachineSpec) -> None:
    result = one_stream(opteron, (BASE, 1, 0), (BASE, 5, 2), (BASE, 0, 3))
    expect(
        result,
        instructions=30,
        retired_uops=33,
        data_cache_accesses=11,
        data_cache_loads=6,
        data_cache_stores=5,
        data_cache_misses=1,
        upgrades=0,  # granted exclusive, modified silently
        dtlb_accesses=11,
        dtlb_misses=1,
    )


def test_three_lines_of_one_set_of_a_two_way_cache_push_each_other_into_the_l2(
    opteron: MachineSpec,
) -> None:
    a, b, c = (BASE + 512 * i for i in range(3))
    result = one_stream(opteron, (a, 1, 0), (b, 1, 1), (c, 1, 0), (a, 1, 0))
    expect(
        result,
        data_cache_misses=4,
        data_cache_refills_from_l2=1,
        data_cache_refills_from_northbridge=3,
        clean_data_cache_lines_evicted=1,  # a, when c came
        modified_data_cache_lines_evicted=1,  # b, when a came back
        l2_evictions=0,
        page_faults=3,
    )


def test_the_least_recently_used_way_is_the_victim(opteron: MachineSpec) -> None:
    a, b, c = (BASE + 512 * i for i in range(3))
    # a is used again before c comes, so b goes and a still hits.
    result = one_stream(opteron, (a, 1, 0), (b, 1, 0), (a, 1, 0), (c, 1, 0), (a, 1, 0))
    expect(result, data_cache_misses=3, data_cache_refills_from_l2=0)


def shared_line(spec: MachineSpec, second: tuple[int, int], cpu: int, flags: int = 0) -> SimResult:
    """Core 0 loads a line and writes it; then core `cpu` does `second` (reads, writes); then core
    0 loads it again. The region covers the last two.
    """
    builder = TraceBuilder()
    first, other = builder.stream(), builder.stream()
    builder.access(first, BASE, 1, 1)
    first_touch(builder, other, region(1, 50))
    builder.post(first, 1)
    builder.wait(other, 1)
    builder.roi_begin(other)
    builder.access(other, BASE, *second, flags=flags)
    builder.post(other, 2)
    builder.wait(first, 2)
    builder.access(first, BASE, 1, 0)
    builder.post(first, 3)
    builder.wait(other, 3)
    builder.roi_end(other)
    return simulate(spec, builder.build(), cpus(0, cpu))


def test_a_load_of_a_modified_line_leaves_it_owned_and_shared(opteron: MachineSpec) -> None:
    expect(
        shared_line(opteron, (1, 0), 1),
        cache_to_cache_transfers_same_llc=1,
        cache_to_cache_transfers_same_package=0,
        cache_to_cache_transfers_supplied=1,
        downgrades_received=1,
        probe_responses_dirty=1,
        invalidations_sent=0,
        coherence_misses=0,
        dram_writes=0,  # MOESI
        data_cache_misses=1,
    )


def test_a_store_takes_a_modified_line_away_and_the_old_owner_misses(
    opteron: MachineSpec,
) -> None:
    result = shared_line(opteron, (0, 1), 6, FIRST_WRITE)
    expect(
        result,
        cache_to_cache_transfers_same_package=2,  # there and back
        invalidations_sent=1,
        invalidations_received=1,
        coherence_misses=1,
        invalid_data_cache_lines_evicted=1,
        llc_modify_requests=1,
        upgrades=0,
        link_bytes=2 * 72,
    )
    assert result.of_workers("invalidations_received").tolist() == [1, 0]
    assert result.of_workers("coherence_misses").tolist() == [1, 0]


def test_a_load_and_a_store_of_anothers_line_are_a_transfer_and_an_upgrade(
    opteron: MachineSpec,
) -> None:
    expect(
        shared_line(opteron, (1, 1), 18),
        cache_to_cache_transfers_remote=2,
        upgrades=1,
        downgrades_received=2,  # core 0 by the load, core 18 by the last load
        invalidations_sent=1,
    )


def test_an_atomic_is_one_transfer(opteron: MachineSpec) -> None:
    expect(
        shared_line(opteron, (1, 1), 12, ATOMIC),
        cache_to_cache_transfers_remote=2,
        upgrades=0,
        atomics=1,
        invalidations_sent=1,
    )


def test_a_remote_page_is_read_over_the_link(opteron: MachineSpec) -> None:
    builder = TraceBuilder()
    stream = builder.stream()
    first_touch(builder, stream, region(2))
    builder.roi_begin(stream)
    load_all(builder, stream, region(2))
    builder.roi_end(stream)
    result = simulate(opteron, builder.build(), cpus(0), page_policy="bind", bind_node=5)
    expect(
        result,
        dram_reads_local=0,
        dram_reads_remote=126,
        link_bytes=126 * 72,
        page_faults=0,
        dtlb_misses=0,
    )


def test_a_full_llc_writes_dirty_lines_back(opteron: MachineSpec) -> None:
    builder = TraceBuilder()
    stream = builder.stream()
    pages = 3 * opteron.llc.size_bytes // 4096
    write_all(builder, stream, region(pages))
    result = simulate(opteron, builder.build(), cpus(0))
    written = result.total("dram_writes")
    held = (opteron.l1.size_bytes + opteron.l2.size_bytes + opteron.llc.size_bytes) // 64
    assert written == result.total("llc_writebacks")
    assert pages * 64 - held <= written <= pages * 64 - held + held // 20


def test_page_walks_of_a_page_stride_beyond_both_tlbs(opteron: MachineSpec) -> None:
    builder = TraceBuilder()
    stream = builder.stream()
    for _ in range(3):
        first_touch(builder, stream, region(2048))
    # Pages go round in order: an LRU TLB of 512 entries never has the next one of 2048.
    result = simulate(opteron, builder.build(), cpus(0))
    expect(result, dtlb_misses=3 * 2048, page_walks=3 * 2048, l2_tlb_hits=0, page_faults=2048)
    few = TraceBuilder()
    stream = few.stream()
    for _ in range(3):
        first_touch(few, stream, region(40))
    expect(simulate(opteron, few.build(), cpus(0)), dtlb_misses=40, page_walks=40)


def test_clocks_of_a_thread_add_up_to_the_time(opteron: MachineSpec) -> None:
    builder = TraceBuilder()
    fast, slow = builder.stream(), builder.stream()
    builder.compute(fast, gap=1000)
    builder.barrier(fast, 1, 2)
    builder.compute(slow, gap=500_000)
    builder.barrier(slow, 1, 2)
    result = simulate(opteron, builder.build(), cpus(0, 1), sample_period_ns=50_000)
    clocks = result.roi_ns * opteron.ghz
    both = result.of_workers("cycles") + result.of_workers("cpu_clocks_halted")
    assert both[0] == pytest.approx(clocks, rel=0.01)
    expect(result, barrier_waits=1, instructions=501_002)
    assert result.of_workers("stall_cycles_sync")[0] > 0.9 * clocks
    # Instructions of a long gap are spread over the samples it covers.
    per_sample = result.samples[:, 1, 0].astype(int)
    assert per_sample[1:-1].min() == pytest.approx(50_000 * 1.7 * 1.5, rel=0.01)
    assert int(result.samples[:, :, 0].sum()) == result.total("instructions")


def test_first_touch_puts_a_page_on_the_node_of_its_toucher(opteron: MachineSpec) -> None:
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
    expect(near, dram_reads_local=4, dram_reads_remote=0)
    far = simulate(opteron, builder.build(), cpus(0, 30, 2))
    expect(far, dram_reads_local=0, dram_reads_remote=4)
