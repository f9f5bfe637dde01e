"""With sub-NUMA clusters, a socket has a line in the LLC of its home, and in no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from sim_programs import (
    LINES_PER_PAGE,
    chase,
    cpus,
    region,
    shuffled_in_pages,
    without_prefetch,
)

from autofinity._core.trace import TraceBuilder
from autofinity.model.memory import SMALL_PAGE_BYTES
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.replay import SimResult, simulate
from autofinity.sim.spec import MachineSpec

CLUSTERED = [name for name in preset_names() if load_preset(name).llc_by_home]
REPEATS = 2
WITHIN = 0.05


def with_small_llcs(spec: MachineSpec) -> MachineSpec:
    """The machine with an eighth of its LLCs, which are filled faster."""
    return replace(spec, llc=replace(spec.llc, size_bytes=spec.llc.size_bytes // 8))


def first_cpus(spec: MachineSpec) -> list[int]:
    """A CPU of each node of the first socket."""
    first = {pu.node: int(pu.os_index) for pu in reversed(spec.topology.pus) if pu.package == 0}
    return [first[node] for node in sorted(first)]


def chased(spec: MachineSpec, pages: int, places: Sequence[int], node: int) -> SimResult:
    """Threads in these places read their shares of the node's pages again and again."""
    builder = TraceBuilder()
    each = pages // len(places)
    shares = [shuffled_in_pages(region(each, thread * each)) for thread in range(len(places))]
    streams = [builder.stream() for _ in places]
    for stream, lines in zip(streams, shares, strict=True):
        chase(builder, stream, lines)
        chase(builder, stream, lines)
        builder.barrier(stream, 1, len(places))
    builder.roi_begin(streams[0])
    for stream, lines in zip(streams, shares, strict=True):
        for _ in range(REPEATS):
            chase(builder, stream, lines)
        builder.barrier(stream, 2, len(places))
    builder.roi_end(streams[0])
    return simulate(spec, builder.build(), cpus(*places), page_policy="bind", bind_node=node)


@pytest.mark.parametrize("name", CLUSTERED)
def test_the_llc_of_another_node_is_as_much_farther_as_its_memory(name: str) -> None:
    spec = without_prefetch(load_preset(name))
    assert spec.l2 is not None
    pages = 2 * spec.l2.size_bytes // SMALL_PAGE_BYTES
    first, *_ = places = first_cpus(spec)
    for node in range(len(places)):
        dram = spec.latency.dram
        expected = spec.llc.latency_ns + dram[spec.node_distance[0][node]] - dram[0]
        ns = chased(spec, pages, [first], node).roi_ns / (REPEATS * pages * LINES_PER_PAGE)
        assert ns == pytest.approx(expected, rel=WITHIN), f"node {node}"


@pytest.mark.parametrize("name", CLUSTERED)
def test_threads_on_several_nodes_have_one_llc_for_the_data_of_one_node(name: str) -> None:
    spec = with_small_llcs(without_prefetch(load_preset(name)))
    assert spec.l2 is not None
    first, second, *_ = first_cpus(spec)
    pages = (2 * spec.llc.size_bytes + 2 * spec.l2.size_bytes) // SMALL_PAGE_BYTES
    together, apart = (
        result.total("dram_reads_local") + result.total("dram_reads_remote")
        for result in (
            chased(spec, pages, [first, first + 1], 0),
            chased(spec, pages, [first, second], 0),
        )
    )
    assert together > REPEATS * pages * LINES_PER_PAGE / 3
    assert apart == pytest.approx(together, rel=WITHIN)
