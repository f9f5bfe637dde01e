"""The papers' worked examples, on the tables that the simulator's detectors use."""

from __future__ import annotations

import pytest

from autofinity._core import detect

T0, T1, T2, T3 = range(4)


def pairs(counts: detect.SharingCounts) -> dict[tuple[int, int], int]:
    """Cells above the diagonal that are not 0; the matrix must be symmetric."""
    cells = counts.cells()
    assert cells == [list(row) for row in zip(*cells, strict=True)]
    assert all(cells[i][i] == 0 for i in range(len(cells)))
    return {
        (i, j): cells[i][j]
        for i in range(len(cells))
        for j in range(i + 1, len(cells))
        if cells[i][j]
    }


def test_kmaf16_section_4_3_3_a_new_thread_counts_with_both_before_one_leaves() -> None:
    table, before, counts = detect.BlockTable(), detect.SharingCounts(4), detect.SharingCounts(4)
    table.touch(7, T2, before)
    table.touch(7, T0, before)
    assert table.threads_at(7) == [T0, T2]
    table.touch(7, T3, counts)
    assert table.threads_at(7) == [T3, T0]
    assert pairs(counts) == {(T0, T3): 1, (T2, T3): 1}


def test_the_latest_thread_of_a_block_neither_shifts_nor_counts() -> None:
    table, counts = detect.BlockTable(), detect.SharingCounts(4)
    for _ in range(5):
        table.touch(7, T1, counts)
    assert table.threads_at(7) == [T1]
    assert pairs(counts) == {}


def test_threads_that_take_turns_at_a_block_count_each_time() -> None:
    table, counts = detect.BlockTable(), detect.SharingCounts(4)
    for thread in (T1, T2, T1, T2):
        table.touch(7, thread, counts)
    assert table.threads_at(7) == [T2, T1]
    assert pairs(counts) == {(T1, T2): 3}


def test_kmaf16_section_4_8_1_a_block_that_meets_the_entry_of_another_overwrites_it() -> None:
    table, counts = detect.BlockTable(entries=1), detect.SharingCounts(4)
    table.touch(7, T1, counts)
    table.touch(8, T2, counts)
    assert table.threads_at(7) == []
    assert table.threads_at(8) == [T2]
    assert pairs(counts) == {}


def test_kmaf14_section_3_figure_5_moves_thread_0_back_and_counts_the_pair() -> None:
    table, counts = detect.SubBlockTable(), detect.SharingCounts(4)
    table.touch(7, T0, counts)
    table.touch(7, T3, counts)
    assert table.threads_at(7) == [T3, T0]
    assert pairs(counts) == {(T0, T3): 1}


def test_kmaf14_section_3_2_all_pairs_of_the_vector_count_on_every_fault() -> None:
    table, counts = detect.SubBlockTable(sharers=3), detect.SharingCounts(4)
    for thread in (T0, T1, T2):
        table.touch(7, thread, counts)
    assert pairs(counts) == {(T0, T1): 2, (T0, T2): 1, (T1, T2): 1}
    table.touch(7, T2, counts)
    assert pairs(counts) == {(T0, T1): 3, (T0, T2): 2, (T1, T2): 2}


def test_figures_3_and_5_count_the_fault_for_its_node_and_one_byte_saturates() -> None:
    table = detect.NumaTable(nodes=4)
    for _ in range(300):
        table.count(7, 1)
    table.count(7, 3)
    assert table.vector_of(7) == [0, 255, 0, 1]
    table.halve(7)
    assert table.vector_of(7) == [0, 127, 0, 0]
    assert table.take_seen() == [7]
    assert table.take_seen() == []


def test_pages_beyond_the_most_that_are_kept_are_not_counted() -> None:
    table = detect.NumaTable(nodes=2, pages=1)
    table.count(7, 0)
    table.count(8, 1)
    assert (table.vector_of(7), table.vector_of(8)) == ([1, 0], [0, 0])


def test_sammu_section_3_1_raises_at_to_the_mean_and_lowers_it_by_a_quarter_at_most() -> None:
    assert detect.adjusted_threshold(0, 100) == 50
    assert detect.adjusted_threshold(100, 100) == 100
    assert detect.adjusted_threshold(100, 0) == 100
    assert detect.adjusted_threshold(100, 50) == 75
    most = 2**32 - 1
    assert detect.adjusted_threshold(most, most) == most
    assert min(detect.adjusted_threshold(4000, ac) for ac in range(4000)) == 3000


def test_sammu_section_3_3_five_own_updates_bring_a_page_to_its_threshold_from_zero() -> None:
    history, counts = detect.PageHistory(pages=1, nodes=4), detect.SharingCounts(4)
    reached = []
    for _ in range(5):
        reached.append(history.should_move(0, home=0, node=2))
        assert history.update(0, T1, 2, accesses=1000, counts=counts)
    assert not any(reached)
    assert history.should_move(0, home=0, node=2)
    assert not history.should_move(0, home=2, node=2)


