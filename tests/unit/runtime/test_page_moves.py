"""Pages that move from view to view, and keep their homes until moves are final."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from autofinity.model.memory import MemoryByNode
from autofinity.ports import Action, Interval, MovePages, Outcome
from autofinity.runtime.page_moves import PageMoves, View

EACH = 10


class Pages:
    """Ten pages on each of four nodes: 0 to 9 on node 0, and so on."""

    def __init__(self, batch: int = EACH) -> None:
        self.batch = batch
        self.nodes = {page: page // EACH for page in range(4 * EACH)}
        self.moved: list[int] = []
        self.refuses = False
        self.batch_ns = 0
        """Time that a batch takes."""
        self.looks_between = 0
        """Looks that find no page, before each batch."""

    def advance(self, duration_ns: int) -> Interval:
        raise AssertionError("the loop's to call")

    def apply(self, actions: Sequence[Action]) -> Outcome:
        (action,) = actions
        assert isinstance(action, MovePages)
        if self.refuses:
            return Outcome(0, len(action.pages), ("EPERM",))
        there = [
            each for each in zip(action.pages, action.nodes, strict=True) if each[0] in self.nodes
        ]
        self.moved += [page for page, _ in there]
        self.nodes.update(there)
        return Outcome(len(there), len(action.pages) - len(there), cost_ns=self.batch_ns)

    def memory(self) -> MemoryByNode | None:
        raise AssertionError("not looked at")

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        found = [page for page, on in self.nodes.items() if on == node]
        for batch in itertools.islice(itertools.batched(found, self.batch), 0, None, one_in):
            yield from ((),) * self.looks_between
            yield batch

    def by_home(self) -> Mapping[int, set[int]]:
        """Nodes where the pages of each first node are."""
        return {
            home: {self.nodes[page] for page in range(home * EACH, (home + 1) * EACH)}
            for home in range(4)
        }


PACKED: View = {1: (0,), 2: (0,), 3: (0,)}
PAIRS: View = {1: (0,), 3: (2,)}


def all_moved(moves: PageMoves, view: View) -> None:
    moves.begin(view)
    while moves.under_way:
        moves.go_on(1)


def all_back(moves: PageMoves, view: View) -> None:
    moves.back(view)
    while moves.under_way:
        moves.stop()  # pages on their way back go on
        moves.go_on(1)


def test_pages_of_several_homes_on_one_node_go_on_to_nodes_of_their_own() -> None:
    pages = Pages()
    moves = PageMoves(pages)
    all_moved(moves, PACKED)
    assert pages.by_home() == {home: {0} for home in range(4)}
    pages.moved.clear()
    all_moved(moves, PAIRS)
    assert pages.by_home() == {0: {0}, 1: {0}, 2: {2}, 3: {2}}
    assert sorted(pages.moved) == list(range(20, 40))  # each straight, and no others


def test_pages_go_back_to_an_earlier_view_and_home() -> None:
    pages = Pages()
    moves = PageMoves(pages)
    all_moved(moves, PACKED)
    all_moved(moves, PAIRS)
    all_back(moves, PACKED)
    assert pages.by_home() == {home: {0} for home in range(4)}
    all_back(moves, {})
    assert pages.by_home() == {home: {home} for home in range(4)}


def test_pages_that_left_no_node_before_leave_it_without_its_guests() -> None:
    pages = Pages()
    moves = PageMoves(pages)
    all_moved(moves, PACKED)
    all_moved(moves, {0: (3,)})
    assert pages.by_home() == {0: {3}, 1: {1}, 2: {2}, 3: {3}}


def test_pages_that_came_to_a_node_in_this_move_do_not_leave_with_its_own() -> None:
    pages = Pages()
    moves = PageMoves(pages)
    all_moved(moves, PACKED)
    all_moved(moves, {2: (3,), 1: (2,)})
    assert pages.by_home() == {0: {0}, 1: {2}, 2: {3}, 3: {3}}
    all_back(moves, {})
    assert pages.by_home() == {home: {home} for home in range(4)}


def test_pages_of_a_move_that_was_stopped_all_go_back() -> None:
    pages = Pages()
    moves = PageMoves(pages)
    moves.begin(PACKED)
    moves.go_on(2)
    moves.stop()
    assert len(pages.moved) == 2 * EACH
    all_back(moves, {})
    assert pages.by_home() == {home: {home} for home in range(4)}


def test_pages_on_their_way_back_that_go_on_elsewhere_all_come_there() -> None:
    pages = Pages()
    moves = PageMoves(pages)
    all_moved(moves, PACKED)
    moves.back({})
    moves.go_on(1)
    all_moved(moves, PAIRS)
    assert pages.by_home() == {0: {0}, 1: {0}, 2: {2}, 3: {2}}


def test_final_moves_make_where_pages_are_their_home() -> None:
    pages = Pages()
    moves = PageMoves(pages)
    all_moved(moves, PAIRS)
    moves.final()
    all_back(moves, {})
    assert pages.by_home() == {0: {0}, 1: {0}, 2: {2}, 3: {2}}


def test_a_move_that_is_refused_ends_and_says_how_many_stayed() -> None:
    pages = Pages()
    pages.refuses = True
    moves = PageMoves(pages)
    all_moved(moves, PACKED)
    assert (moves.moved, moves.stayed) == (0, EACH)


def test_a_part_of_the_batches_moves_first_and_then_the_others() -> None:
    pages = Pages(batch=2)
    moves = PageMoves(pages)
    moves.begin(PACKED, one_in=4)
    while moves.under_way:
        moves.go_on(1)
    part = [10, 11, 18, 19, 20, 21, 28, 29, 30, 31, 38, 39]
    assert pages.moved == part
    moves.final()
    pages.moved.clear()
    all_moved(moves, PACKED)
    assert sorted(pages.moved) == sorted(set(range(10, 40)) - set(part))


def test_pages_on_their_way_back_come_home_where_others_of_them_were_freed() -> None:
    pages = Pages(batch=2)
    moves = PageMoves(pages)
    all_moved(moves, PACKED)
    for page in range(10, 16):
        del pages.nodes[page]
    all_back(moves, {})
    assert pages.nodes == {page: page // EACH for page in pages.nodes}


def test_looks_that_find_no_page_count_and_end_no_move() -> None:
    pages = Pages(batch=2)
    pages.looks_between = 5
    moves = PageMoves(pages)
    moves.begin({1: (0,)})
    turns = 0
    while moves.under_way:
        before = len(pages.moved)
        moves.go_on(3)
        assert len(pages.moved) - before <= 2
        turns += 1
    assert pages.moved == list(range(10, 20))
    assert turns == 30 // 3 + 1


def test_a_turn_ends_after_a_second_of_copying() -> None:
    pages = Pages(batch=1)
    pages.batch_ns = 400_000_000
    moves = PageMoves(pages)
    moves.begin({1: (0,)})
    moves.go_on(64)
    assert len(pages.moved) == 3
    assert moves.under_way
