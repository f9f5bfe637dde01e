"""Pages that move to other nodes in batches, and to yet other nodes or home again.

    home ──► {node 1: (0,)} ──► {1: (2,), 3: (0,)} ──► home
             a view: home node of pages → nodes where they are, in turns

Pages keep their home, the node where they were first found, until moves are final. So pages of
several homes on one node can be distinguished, and each page goes straight from view to view.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from autofinity.ports import MovePages, ShowsMemory

_REMEMBERED = 1 << 16
"""Largest number of pages whose home is remembered: their list is the monitor's memory."""

type View = Mapping[int, tuple[int, ...]]


class PageMoves:
    """Moves of pages from view to view; homes are remembered until moves are final."""

    def __init__(self, process: ShowsMemory) -> None:
        self._process = process
        self._left: Iterator[tuple[tuple[int, ...], tuple[int, ...]]] | None = None
        self._homes: list[tuple[tuple[int, ...], int]] = []
        self._remembered = 0
        self.view: View = {}
        """Where pages are, or move to now; those of other homes are at home."""
        self._reached = True
        self.moved = 0
        """Number of pages moved since the last `begin`."""
        self.stayed = 0

    @property
    def under_way(self) -> bool:
        """Whether some pages are still to be moved."""
        return self._left is not None

    def begin(self, view: View) -> None:
        """Begin to move pages into a view: in an order in which each node is emptied before pages
        come to it, where its own pages leave it.
        """
        was: View | None = self.view if self._reached else None
        self._left = self._batches(was, view)
        self.view, self._reached = view, False
        self.moved = self.stayed = 0

    def go_on(self, batches: int) -> None:
        """Move up to `batches` more batches. The move ends where none of their pages could be
        moved.
        """
        before = self.moved
        for _ in range(batches):
            pages, nodes = next(self._left or iter(()), ((), ()))
            if not nodes:
                self._left, self._reached = None, True
                return
            outcome = self._process.apply(
                (MovePages(pages, tuple(nodes[page % len(nodes)] for page in pages)),)
            )
            self.moved += outcome.done
            self.stayed += len(pages) - outcome.done
        if self.moved == before and self.stayed:  # not permitted, or there is no room
            self._left = None

    def stop(self) -> None:
        """Stop; pages that were not moved yet stay."""
        self._left = None

    def back(self, view: View) -> None:
        """Move the pages whose homes are known into an earlier view, all at once."""
        for pages, home in self._homes:
            nodes = view.get(home, (home,))
            if not self._reached or nodes != self.view.get(home, (home,)):
                at = tuple(nodes[page % len(nodes)] for page in pages)
                self._process.apply((MovePages(pages, at),))
        self.stop()
        self.view, self._reached = view, True

    def final(self) -> None:
        """Make the moves final: the current node of a page is its home now."""
        self._homes, self._remembered = [], 0
        self.view, self._reached = {}, True

    def _batches(
        self, was: View | None, view: View
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Batches of pages to move, each with the nodes that they go to in turns."""
        for pages, home in tuple(self._homes):
            nodes = view.get(home, (home,))
            if was is None or nodes != was.get(home, (home,)):
                yield pages, nodes
        guests = {page for pages, _ in self._homes for page in pages}
        for home, nodes in view.items():
            for found in self._process.pages_on(home):
                own = tuple(page for page in found if page not in guests)
                if not own:
                    continue
                if self._remembered <= _REMEMBERED:
                    self._homes.append((own, home))
                    self._remembered += len(own)
                yield own, nodes
