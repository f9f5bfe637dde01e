"""The oracle's knowledge: sharing and page accesses of the whole trace."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sim_programs import BASE, LINES_PER_PAGE

from autofinity._core import sim as core
from autofinity._core.trace import TraceBuilder
from autofinity.detect.agreement import correlation
from autofinity.detect.scaled import SCALED, RunWithout
from autofinity.detect.whole_trace import whole_trace
from autofinity.model.detection import FaultSampling, RemoteAccesses, TlbAccessCounters, TlbMatching
from autofinity.model.errors import SimulationError, UsageError
from autofinity.model.sharing import SharingMatrix

PAGE = BASE // LINES_PER_PAGE


def program() -> core.Program:
    """A main thread that writes everything before the region, and two workers."""
    builder = TraceBuilder()
    main, first, second = (builder.stream() for _ in range(3))
    for line in range(3 * LINES_PER_PAGE):
        builder.access(main, BASE + line, 0, 1)
    builder.roi_begin(main)
    for worker in (first, second):
        builder.post(main, worker)
        builder.wait(worker, worker)
    builder.access(first, BASE, 3, 1)  # a line of both: 4 accesses against 7
    builder.access(second, BASE, 7, 0)
    builder.access(first, BASE + 1, 5, 0)  # other lines of the same page
    builder.access(second, BASE + 2, 6, 0)
    builder.access(second, BASE + LINES_PER_PAGE, 1, 1)
    builder.access(main, BASE + LINES_PER_PAGE, 2, 0)  # the line is shared with main, less
    for worker in (first, second):
        builder.post(worker, 10 + worker)
        builder.wait(main, 10 + worker)
    builder.roi_end(main)
    return core.Program(builder.build())


def test_threads_share_a_line_as_often_as_the_one_that_accesses_it_less() -> None:
    sharing, _ = whole_trace(program(), [1, 2])
    assert sharing.cells == ((0, 4), (4, 0))


def test_only_threads_that_are_asked_for_and_accesses_in_the_region_count() -> None:
    sharing, pages = whole_trace(program(), [0, 1, 2])
    assert sharing.cells == ((0, 0, 2), (0, 0, 4), (2, 4, 0))
    assert pages.pages == {PAGE: (0, 9, 13), PAGE + 1: (2, 0, 2)}


def test_larger_pages_have_the_number_of_their_first_4_kib() -> None:
    _, pages = whole_trace(program(), [1, 2], 2 << 20)
    assert pages.pages == {PAGE & ~511: (9, 15)}
    assert pages.page_size_bytes == 2 << 20


def test_accesses_by_thread_become_vectors_by_node() -> None:
    _, pages = whole_trace(program(), [0, 1, 2])
    vectors = pages.by_node([1, 3, 1], nodes=4)
    assert vectors.pages == {PAGE: (0, 13, 0, 9), PAGE + 1: (0, 4, 0, 0)}


def test_a_stream_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(SimulationError, match="no stream 3; the trace has 3"):
        whole_trace(program(), [1, 3])


def matrix(*rows: tuple[float, ...]) -> SharingMatrix:
    return SharingMatrix(rows)


def test_matrices_agree_by_what_is_beside_the_diagonal() -> None:
    pairs = matrix((0, 5, 0), (5, 0, 1), (0, 1, 0))
    assert correlation(pairs, pairs) == pytest.approx(1)
    other = matrix((0, 0, 5), (0, 0, 4), (5, 4, 0))
    assert correlation(pairs, other) == pytest.approx(
        np.corrcoef([5, 0, 5, 1, 0, 1], [0, 5, 0, 4, 5, 4])[0, 1]
    )


def test_no_correlation_is_known_of_an_even_matrix() -> None:
    even = matrix((0, 2), (2, 0))
    assert math.isnan(correlation(even, even))
    assert math.isnan(correlation(matrix((0,)), matrix((0,))))
    with pytest.raises(UsageError, match="matrices of 2 and 1 threads"):
        correlation(even, matrix((0,)))


def test_rates_are_scaled_to_the_length_of_the_run() -> None:
    run = RunWithout(
        roi_ns=10_000_000,
        threads=4,
        page_walks=80_000,
        remote_accesses=8_000,
        accesses_per_page=10_300.0,
        tlb_entries=512,
    )
    faults, tlb, sammu, remote = (
        SCALED[name](run) for name in ("faults", "tlb", "sammu", "remote")
    )
    assert isinstance(faults, FaultSampling)
    assert faults.share_per_s * run.roi_ns / 1e9 == pytest.approx(20)
    assert faults.round_ns == 50_000
    assert tlb == TlbMatching(misses=200)
    assert sammu == TlbAccessCounters(access_counter_bits=10)  # 10 updates of 1 030 accesses
    assert remote == RemoteAccesses(period=2)


def test_tlb_misses_until_a_trigger_are_never_more_than_the_papers() -> None:
    run = RunWithout(
        10**9, 2, page_walks=10**9, remote_accesses=0, accesses_per_page=0, tlb_entries=512
    )
    assert SCALED["tlb"](run) == TlbMatching(misses=2 * 512)
    empty = RunWithout(0, 2, page_walks=0, remote_accesses=0, accesses_per_page=0, tlb_entries=512)
    assert all(make(empty) for make in SCALED.values())
