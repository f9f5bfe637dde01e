"""Bandwidth saturates where it was seen to on real machines, and no sooner."""

from __future__ import annotations

from dataclasses import replace

import pytest
from measure_bandwidth import cores_of_llc, llc_gbs, passed_on_gbs, read_gbs, written_gbs
from measure_queues import cores_of
from sim_programs import without_prefetch

from autofinity.sim.preset import load_preset
from autofinity.sim.spec import MachineSpec

GENOA = ("epyc-9654", "epyc-9654-nps1")
WITHIN = 0.10


def without_links_to_the_io_die(spec: MachineSpec) -> MachineSpec:
    return replace(
        spec, bandwidth=replace(spec.bandwidth, fabric_gbs=0.0, fabric_write_gbs=0.0, llc_gbs=0.0)
    )


def test_one_core_of_genoa_reads_25_gigabytes_a_second_and_two_45() -> None:
    """DRAMHiT's notes (mars-research/DRAMHiT, 2026-09-21): of one CCD of an EPYC 9354P in NPS4."""
    spec = load_preset("epyc-9654")
    assert read_gbs(spec, cores_of_llc(spec, 0, 1)) == pytest.approx(25.3, rel=WITHIN)
    assert read_gbs(spec, cores_of_llc(spec, 0, 2)) == pytest.approx(45.4, rel=WITHIN)


@pytest.mark.parametrize("name", GENOA)
@pytest.mark.parametrize("cores", [4, 8])
def test_a_core_die_of_genoa_reads_no_more_than_its_link_lets_in(name: str, cores: int) -> None:
    """About 60 GB/s: 32 bytes at 1.8 GHz (Chips and Cheese on Zen 4), however many cores ask."""
    spec = load_preset(name)
    pus = cores_of_llc(spec, 0, cores)
    assert read_gbs(spec, pus) == pytest.approx(57.6, rel=WITHIN)
    assert read_gbs(without_links_to_the_io_die(spec), pus) > 1.2 * 57.6


@pytest.mark.parametrize("cores", [4, 8])
def test_a_core_die_of_genoa_writes_half_as_much_as_it_reads(cores: int) -> None:
    """28.6 GB/s: eight CCDs of an EPYC 9354P wrote 229 past the caches (DRAMHiT's notes)."""
    spec = load_preset("epyc-9654")
    pus = cores_of_llc(spec, 0, cores)
    assert written_gbs(spec, pus, pages=100) == pytest.approx(28.6, rel=WITHIN)
    assert written_gbs(without_links_to_the_io_die(spec), pus, pages=100) > 1.4 * 28.6


def test_all_core_dies_of_a_socket_read_what_its_memory_gives() -> None:
    """STREAM of a socket: 378 GB/s; 360 (likwid-bench) to 367 (DRAMHiT's notes) elsewhere."""
    spec = load_preset("epyc-9654-nps1")
    pus = cores_of(spec, 0, 48)
    assert {pu.llc for pu in spec.topology.pus if int(pu.os_index) in pus} == set(range(12))
    assert read_gbs(spec, pus, pages=100) == pytest.approx(378, rel=WITHIN)


def test_the_core_dies_of_a_quadrant_read_what_its_memory_gives() -> None:
    spec = load_preset("epyc-9654")
    assert read_gbs(spec, cores_of(spec, 0, 24), pages=100) == pytest.approx(378 / 4, rel=WITHIN)


def test_reads_and_writes_of_a_quadrant_share_its_memory() -> None:
    """Three core dies can write 86 GB/s, and read as much meanwhile: more than memory does."""
    spec = load_preset("epyc-9654")
    written = written_gbs(spec, cores_of(spec, 0, 24), pages=60)
    assert written == pytest.approx(378 / 4 / 2, rel=WITHIN)


def test_memory_takes_no_more_lines_than_its_channels_carry() -> None:
    """Under MESI a modified line that another socket reads goes to memory as well. No reader waits
    for memory's answer, but each waits until memory has room for that line.
    """
    spec = without_prefetch(load_preset("xeon-8480"))
    pairs = [
        pair
        for node in range(4)
        for pair in zip(cores_of(spec, node, 14), cores_of(spec, node + 4, 14), strict=True)
    ]
    assert passed_on_gbs(spec, pairs) == pytest.approx(spec.bandwidth.memory_gbs[0], rel=WITHIN)


def test_an_l3_of_genoa_gives_its_cores_24_bytes_a_clock() -> None:
    """AIDA64 read 1446 GB/s from the two L3s of a Ryzen 9 7900X with twelve cores at 5 GHz."""
    spec = load_preset("epyc-9654")
    pus = cores_of_llc(spec, 0, 8)
    published = 8 * 24 * 3.7
    assert llc_gbs(spec, pus) == pytest.approx(published, rel=WITHIN)
    assert llc_gbs(without_links_to_the_io_die(spec), pus) > 1.2 * published


def test_a_node_of_sapphire_rapids_reads_81_percent_of_its_channels() -> None:
    """Chips and Cheese on Genoa-X: two of a socket's eight channels of DDR5-4800 are a node's."""
    spec = without_prefetch(load_preset("xeon-8480"))
    assert read_gbs(spec, cores_of(spec, 0, 14)) == pytest.approx(0.81 * 307.2 / 4, rel=WITHIN)
