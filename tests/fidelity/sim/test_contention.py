"""Contended lines: false sharing and locks move at the latency from cache to cache."""

from __future__ import annotations

import pytest
from measure_contention import false_sharing_of, handed_over_ns, handover_ns
from sim_programs import cores_by_distance

from autofinity.sim.preset import load_preset, preset_names


@pytest.mark.parametrize("name", preset_names())
def test_false_sharing_costs_one_transfer_for_each_change_of_owner(name: str) -> None:
    """Two threads store to their own words of one line. Every store finds the line with the other
    thread, and takes it at the latency of a store to a modified line (David et al., SOSP 2013).
    """
    spec = load_preset(name)
    for distance, near in cores_by_distance(spec).items():
        expected_ns = spec.latency.store_modified[distance]
        transfers, transfer_ns = false_sharing_of(spec, near[0], expected_ns)
        assert transfers == pytest.approx(1, rel=0.05), f"distance {distance}"
        assert transfer_ns == pytest.approx(expected_ns, rel=0.05), f"distance {distance}"


@pytest.mark.parametrize("name", preset_names())
def test_a_lock_moves_at_the_latency_of_an_atomic_from_cache_to_cache(name: str) -> None:
    """At a hand-over the holder takes the line back from a thread that failed to lock, and the
    next one takes the line again: two or three atomics at the distance of the two (David et al.,
    SOSP 2013).
    """
    spec = load_preset(name)
    for distance, near in cores_by_distance(spec).items():
        handover = handover_ns(spec, near[0]) / spec.latency.atomic_modified[distance]
        assert 1.9 < handover < 3.3, f"distance {distance}"


@pytest.mark.parametrize("name", preset_names())
@pytest.mark.parametrize("write", [False, True], ids=["loads", "stores"])
def test_lines_of_another_core_come_many_at_a_time(name: str, write: bool) -> None:
    """Lines that another core modified, or that it shares and must invalidate, take less than half
    of the latency of one: an out-of-order core loads them as it loads from memory, and its stores
    wait in the store buffer while later instructions issue.
    """
    spec = load_preset(name)
    if spec.core.misses_in_flight == 1:
        pytest.skip("cores of this machine have one miss at a time")
    latency_ns = spec.latency.store_shared if write else spec.latency.load_modified
    for distance, near in cores_by_distance(spec).items():
        handed_ns = handed_over_ns(spec, near[0], write=write)
        assert handed_ns < 0.5 * latency_ns[distance], f"distance {distance}"
