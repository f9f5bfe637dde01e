"""Which threads share, and which node a page belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_PAGE_BITS = 36


@dataclass(frozen=True, slots=True)
class SharingMatrix:
    """`cells[i][j]`: amount of sharing between threads i and j; symmetric, zero diagonal."""

    cells: tuple[tuple[float, ...], ...]

    @property
    def threads(self) -> int:
        """Number of threads."""
        return len(self.cells)


@dataclass(frozen=True, slots=True)
class NumaVectors:
    """Accesses to each page from each logical node: page number → counts, one for each node.

    Page numbers are `page_number(process, number)`; with a single process, its own page numbers. A
    page larger than 4 KiB has the number of its first 4 KiB.
    """

    pages: Mapping[int, tuple[int, ...]]
    page_size_bytes: int = 4096
    nodes: Mapping[int, int] = field(default_factory=dict)
    """Logical node that each of the pages is on, where that is known."""
    homes: tuple[int, ...] = ()
    """Logical node that holds the pages of each node (`Topology.memory_homes`); empty: every node
    has memory."""
    restarts: int = 0
    """How often all counts have begun again at 0."""


def page_number(process: int, number: int) -> int:
    """Number of page `number` (address / 4096) of a process among the pages of all processes."""
    return process << _PAGE_BITS | number


def process_and_page(page: int) -> tuple[int, int]:
    """The process and the page that `page_number` combined."""
    return page >> _PAGE_BITS, page & (1 << _PAGE_BITS) - 1


def by_process(pages: Iterable[int]) -> dict[int, list[int]]:
    """The pages of each process."""
    found: dict[int, list[int]] = {}
    for page in pages:
        found.setdefault(process_and_page(page)[0], []).append(page)
    return found


@dataclass(frozen=True, slots=True)
class PageAccesses:
    """Accesses to each page from each thread: page number → counts, one for each thread.

    Page numbers as in `NumaVectors`.
    """

    pages: Mapping[int, tuple[int, ...]]
    page_size_bytes: int = 4096

    def by_node(self, node_of_thread: Sequence[int], nodes: int) -> NumaVectors:
        """The accesses by node, with thread i on logical node `node_of_thread[i]` of `nodes`."""
        vectors = {}
        for page, accesses in self.pages.items():
            vector = [0] * nodes
            for node, count in zip(node_of_thread, accesses, strict=True):
                vector[node] += count
            vectors[page] = tuple(vector)
        return NumaVectors(vectors, self.page_size_bytes)
