"""Faults in turn on one page count for the pair; a page of one thread counts for nobody."""

from __future__ import annotations

from autofinity.linux.touch_sharing import TouchSharing
from autofinity.linux.touches import Born, Record, Touch
from autofinity.model.topology import OsIndex


def faults(*of: tuple[int, int]) -> list[Record]:
    """(tid, page) in order of time."""
    return [Touch(at, 1, tid, page * 4096 + 8, OsIndex(0)) for at, (tid, page) in enumerate(of)]


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


def test_a_fault_counts_for_the_two_threads_before_it_and_no_more() -> None:
    found = tally(faults((10, 1), (11, 1), (12, 1), (13, 1)))
    cells = found.sharing.cells
    assert cells[3] == (0, 1, 1, 0)
    assert cells[2] == (1, 1, 0, 1)


def test_threads_are_numbered_by_creation_and_pages_of_processes_are_apart() -> None:
    records: list[Record] = [Born(0, 1, 20), Born(1, 2, 30)]
    records += [Touch(2, 2, 30, 4096, OsIndex(0)), Touch(3, 1, 20, 4096, OsIndex(0))]
    found = tally(records)
    assert found.tids == (20, 30)
    assert found.sharing.cells == ((0, 0), (0, 0))
    assert len(found.pages.pages) == 2
