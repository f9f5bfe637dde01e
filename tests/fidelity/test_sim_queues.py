"""Controllers and links: bandwidth where the preset says, waits as queueing theory says."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hand_machine import VICTIM
from sim_programs import cpus, first_touch, load_all, region, route_gbs, without_prefetch

from autofinity._core.trace import TraceBuilder
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.replay import simulate
from autofinity.sim.spec import LINE_BYTES, MachineSpec

WITHIN = 0.05
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
    """What the misses in flight of these cores can ask for (Little's law), and their fabrics."""
    llcs = {pu.os_index: pu.llc for pu in spec.topology.pus}
    fabrics = len({llcs[pu] for pu in cpus(*pus)}) * (spec.bandwidth.fabric_gbs or float("inf"))
    return min(fabrics, len(pus) * spec.core.misses_in_flight * LINE_BYTES / latency_ns)


@pytest.mark.parametrize("name", preset_names())
def test_a_controller_saturates_at_its_bandwidth(name: str) -> None:
    spec = without_prefetch(load_preset(name))
    pus = cores_of(spec, 0, 48)
    limit = spec.bandwidth.memory_gbs[0]
    demand = demand_gbs(spec, pus, spec.latency.dram[0])
    got = read_gbs(spec, pus, 0, min(demand, limit))
    if demand > 1.2 * limit:
        assert got == pytest.approx(limit, rel=WITHIN)
    else:  # the cores cannot fill it: at most what they ask for
        assert 0.7 * demand < got < 1.05 * min(demand, limit)


@pytest.mark.parametrize("name", preset_names())
def test_a_link_saturates_at_its_bandwidth(name: str) -> None:
    spec = without_prefetch(load_preset(name))
    tried = 0
    for node in range(1, spec.topology.n_nodes):
        distance = spec.node_distance[0][node]
        limit = min(route_gbs(spec, 0, node) or float("inf"), spec.bandwidth.memory_gbs[node])
        pus = cores_of(spec, 0, 48)
        if demand_gbs(spec, pus, spec.latency.dram[distance]) < 1.2 * limit:
            continue
        tried += 1
        assert read_gbs(spec, pus, node, limit) == pytest.approx(limit, rel=WITHIN), f"node {node}"
        if tried == 3:
            break
    if not tried:
        pytest.skip("one node, or its cores cannot fill a link")


def test_one_thread_reads_at_about_the_measured_9_5_gigabytes_a_second(
    opteron: MachineSpec,
) -> None:
    """AnandTech 2978 measured 9.5 GB/s for one thread; misses in flight x line / latency is 7.9."""
    assert 7.0 < read_gbs(opteron, [0], 0, 8.0) < 10.5


SERVICE_NS = 10.0
ARRIVALS = 60_000


def open_loop() -> MachineSpec:
    """The hand-made machine with cores that never stall and translations that cost nothing, so that
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
    """Mean over requests of three cores to the controller of their node."""
    rng = random.Random(0)
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(3)]
    last = [0, 0, 0]
    for number, at in enumerate(arrivals):
        stream = rng.choice(streams)
        line = region(1)[0] + number  # never twice
        builder.access(stream, line, gap=at - last[stream])
        last[stream] = at
    result = simulate(open_loop(), builder.build(), cpus(0, 1, 2))
    assert result.total("dram_reads_local") == len(arrivals)
    return result.total("memory_queue_clocks") / len(arrivals)


def exact_wait_ns(arrivals: list[int]) -> float:
    """First come, first served: W(n+1) = max(0, W(n) + S - A(n)) (Lindley, 1952)."""
    free, waited = 0.0, 0.0
    for at in arrivals:
        start = max(at, free)
        waited += start - at
        free = start + SERVICE_NS
    return waited / len(arrivals)


@pytest.mark.parametrize("utilisation", [0.3, 0.5, 0.7, 0.9])
def test_requests_wait_for_a_controller_as_in_an_m_d_1_queue(utilisation: float) -> None:
    """Poisson arrivals, one server, constant service: the mean wait is ρ / (2 (1 - ρ)) services
    (Pollaczek 1930, Khinchin 1932; Kleinrock, Queueing Systems I, 1975, section 5.6).

    Cores run ahead of each other by up to 80 clocks, eight services; the sum of waits is exact.
    """
    arrivals = poisson(utilisation, seed=1)
    got = simulated_wait_ns(arrivals)
    assert got == pytest.approx(exact_wait_ns(arrivals), rel=0.01)
    assert got == pytest.approx(utilisation / (2 * (1 - utilisation)) * SERVICE_NS, rel=0.1)
