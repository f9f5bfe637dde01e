"""Pages that move to other nodes in batches, and to yet other nodes or home again.

    home ──► {node 1: (0,)} ──► {1: (2,), 3: (0,)} ──► home
             a view: home node of pages → nodes where they are, in turns

Pages keep their home, the node where they were first found, until moves are final. So pages of
several homes on one node can be distinguished, and each page goes straight from view to view.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence

from autofinity.ports import MovePages, ShowsMemory

_SCATTERED = 1 << 18
"""Largest number of pages whose home is remembered that come at no regular distance: 2 MB of the
monitor's memory. Others take little."""
_TURN = 512
"""Pages in a row that go to one node: a transparent large page of 2 MiB moves as a whole."""
_LONG_NS = 1_000_000_000

type View = Mapping[int, tuple[int, ...]]


class PageMoves:
    """Moves of pages from view to view; homes are remembered until moves are final."""

    def __init__(self, process: ShowsMemory) -> None:
        self._process = process
        self._left: Iterator[tuple[Sequence[int], tuple[int, ...]]] | None = None
        self._homes: list[tuple[Sequence[int], int]] = []
        self._scattered = 0
        self.view: View = {}
        """Where pages are, or move to now; those of other homes are at home."""
        self._reached = True
        self.returning = False
        """Whether pages are on their way back."""
        self.moved = 0
        """Number of pages moved since the last `begin`."""
        self.stayed = 0
        self.took_ns = 0
        """Time for which pages were copied since the last `begin`."""

    @property
    def under_way(self) -> bool:
        """Whether some pages are still to be moved."""
        return self._left is not None

    def begin(self, view: View, one_in: int = 1) -> None:
        """Begin to move pages into a view: in an order in which each node is emptied before pages
        come to it, where its own pages leave it. One of so many batches of pages at home moves.
        """
        was: View | None = self.view if self._reached else None
        self._left, self.returning = self._batches(was, view, one_in), False
        self.view, self._reached = view, False
        self.moved = self.stayed = self.took_ns = 0

    def go_on(self, batches: int) -> None:
        """Move up to `batches` more batches, and no more after a second of copying: pages of 1 GiB
        are batches, too. The move ends where none of their pages could be moved; pages on their way
        back go on, as others may still be there.
        """
        moved, stayed, took_ns = self.moved, self.stayed, self.took_ns
        for _ in range(batches):
            step = None if self._left is None else next(self._left, None)
            if step is None:
                self._left, self._reached, self.returning = None, True, False
                return
            pages, nodes = step
            if not pages:
                continue
            outcome = self._process.apply((_to(nodes, pages),))
            self.moved += outcome.done
            self.took_ns += outcome.cost_ns
            self.stayed += len(pages) - outcome.done
            if self.took_ns - took_ns > _LONG_NS:
                break
        none = self.moved == moved and self.stayed > stayed
        if none and not self.returning:  # not permitted, or there is no room
            self._left = None

    def stop(self) -> None:
        """Stop; pages that were not moved yet stay. Pages on their way back go on."""
        if not self.returning:
            self._left = None

    def back(self, view: View) -> None:
        """Begin to move the pages whose homes are known into an earlier view."""
        was: View | None = self.view if self._reached else None
        self._left, self.returning = self._known(was, view), True
        self.view, self._reached = view, False

    def final(self) -> None:
        """Make the moves final: the current node of a page is its home now."""
        self._homes, self._scattered = [], 0
        self.view, self._reached, self.returning = {}, True, False

    def _batches(
        self, was: View | None, view: View, one_in: int
    ) -> Iterator[tuple[Sequence[int], tuple[int, ...]]]:
        """Batches of pages to move, each with the nodes that they go to in turns; an empty one for
        each look that found none.
        """
        yield from self._known(was, view)
        for home, nodes in view.items():
            guests = [pages for pages, h in self._homes if _may_be(home, h, was, view)]
            for some in self._process.pages_on(home, one_in):
                own = _without(some, guests) if some else ()
                if own:
                    self._remember(own, home)
                yield own, nodes

    def _known(
        self, was: View | None, view: View
    ) -> Iterator[tuple[Sequence[int], tuple[int, ...]]]:
        """Batches of the pages whose homes are known, where they go on."""
        for pages, home in tuple(self._homes):
            nodes = view.get(home, (home,))
            if was is None or nodes != was.get(home, (home,)):
                yield pages, nodes

    def _remember(self, pages: tuple[int, ...], home: int) -> None:
        step = pages[1] - pages[0] if len(pages) > 1 else 1
        run = range(pages[0], pages[-1] + 1, step) if step > 0 else range(0)
        if len(run) == len(pages) and tuple(run) == pages:  # a far page would make a huge tuple
            self._homes.append((run, home))
        elif self._scattered < _SCATTERED:
            self._homes.append((array("Q", pages), home))
            self._scattered += len(pages)


def _may_be(node: int, home: int, was: View | None, view: View) -> bool:
    """Whether known pages of a home may be on this node: in the view before, or in this one by
    now.
    """
    return was is None or any(node in each.get(home, (home,)) for each in (was, view))


def _without(pages: Sequence[int], guests: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The pages that are none of the guests, which come in ascending order."""
    own = dict.fromkeys(pages)
    least, most = min(pages), max(pages)
    for some in guests:
        if some[0] <= most and least <= some[-1]:
            for page in some:
                own.pop(page, None)
    return tuple(own)


def _to(nodes: tuple[int, ...], pages: Sequence[int]) -> MovePages:
    """The move of pages to these nodes in turns."""
    at = tuple(nodes[page // _TURN % len(nodes)] for page in pages)
    return MovePages(tuple(pages), at)
