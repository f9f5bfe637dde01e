"""Controllers and links: bandwidth where the preset says, waits as queueing theory says."""

from __future__ import annotations

import math

import pytest
from measure_queues import (
    SERVICE_NS,
    cores_of,
    demand_gbs,
    exact_wait_ns,
    poisson,
    read_gbs,
    simulated_wait_ns,
)
from sim_programs import route_gbs, with_links_of, without_prefetch

from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.spec import MachineSpec

WITHIN = 0.05


@pytest.mark.parametrize("name", preset_names())
def test_a_controller_saturates_at_its_bandwidth(name: str) -> None:
    spec = without_prefetch(load_preset(name))
    pus = cores_of(spec, 0, 48)
    limit = spec.bandwidth.memory_gbs[0] or math.inf
    demand = demand_gbs(spec, pus, spec.latency.dram[0])
    got = read_gbs(spec, pus, 0, min(demand, limit))
    if demand > 1.2 * limit:
        assert got == pytest.approx(limit, rel=WITHIN)
    else:  # the cores cannot fill it: at most what they ask for
        assert 0.7 * demand < got < 1.05 * min(demand, limit)


SEVERAL_NODES = [n for n in preset_names() if load_preset(n).topology.n_nodes > 1]


def widths(spec: MachineSpec, node: int) -> tuple[float, float]:
    """Bandwidth of the narrowest of links and controller from `node` to node 0, and the demand of
    the cores of node 0, GB/s.
    """
    demand = demand_gbs(spec, cores_of(spec, 0, 48), spec.latency.dram[spec.node_distance[0][node]])
    return min(route_gbs(spec, 0, node), spec.bandwidth.memory_gbs[node]), demand


def can_be_filled(spec: MachineSpec, node: int) -> bool:
    """Whether the cores of node 0 ask for clearly more than comes from `node`."""
    limit, demand = widths(spec, node)
    return demand >= 1.2 * limit


@pytest.mark.parametrize("name", SEVERAL_NODES)
def test_a_link_saturates_at_its_bandwidth(name: str) -> None:
    spec = without_prefetch(load_preset(name))
    others = [*reversed(range(1, spec.topology.n_nodes))]
    if not any(can_be_filled(spec, node) for node in others):
        # As wide as published a node's cores cannot fill it and get what they ask for; the same
        # links at half of that fill.
        limit, demand = widths(spec, others[0])
        got = read_gbs(spec, cores_of(spec, 0, 48), others[0], min(demand, limit))
        assert 0.7 * demand < got < 1.05 * min(demand, limit)
        spec = with_links_of(spec, demand / 2)
    for node in [node for node in others if can_be_filled(spec, node)][:3]:
        limit, _ = widths(spec, node)
        got = read_gbs(spec, cores_of(spec, 0, 48), node, limit)
        assert got == pytest.approx(limit, rel=WITHIN), f"node {node}"


def test_one_thread_reads_at_about_the_measured_9_5_gigabytes_a_second(
    opteron: MachineSpec,
) -> None:
    """AnandTech 2978 measured 9.5 GB/s for one thread; misses in flight x line / latency is 7.9."""
    assert 7.0 < read_gbs(opteron, [0], 0, 8.0) < 10.5


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
