"""Gain of a core's second thread, on today's machines: as much as was measured on such cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from measure_bandwidth import cores_of_llc, read_gbs
from measure_smt import chased_lines_per_us, instructions_per_ns, loaded_lines_per_us

from autofinity.sim.preset import load_preset
from autofinity.sim.spec import MachineSpec

TODAY = {
    "epyc-9654": 8,
    "epyc-9654-nps1": 8,
    "epyc-9755": 8,
    "ryzen-9-7950x": 8,
    "xeon-6972p": 32,
    "xeon-8480": 14,
}
"""Cores of an LLC domain."""

type Rate = Callable[[MachineSpec, Sequence[int]], float]


def gain(name: str, rate: Rate, cores: int = 1) -> float:
    """Speed-up of two threads on each of `cores` cores over one."""
    spec = load_preset(name)
    one, two = (rate(spec, cores_of_llc(spec, 0, cores, levels)) for levels in (1, 2))
    return two / one


@pytest.mark.parametrize(("name", "cpus"), [(each, 16 * 24) for each in list(TODAY)[:2]])
def test_an_epyc_9654_has_384_cpus_and_the_second_of_a_core_is_192_up(name: str, cpus: int) -> None:
    spec = load_preset(name)
    assert len(spec.topology.pus) == cpus
    assert {pu.os_index: (pu.core, pu.smt_rank) for pu in spec.topology.pus} == {
        number: (number % 192, number // 192) for number in range(384)
    }


def test_a_xeon_8480_has_224_cpus_and_the_second_of_a_core_is_112_up() -> None:
    """Node 0 of such machines has the CPUs 0-13 and 112-125 (numactl, in public logs)."""
    spec = load_preset("xeon-8480")
    assert sorted(pu.os_index for pu in spec.topology.pus if pu.node == 0) == [
        *range(14),
        *range(112, 126),
    ]
    assert {pu.os_index % 112 for pu in spec.topology.pus if pu.core == 5} == {5}


@pytest.mark.parametrize(("name", "cores"), TODAY.items())
def test_nothing_is_gained_where_memory_is_the_limit(name: str, cores: int) -> None:
    """DRAMHiT's notes on an EPYC 9354P: 360 GB/s with one thread a core, 353 with two."""
    assert gain(name, read_gbs, cores) == pytest.approx(353 / 360, abs=0.05)


@pytest.mark.parametrize("name", TODAY)
def test_twice_as_much_is_done_where_each_thread_waits_for_one_load(name: str) -> None:
    """Each has one load under way, whose latency is far longer than all that they share is busy."""
    assert gain(name, chased_lines_per_us) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("name", TODAY)
def test_15_to_30_percent_are_gained_where_both_compute(name: str) -> None:
    """Gain of threads that do not wait (onedfrk.com, newsletter of 2026-06-04)."""
    assert 1.15 <= gain(name, instructions_per_ns) <= 1.30


@pytest.mark.parametrize("name", TODAY)
def test_little_is_gained_where_one_thread_has_all_miss_buffers_of_a_core_in_use(name: str) -> None:
    assert gain(name, loaded_lines_per_us) == pytest.approx(1.0, abs=0.1)
