"""Saturated bandwidths of the simulated machine, as benchmarks measure them.

All threads read or write arrays of their own, line by line; the pages exist already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sim_programs import cpus, first_touch, load_all, region, write_all

from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.replay import simulate
from autofinity.sim.spec import LINE_BYTES, MachineSpec

PAGE_BYTES = 4096
SOON_FULL_BYTES = 4 << 20
OVERFULL = 1.3
"""Factor of a cache's size that fills the cache whatever the colours of pages."""

type Body = Callable[[TraceBuilder, int], None]


def cores_of_llc(spec: MachineSpec, llc: int, most: int, smt_levels: int = 1) -> list[int]:
    """PUs of the first `most` cores of an LLC domain, all first PUs before the second ones."""
    pus = [pu for pu in spec.topology.pus if pu.llc == llc]
    cores = sorted({pu.core for pu in pus})[:most]
    chosen = [pu for pu in pus if pu.core in cores and pu.smt_rank < smt_levels]
    return [int(pu.os_index) for pu in sorted(chosen, key=lambda pu: (pu.smt_rank, pu.core))]


def together(threads: int, before: Body, measured: Body) -> Trace:
    """A program in which each thread runs `before`, and then, after all have done so, `measured` as
    the region.
    """
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(threads)]
    for stream in streams:
        before(builder, stream)
        builder.barrier(stream, 1, threads)
    builder.roi_begin(streams[0])
    for stream in streams:
        measured(builder, stream)
        builder.barrier(stream, 2, threads)
    builder.roi_end(streams[0])
    return builder.build()


def read_gbs(spec: MachineSpec, pus: Sequence[int], pages: int = 200) -> float:
    """Bandwidth of reads from the memory of node 0, `pages` pages for each thread."""

    def lines(stream: int) -> list[int]:
        return region(pages, stream * 2 * pages)

    trace = together(
        len(pus),
        lambda builder, stream: first_touch(builder, stream, lines(stream)),
        lambda builder, stream: load_all(builder, stream, lines(stream)),
    )
    result = simulate(spec, trace, cpus(*pus), page_policy="bind", bind_node=0)
    return len(pus) * pages * PAGE_BYTES / result.roi_ns


def written_gbs(spec: MachineSpec, pus: Sequence[int], pages: int = 200) -> float:
    """Bandwidth of write-backs to the memory of node 0 while each thread stores to `pages` pages.

    The caches are full of modified lines before, so that each new line evicts one; the LLC has a
    size that is full sooner.
    """
    assert spec.l2 is not None
    spec = replace(spec, llc=replace(spec.llc, size_bytes=SOON_FULL_BYTES))
    llcs = {pu.llc for pu in spec.topology.pus if int(pu.os_index) in pus}
    each_bytes = OVERFULL * (len(llcs) * spec.llc.size_bytes / len(pus) + spec.l2.size_bytes)
    filled = int(each_bytes / PAGE_BYTES)

    def fill(builder: TraceBuilder, stream: int) -> None:
        first = stream * 2 * (filled + pages)
        first_touch(builder, stream, region(pages, first))
        write_all(builder, stream, region(filled, first + pages))

    def store(builder: TraceBuilder, stream: int) -> None:
        write_all(builder, stream, region(pages, stream * 2 * (filled + pages)))

    trace = together(len(pus), fill, store)
    result = simulate(spec, trace, cpus(*pus), page_policy="bind", bind_node=0)
    return result.total("dram_writes") * LINE_BYTES / result.roi_ns


def passed_on_gbs(spec: MachineSpec, pairs: Sequence[tuple[int, int]], pages: int = 20) -> float:
    """Bandwidth of write-backs to the memory of node 0 while the second PU of each pair reads the
    lines that the first one has modified: the caches keep them, so memory is read by nobody.
    """

    def lines(pair: int) -> list[int]:
        return region(pages, pair * 2 * pages)

    def prepare(builder: TraceBuilder, stream: int) -> None:
        pair, reader = divmod(stream, 2)
        if not reader:
            write_all(builder, stream, lines(pair))

    def read(builder: TraceBuilder, stream: int) -> None:
        pair, reader = divmod(stream, 2)
        if reader:
            load_all(builder, stream, lines(pair), gap=2)

    trace = together(2 * len(pairs), prepare, read)
    pus = cpus(*(pu for pair in pairs for pu in pair))
    result = simulate(spec, trace, pus, page_policy="bind", bind_node=0)
    assert result.total("dram_reads_local") + result.total("dram_reads_remote") < 100
    return result.total("dram_writes") * LINE_BYTES / result.roi_ns


def llc_gbs(spec: MachineSpec, pus: Sequence[int]) -> float:
    """Bandwidth of reads from the LLC of one domain by threads whose sets fit into it together, but
    into no L2.
    """
    assert spec.l2 is not None
    pages = int(1.6 * spec.l2.size_bytes / PAGE_BYTES)
    assert len(pus) * pages * PAGE_BYTES < spec.llc.size_bytes

    def once(builder: TraceBuilder, stream: int) -> None:
        load_all(builder, stream, region(pages, stream * 2 * pages), gap=2)

    def twice(builder: TraceBuilder, stream: int) -> None:
        once(builder, stream)
        once(builder, stream)

    result = simulate(spec, together(len(pus), twice, once), cpus(*pus))
    assert result.total("dram_reads_local") < 100
    return result.total("llc_hits") * LINE_BYTES / result.roi_ns
