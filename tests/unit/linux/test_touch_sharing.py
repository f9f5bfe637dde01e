"""Faults in turn on one sub-block count for the pair; one of one thread counts for nobody."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autofinity._core.detect import SharingCounts, SubBlockTable
from autofinity.linux.touch_sharing import TouchSharing
from autofinity.linux.touches import Born, Record, Touch
from autofinity.model.topology import OsIndex


def faults(*of: tuple[int, float]) -> list[Record]:
    """(tid, page, parts of which are places in it) in order of time."""
    return [Touch(at, 1, tid, int(page * 4096), OsIndex(0)) for at, (tid, page) in enumerate(of)]


def tally(records: list[Record]) -> TouchSharing:
    found = TouchSharing()
    found.add(records)
    return found


def test_two_threads_in_turn_on_one_page_share() -> None:
    found = tally(faults((10, 1), (11, 1), (10, 1), (12, 2), (12, 2)))
    assert found.tids == (10, 11, 12)
    assert found.sharing.cells == ((0, 2, 0), (2, 0, 0), (0, 0, 0))
    assert sorted(found.pages.pages.values()) == [(0, 0, 2), (2, 1, 0)]
    assert found.touches == 5


def test_kmaf14_section_3_2_the_last_two_threads_of_a_sub_block_are_kept() -> None:
    found = tally(faults((10, 1), (11, 1), (12, 1), (13, 1)))
    assert found.sharing.cells == ((0, 1, 0, 0), (1, 0, 1, 0), (0, 1, 0, 1), (0, 0, 1, 0))


def test_kmaf14_section_3_2_all_pairs_of_a_sub_block_count_on_every_fault() -> None:
    found = tally(faults((10, 1), (11, 1), (11, 1), (10, 1)))
    assert found.sharing.cells == ((0, 3), (3, 0))


def test_kmaf14_table_2_sub_blocks_of_1_kib_are_apart_and_their_pages_one() -> None:
    found = tally(faults((10, 1), (11, 1.25), (12, 1.2499), (13, 1.75)))
    assert found.sharing.cells == ((0, 0, 1, 0), (0, 0, 0, 0), (1, 0, 0, 0), (0, 0, 0, 0))
    assert list(found.pages.pages.values()) == [(1, 1, 1, 1)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7)), max_size=60))
def test_kmaf14_figure_5_a_program_here_is_seen_as_one_on_the_simulated_machine(
    touches: list[tuple[int, int]],
) -> None:
    table, counts = SubBlockTable(2), SharingCounts(4)
    born: list[Record] = [Born(0, 1, tid) for tid in range(4)]
    for thread, block in touches:
        table.touch(block, thread, counts)
    found = tally(born + faults(*((tid, block / 4) for tid, block in touches)))
    assert found.sharing.cells == tuple(map(tuple, counts.cells()))


def test_threads_are_numbered_by_creation_and_pages_of_processes_are_apart() -> None:
    records: list[Record] = [Born(0, 1, 20), Born(1, 2, 30)]
    records += [Touch(2, 2, 30, 4096, OsIndex(0)), Touch(3, 1, 20, 4096, OsIndex(0))]
    found = tally(records)
    assert found.tids == (20, 30)
    assert found.sharing.cells == ((0, 0), (0, 0))
    assert len(found.pages.pages) == 2
