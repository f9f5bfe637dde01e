"""Contended lines: false sharing and locks move at the latency from cache to cache."""

from __future__ import annotations

import pytest
from sim_programs import BASE, FIRST_WRITE, cores_by_distance, cpus

from autofinity._core.trace import TraceBuilder
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.replay import simulate

ROUNDS = 2000


@pytest.mark.parametrize("name", preset_names())
def test_false_sharing_costs_one_transfer_for_each_change_of_owner(name: str) -> None:
    """Two threads store to their own words of one line. Every store finds the line with the other
    thread, and takes it at the latency of a store to a modified line (David et al., SOSP 2013).
    """
    spec = load_preset(name)
    for distance, near in cores_by_distance(spec).items():
        latency_ns = spec.latency.store_modified[distance]
        gap = int(latency_ns / 4 * spec.ghz * spec.core.base_ipc)  # a quarter of a transfer
        builder = TraceBuilder()
        streams = [builder.stream(), builder.stream()]
        for stream in streams:
            builder.access(stream, BASE, reads=0, writes=1, flags=FIRST_WRITE)
            for barrier in (1, 2):  # nobody has to be woken from the second
                builder.barrier(stream, barrier, 2)
            if stream == 0:
                builder.roi_begin(stream)
            for _ in range(ROUNDS):
                builder.access(stream, BASE, reads=0, writes=1, gap=gap, flags=FIRST_WRITE)
            builder.barrier(stream, 3, 2)
        builder.roi_end(0)
        result = simulate(spec, builder.build(), cpus(0, near[0]))
        transfers = sum(
            result.total(f"cache_to_cache_transfers_{where}")
            for where in ("same_llc", "same_package", "remote")
        )
        assert transfers == pytest.approx(2 * ROUNDS, rel=0.05), f"distance {distance}"
        assert result.roi_ns / transfers == pytest.approx(latency_ns, rel=0.05)


def handover_ns(name: str, cpu: int) -> float:
    """Time of one critical section of two threads that do nothing else."""
    spec = load_preset(name)
    builder = TraceBuilder()
    for stream in (builder.stream(), builder.stream()):
        for _ in range(ROUNDS):
            builder.lock(stream, BASE)
            builder.unlock(stream, BASE, gap=20)
    result = simulate(spec, builder.build(), cpus(0, cpu))
    assert result.total("lock_acquisitions") == 2 * ROUNDS
    assert result.total("lock_waits") > 0.9 * 2 * ROUNDS
    return result.roi_ns / (2 * ROUNDS)


@pytest.mark.parametrize("name", preset_names())
def test_a_lock_moves_at_the_latency_of_an_atomic_from_cache_to_cache(name: str) -> None:
    """Handing a lock over takes the holder the line back from who tried in vain, and the next one
    the line again: two or three atomics at the distance of the two (David et al., SOSP 2013).
    """
    spec = load_preset(name)
    for distance, near in cores_by_distance(spec).items():
        handover = handover_ns(name, near[0]) / spec.latency.atomic_modified[distance]
        assert 1.9 < handover < 3.3, f"distance {distance}"
