"""The pages that a sampled program touches, and the node of each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from autofinity.model.errors import SimulationError
from autofinity.model.memory import SMALL_PAGE_BYTES, MemoryByNode
from autofinity.model.sharing import process_and_page

_PAGES_AT_A_TIME = 1024


class TouchedMemory:
    """Pages of the machine's size, and their nodes.

    A page is on the node of the stream that touched any part of it first.
    """

    def __init__(
        self,
        runs: Mapping[str, npt.NDArray[np.integer]],
        node_of_stream: Sequence[int],
        page_bytes: int = SMALL_PAGE_BYTES,
    ) -> None:
        """`runs`: the first page of 4 KiB, number of pages and stream of each run of pages, in the
        order of first touches.
        """
        lengths = runs["pages"].astype(np.int64)
        begins = np.repeat(runs["first_page"].astype(np.int64), lengths)
        offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        self._parts = page_bytes // SMALL_PAGE_BYTES
        streams = np.repeat(runs["stream"].astype(np.int64), lengths)
        units, first = np.unique((begins + offsets) // self._parts, return_index=True)
        self._units = units
        """Ascending."""
        self._nodes = np.array(node_of_stream, dtype=np.int64)[streams[first]]
        self._page_bytes = page_bytes

    @property
    def n_pages(self) -> int:
        """Number of pages."""
        return len(self._units)

    @property
    def total_bytes(self) -> int:
        """Bytes of all pages."""
        return self.n_pages * self._page_bytes

    def by_node(self, nodes: int) -> MemoryByNode:
        """Bytes on each of so many nodes."""
        count = np.bincount(self._nodes, minlength=nodes)
        return MemoryByNode(tuple((count * self._page_bytes).tolist()))

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        """Numbers of the pages on a node (larger ones by their first 4 KiB), some at a time: one of
        so many batches.
        """
        found: list[int] = (self._units[self._nodes == node] * self._parts).tolist()
        return some_at_a_time(found, one_in)

    def nodes_by_page(self) -> dict[int, int]:
        """Node of each page of 4 KiB."""
        parts = np.arange(self._parts)
        pages = (self._units[:, None] * self._parts + parts).ravel()
        nodes = np.repeat(self._nodes, self._parts)
        return dict(zip(pages.tolist(), nodes.tolist(), strict=True))

    def move(self, pages: Sequence[int], nodes: Sequence[int]) -> int:
        """Move pages, each by any of its 4 KiB parts; those that are touched and elsewhere move.
        Returns their number. Raises `SimulationError` unless there is a node for each page.
        """
        if len(pages) != len(nodes):
            raise SimulationError(f"got {len(pages)} pages and {len(nodes)} nodes to move them to")
        if not len(self._units):
            return 0
        numbers = np.array([process_and_page(page)[1] for page in pages], dtype=np.int64)
        units = numbers // self._parts
        at = np.minimum(np.searchsorted(self._units, units), len(self._units) - 1)
        to = np.array(nodes, dtype=np.int64)
        moves = (self._units[at] == units) & (self._nodes[at] != to)
        self._nodes[at[moves]] = to[moves]
        return len(np.unique(at[moves]))


def some_at_a_time(pages: Sequence[int], one_in: int = 1) -> Iterator[Sequence[int]]:
    """The pages in batches: one of so many."""
    return itertools.islice(itertools.batched(pages, _PAGES_AT_A_TIME), 0, None, one_in)
