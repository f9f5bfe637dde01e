"""Bandwidths that were measured on machines of today, where more than their memory limits them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from measure_bandwidth import cores_of_llc, llc_gbs, read_gbs, written_gbs
from measure_queues import cores_of

from autofinity.sim.preset import load_preset
from autofinity.sim.spec import MachineSpec

WITHIN = 0.10


def without_links_to_the_io_die(spec: MachineSpec) -> MachineSpec:
    return replace(spec, bandwidth=replace(spec.bandwidth, fabric_gbs=0.0, fabric_write_gbs=0.0))


def test_a_die_of_the_7950x_reads_and_writes_what_its_link_lets_through() -> None:
    """32 and 16 bytes at 2 GHz, which restrict it (Chips and Cheese, 2023-01-05, of one die)."""
    spec = load_preset("ryzen-9-7950x")
    pus = cores_of_llc(spec, 0, 8)
    assert read_gbs(spec, pus) == pytest.approx(64, rel=WITHIN)
    assert written_gbs(spec, pus, pages=100) == pytest.approx(32, rel=WITHIN)
    free = without_links_to_the_io_die(spec)
    assert read_gbs(free, pus) > 1.15 * 64
    assert written_gbs(free, pus, pages=100) > 1.15 * 32


def test_both_dies_of_the_7950x_read_what_its_memory_gives() -> None:
    """81 % of DDR5-6000 (Chips and Cheese, 2023-01-05)."""
    spec = load_preset("ryzen-9-7950x")
    assert read_gbs(spec, cores_of(spec, 0, 16)) == pytest.approx(0.81 * 96, rel=WITHIN)


def test_a_die_of_the_9755_reads_half_of_what_a_die_with_two_links_does() -> None:
    """99.8 GB/s of a die of the EPYC 9355P, whose dies have two (Chips and Cheese, 2025-09-30)."""
    spec = load_preset("epyc-9755")
    pus = cores_of_llc(spec, 0, 8)
    assert read_gbs(spec, pus) == pytest.approx(99.8 / 2, rel=WITHIN)
    assert read_gbs(without_links_to_the_io_die(spec), pus) > 1.2 * 99.8 / 2


def test_a_die_of_the_6972p_reads_its_own_memory_at_a_third_of_the_socket() -> None:
    """608.9 GB/s of a socket of 6962P; just below 20 by a core of a 6985P-C (Chips and Cheese)."""
    spec = load_preset("xeon-6972p")
    assert read_gbs(spec, cores_of(spec, 0, 32)) == pytest.approx(608.9 / 3, rel=WITHIN)
    assert read_gbs(spec, cores_of_llc(spec, 0, 1)) == pytest.approx(20, rel=0.15)


def test_an_l3_of_the_7950x_gives_its_cores_850_gigabytes_a_second() -> None:
    """852.3 GB/s of a die of a 7950X3D (Chips and Cheese on the Ryzen 9950X)."""
    spec = load_preset("ryzen-9-7950x")
    assert llc_gbs(spec, cores_of_llc(spec, 0, 8)) == pytest.approx(852.3, rel=WITHIN)
