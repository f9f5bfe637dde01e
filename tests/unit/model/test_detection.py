"""Memory of detectors, what they sense, and settings that they refuse."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autofinity.model.detection import (
    AccessSampling,
    Detector,
    FaultSampling,
    HintingFaults,
    RemoteAccesses,
    TlbAccessCounters,
    TlbMatching,
    senses_pages,
    senses_sharing,
)
from autofinity.model.errors import UsageError
from autofinity.model.sharing import page_number, process_and_page

NODES, THREAD_ID_BYTES = 4, 2


def test_kmaf14_section_3_5_1_a_page_takes_20_bytes_on_four_nodes_which_is_half_a_percent() -> None:
    kmaf = FaultSampling(table="sub-blocks", block_bytes=1024)
    thread_ids = 4096 // kmaf.block_bytes * kmaf.sharers  # equation 7
    size_bytes = NODES * kmaf.counter_bits / 8 + thread_ids * THREAD_ID_BYTES
    assert size_bytes == 20
    assert round(100 * size_bytes / 4096, 2) == 0.49


def test_kmaf16_section_4_8_1_a_page_takes_a_byte_a_node() -> None:
    assert FaultSampling().counter_bits == 8  # equation 9


def test_kmaf16_section_4_8_1_the_hash_table_takes_4_mib() -> None:
    kmaf = FaultSampling()
    assert kmaf.entries * kmaf.sharers * THREAD_ID_BYTES == 4 << 20  # equation 10


def test_sammu_section_4_4_a_page_history_entry_takes_8_bytes() -> None:
    sammu = TlbAccessCounters()
    threshold, sharers = sammu.access_counter_bits, 8 * sammu.sharers  # table 1
    assert threshold + sharers + NODES * sammu.numa_counter_bits == 8 * 8


@pytest.mark.parametrize(
    ("detector", "sharing", "pages"),
    [
        (FaultSampling(), True, True),
        (FaultSampling(table="none"), False, True),
        (TlbAccessCounters(), True, True),
        (TlbMatching(), True, False),
        (RemoteAccesses(), True, False),
        (AccessSampling(), False, True),
        (HintingFaults(), False, True),
    ],
)
def test_detectors_sense_sharing_or_pages(detector: Detector, sharing: bool, pages: bool) -> None:
    assert (senses_sharing(detector), senses_pages(detector)) == (sharing, pages)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: FaultSampling(share_per_s=-1), "share_per_s is -1"),
        (lambda: FaultSampling(round_ns=0), "round_ns is 0"),
        (lambda: FaultSampling(block_bytes=32), "those of lines of 64"),
        (lambda: FaultSampling(entries=1000), "power of two"),
        (lambda: FaultSampling(sharers=9), "expected 1 to 8"),
        (lambda: FaultSampling(counter_bits=3), "expected 4, 8, 16 or 32"),
        (lambda: FaultSampling(fault_ns=float("nan")), "negative or too long"),
        (lambda: TlbAccessCounters(access_counter_bits=33), "expected 1 to 32"),
        (lambda: TlbAccessCounters(numa_counter_bits=0), "expected 1 to 16"),
        (lambda: TlbAccessCounters(numa_threshold=16), "never exceeds"),
        (lambda: TlbAccessCounters(v_add=0), "v_add is 0"),
        (lambda: TlbMatching(misses=0), "misses is 0"),
        (lambda: TlbMatching(period_ns=0), "period_ns is 0"),
        (lambda: TlbMatching(misses_scale=0), "misses_scale is 0; expected more than 0"),
        (lambda: TlbMatching(most_share=1.5), "most_share is 1.5; .* at most 1"),
        (lambda: RemoteAccesses(period=0), "period is 0"),
        (lambda: AccessSampling(pages=0), "pages is 0"),
        (lambda: HintingFaults(scan_bytes=1), "expected a page"),
        (lambda: FaultSampling(share_per_s=float("inf")), "share_per_s is inf"),
        (lambda: RemoteAccesses(period=10**18), "period is 1"),
        (lambda: HintingFaults(scan_period_ns=0), "scan_period_ns is 0"),
    ],
)
def test_a_detector_that_no_machine_could_have_says_why(
    make: Callable[[], Detector], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        make()


def test_page_numbers_of_several_processes_differ_and_come_apart_again() -> None:
    assert page_number(0, 77) == 77
    assert page_number(1, 77) != page_number(2, 77)
    assert process_and_page(page_number(3, (1 << 36) - 1)) == (3, (1 << 36) - 1)
