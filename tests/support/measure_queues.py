"""Bandwidths and waits of the simulated machine, measured by programs like those of benchmarks."""

from __future__ import annotations

import random
from dataclasses import replace

from hand_machine import SAME_PACKAGE, VICTIM
from sim_programs import LINES_PER_PAGE, cpus, first_touch, load_all, region

from autofinity._core.trace import TraceBuilder
from autofinity.sim.replay import simulate
from autofinity.sim.spec import LINE_BYTES, MachineSpec

MEASURED_NS = 100_000


def read_gbs(spec: MachineSpec, pus: list[int], memory_node: int, expected_gbs: float) -> float:
    """Read bandwidth of threads on `pus` from the memory of one node, over about 100 us."""
    pages = 1 + int(expected_gbs * MEASURED_NS / 4096 / len(pus))
    builder = TraceBuilder()
    streams = [builder.stream() for _ in pus]
    for stream in streams:
        first_touch(builder, stream, region(pages, stream * 2 * pages))
        builder.barrier(stream, 1, len(pus))
    builder.roi_begin(streams[0])
    for stream in streams:
        load_all(builder, stream, region(pages, stream * 2 * pages))
        builder.barrier(stream, 2, len(pus))
    builder.roi_end(streams[0])
    result = simulate(spec, builder.build(), cpus(*pus), page_policy="bind", bind_node=memory_node)
    return len(pus) * pages * 4096 / result.roi_ns


def cores_of(spec: MachineSpec, node: int, most: int) -> list[int]:
    """Up to `most` cores of a node, over its LLC domains in turn: first PU of each."""
    firsts = [pu for pu in spec.topology.pus if pu.node == node and pu.smt_rank == 0]
    rank = {pu.core: [p.core for p in firsts if p.llc == pu.llc].index(pu.core) for pu in firsts}
    firsts.sort(key=lambda pu: (rank[pu.core], pu.llc))
    return [int(pu.os_index) for pu in firsts[:most]]


def demand_gbs(spec: MachineSpec, pus: list[int], latency_ns: float) -> float:
    """Largest bandwidth by the misses in flight of these cores (Little's law), and by their
    fabrics.
    """
    llcs = {pu.os_index: pu.llc for pu in spec.topology.pus}
    fabrics = len({llcs[pu] for pu in cpus(*pus)}) * (spec.bandwidth.fabric_gbs or float("inf"))
    return min(fabrics, len(pus) * spec.core.misses_in_flight * LINE_BYTES / latency_ns)


SERVICE_NS = 10.0
ARRIVALS = 60_000


def open_loop() -> MachineSpec:
    """The hand-made machine with cores that never stall and translations without cost, so that
    requests arrive when the trace says, however long others wait.
    """
    (cores,) = VICTIM.core_classes
    return replace(
        VICTIM,
        core_classes=(
            replace(
                cores,
                core=replace(cores.core, window=100_000, misses_in_flight=32),
                tlb=replace(cores.tlb, l2_hit_ns=0.0, walk_ns=0.0, page_fault_ns=0.0),
            ),
        ),
    )


def poisson(utilisation: float, seed: int) -> list[int]:
    """Clocks at which requests arrive, in order."""
    rng = random.Random(seed)
    at, arrivals = 0.0, []
    for _ in range(ARRIVALS):
        at += rng.expovariate(utilisation / SERVICE_NS)
        arrivals.append(round(at))
    return arrivals


def simulated_wait_ns(arrivals: list[int]) -> float:
    """Mean wait of requests of three cores to the controller of their node. A core elsewhere
    touches the last line of each page first: a page fault would delay the measured cores.
    """
    rng = random.Random(0)
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(3)]
    used = LINES_PER_PAGE - 1
    pages = 1 + len(arrivals) // used
    first_touch(builder, builder.stream(), region(pages)[used:])
    begin = pages * 1000
    last = [-begin] * 3
    for number, at in enumerate(arrivals):
        stream = rng.choice(streams)
        page, line = divmod(number, used)  # never twice
        builder.access(stream, region(1, page)[line], gap=at - last[stream])
        last[stream] = at
    result = simulate(
        open_loop(), builder.build(), cpus(0, 1, 2, SAME_PACKAGE), page_policy="bind", bind_node=0
    )
    assert result.total("dram_reads_local") == len(arrivals)
    return result.total("memory_queue_clocks") / len(arrivals)


def exact_wait_ns(arrivals: list[int]) -> float:
    """Exact mean wait, first come, first served: W(n+1) = max(0, W(n) + S - A(n)) (Lindley,
    1952).
    """
    free, waited = 0.0, 0.0
    for at in arrivals:
        start = max(at, free)
        waited += start - at
        free = start + SERVICE_NS
    return waited / len(arrivals)