def test_sammu_section_3_1_ignores_a_thread_that_stays_below_the_threshold() -> None:
    history, counts = detect.PageHistory(pages=1, nodes=2), detect.SharingCounts(4)
    assert history.update(0, T0, 0, accesses=1000, counts=counts)
    assert not history.update(0, T1, 1, accesses=250, counts=counts)
    assert history.state(0) == (375, [T0], [2, 0])
    assert pairs(counts) == {}
    assert history.update(0, T1, 1, accesses=375, counts=counts)
    assert history.state(0) == (375, [T1, T0], [1, 2])
    assert pairs(counts) == {(T0, T1): 1}


def test_sammu_table_1_numa_counters_stop_at_15_and_at_0() -> None:
    history, counts = detect.PageHistory(pages=1, nodes=2), detect.SharingCounts(2)
    for _ in range(20):
        history.update(0, T0, 1, accesses=1, counts=counts)
    assert history.state(0)[2] == [0, 15]


def test_sammu_section_3_2_a_thread_counts_in_its_own_row_only() -> None:
    """SM[T][SV[i]] of the thread T that comes: each line of SM is accessed by its thread only."""
    history, counts = detect.PageHistory(pages=1, nodes=1), detect.SharingCounts(4)
    for thread in (T0, T1, T2):
        assert history.update(0, thread, 0, accesses=9, counts=counts)
    assert counts.rows() == [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert pairs(counts) == {(T0, T1): 1, (T0, T2): 1, (T1, T2): 1}


FIGURE_4 = (
    ((0x00, 0x48), (0x10, 0x54), (0x25, 0x66), (0x37, 0x71)),
    ((0x01, 0x41), (0x11, 0x54), (0x29, 0x60), (0x37, 0x78)),
    ((0x02, 0x41), (0x12, 0x51), (0x21, 0x63), (0x32, 0x79)),
    ((0x03, 0x49), (0x13, 0x54), (0x22, 0x67), (0x30, 0x74)),
)
"""For each core's TLB, the two entries of each of its four sets."""


def figure_4() -> detect.TlbMirrors:
    mirrors = detect.TlbMirrors(cores=4, sets=4)
    for core, sets in enumerate(FIGURE_4):
        for number, entries in enumerate(sets):
            for page in entries:
                mirrors.put(core, number, page, core)
    return mirrors


def test_tlb_section_4_1_figure_4_has_three_shared_pages() -> None:
    counts = detect.SharingCounts(4)
    figure_4().match_all(counts)
    assert pairs(counts) == {(1, 2): 1, (0, 1): 2, (0, 3): 1, (1, 3): 1}


def test_a_core_that_compares_itself_finds_its_row_and_looks_at_equal_sets_only() -> None:
    counts = detect.SharingCounts(4)
    assert figure_4().match(1, counts) == 3 * 4 * 2
    assert pairs(counts) == {(1, 2): 1, (0, 1): 2, (1, 3): 1}


def test_tlb_section_4_2_4_pages_of_different_sets_do_not_match() -> None:
    mirrors, counts = detect.TlbMirrors(cores=2, sets=2), detect.SharingCounts(2)
    mirrors.put(0, 0, 0x40, T0)
    mirrors.put(1, 1, 0x40, T1)
    mirrors.match_all(counts)
    assert pairs(counts) == {}


def test_tlb_section_4_2_5_hardware_threads_of_one_tlb_share_the_pages_both_have_used() -> None:
    mirrors, counts = detect.TlbMirrors(cores=1, sets=1), detect.SharingCounts(2)
    mirrors.put(0, 0, 0x40, T0)
    mirrors.put(0, 0, 0x40, T1)
    mirrors.match(0, counts)
    assert pairs(counts) == {(T0, T1): 1}


@pytest.mark.parametrize(
    "make",
    [
        lambda: detect.SharingCounts(0),
        lambda: detect.BlockTable(entries=3),
        lambda: detect.BlockTable(sharers=9),
        lambda: detect.SubBlockTable(sharers=0),
        lambda: detect.BlockTable().touch(0, 4, detect.SharingCounts(4)),
        lambda: detect.NumaTable(2).count(0, 2),
        lambda: detect.PageHistory(1, 2).update(1, 0, 0, 1, detect.SharingCounts(1)),
        lambda: detect.TlbMirrors(1, 1).put(0, 1, 0, 0),
    ],
)
def test_numbers_that_no_table_has_are_refused(make: object) -> None:
    with pytest.raises(ValueError):
        make()  # type: ignore[operator]
