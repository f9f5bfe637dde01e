"""Pages that move from view to view are where the view says, whichever views came before."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from autofinity.model.memory import MemoryByNode
from autofinity.ports import Action, Interval, MovePages, Outcome
from autofinity.runtime.page_moves import PageMoves, View

NODES, EACH, TURN = 4, 6, 512
FAR = 1 << 48
"""A page there, as of a stack, is as far from a heap as a program's pages can be."""
STRIDES = (1, 3, TURN)
"""Pages in a row, in no row, and large ones."""


class Pages:
    """Six pages on each of four nodes, and one far away."""

    def __init__(self, stride: int, batch: int) -> None:
        self.batch = batch
        self.nodes = {stride * n: n // EACH for n in range(NODES * EACH)}
        self.nodes |= {FAR + home: home for home in range(NODES)}
        self.homes = dict(self.nodes)

    def advance(self, duration_ns: int) -> Interval:
        raise AssertionError("the loop's to call")

    def memory(self) -> MemoryByNode | None:
        raise AssertionError("not looked at")

    def apply(self, actions: Sequence[Action]) -> Outcome:
        (action,) = actions
        assert isinstance(action, MovePages)
        self.nodes.update(zip(action.pages, action.nodes, strict=True))
        return Outcome(len(action.pages), 0)

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        found = [page for page, on in self.nodes.items() if on == node]
        yield from itertools.islice(itertools.batched(found, self.batch), 0, None, one_in)

    def are_in(self, view: View) -> bool:
        return all(
            on == (to := view.get(self.homes[page], (self.homes[page],)))[page // TURN % len(to)]
            for page, on in self.nodes.items()
        )


@st.composite
def views(draw: st.DrawFn) -> View:
    """In an order in which each node is emptied before pages come to it."""
    order = draw(st.permutations(range(NODES)))
    leaving = order[: draw(st.integers(0, NODES - 1))]
    view = {}
    for number, node in enumerate(leaving):
        ready = [other for other in order if other not in leaving[number:]]
        view[node] = tuple(draw(st.lists(st.sampled_from(ready), min_size=1, max_size=3)))
    return view


@given(
    st.lists(st.tuples(views(), st.booleans()), max_size=5),
    st.sampled_from(STRIDES),
    st.integers(1, EACH),
)
def test_pages_are_where_the_last_view_says_and_go_home(
    course: list[tuple[View, bool]], stride: int, batch: int
) -> None:
    """Each view is reached, or its move is stopped after one batch; so is each way back."""
    pages = Pages(stride, batch)
    moves = PageMoves(pages)
    for view, stops in course:
        moves.back({})
        moves.go_on(1)
        moves.begin(view)
        moves.go_on(1)
        if stops:
            moves.stop()
            continue
        while moves.under_way:
            moves.go_on(1)
        assert pages.are_in(view)
    moves.back({})
    while moves.under_way:
        moves.go_on(1)
    assert pages.are_in({})
