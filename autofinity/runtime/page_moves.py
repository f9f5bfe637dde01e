"""Pages that move to other nodes in batches, and back again, as far as a mark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from autofinity.ports import MovePages, ShowsMemory

_REMEMBERED = 1 << 16
"""Largest number of pages that may go back: their list is the monitor's memory."""


class PageMoves:
    """Moves of pages from nodes to nodes; moves are remembered until they are final."""

    def __init__(self, process: ShowsMemory) -> None:
        self._process = process
        self._left: Iterator[tuple[tuple[int, ...], int]] | None = None
        self._belongs: Mapping[int, tuple[int, ...]] = {}
        self._came_from: list[tuple[tuple[int, ...], int]] = []
        self._remembered = 0
        self.moved = 0
        """Number of pages moved since the last `begin`."""
        self.stayed = 0

    @property
    def under_way(self) -> bool:
        """Whether some pages are still to be moved."""
        return self._left is not None

    @property
    def mark(self) -> int:
        """Number of moves so far that may still be undone, for `back`."""
        return len(self._came_from)

    def begin(self, belongs: Mapping[int, tuple[int, ...]]) -> None:
        """Begin to move the pages of each of these nodes to other nodes, in turns."""
        self._belongs = belongs
        self._left = self._batches()
        self.moved = self.stayed = 0

    def go_on(self, batches: int) -> None:
        """Move up to `batches` more batches. The move ends where none of their pages could be
        moved.
        """
        before = self.moved
        for _ in range(batches):
            pages, node = next(self._left or iter(()), ((), -1))
            if node < 0:
                self._left = None
                return
            turns = self._belongs[node]
            outcome = self._process.apply(
                (MovePages(pages, tuple(turns[page % len(turns)] for page in pages)),)
            )
            self.moved += outcome.done
            self.stayed += len(pages) - outcome.done
            if self._remembered <= _REMEMBERED:
                self._came_from.append((pages, node))
                self._remembered += len(pages)
        if self.moved == before and self.stayed:  # not permitted, or there is no room
            self._left = None

    def stop(self) -> None:
        """Stop; pages that were not moved yet stay."""
        self._left = None

    def back(self, mark: int) -> None:
        """Move the remembered pages back to where they were at the mark; the others stay."""
        self.stop()
        while len(self._came_from) > mark:  # those that moved twice end where they were
            pages, node = self._came_from.pop()
            self._process.apply((MovePages(pages, (node,) * len(pages)),))
            self._remembered -= len(pages)

    def final(self) -> None:
        """Make the moves final: moved pages stay where they are."""
        self._came_from, self._remembered = [], 0

    def _batches(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """Batches of pages to move, each with the node that they come from."""
        for node in self._belongs:
            for pages in self._process.pages_on(node):
                yield tuple(pages), node
