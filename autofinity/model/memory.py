"""Where a program's memory is, and about what remote memory costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SMALL_PAGE_BYTES: Final = 4096
"""Pages are numbered in this size (`page_number`)."""
PAGE_MOVE_NS: Final = 10_000
"""Time to copy a page of 4 KiB and shoot its translations down, about, where each page is moved by
itself: Linux before 6.3 does so, also where it is asked for many."""
MANY_PAGES_MOVE_NS: Final = 4_000
"""The same a page, where many move at once: Linux from 6.3 on shoots some 500 of them down
together. A program that reads at random loses 1.9 us a page then (1.3 to 2.4; 6.18, one socket,
scripts/studies/page_moves.py); between sockets the copy takes longer."""
FAR_READS: Final = "llc_misses"
"""The counter of reads that take longer from another node's memory."""
REMOTE_READ_NS: Final = 100
"""Extra time of a line from another node, about."""
REMOTE_TIMES: Final = 2.0
"""Time of a read from another socket's memory, at most, over that of a local read: 1.5 to 1.8 times
are published for servers of two sockets."""
MOVED_BYTES_PER_S: Final = SMALL_PAGE_BYTES * 1_000_000_000 // MANY_PAGES_MOVE_NS
"""Rate at which a kernel of today moves many pages, all costs included, about."""
ONE_BY_ONE_BYTES_PER_S: Final = SMALL_PAGE_BYTES * 1_000_000_000 // PAGE_MOVE_NS
"""The same where pages are moved one by one."""


@dataclass(frozen=True, slots=True)
class MemoryByNode:
    """A program's own memory: the pages that it has written to, without the files that it maps."""

    bytes_on: tuple[int, ...]
    """Bytes by logical node."""
    fixed_on: tuple[int, ...] = ()
    """Bytes of these that stay where a policy of the program's has put them; empty: none do."""

    @property
    def movable_on(self) -> tuple[int, ...]:
        """Bytes by logical node that may follow threads."""
        if not self.fixed_on:
            return self.bytes_on
        return tuple(map(int.__sub__, self.bytes_on, self.fixed_on))

    @property
    def total_bytes(self) -> int:
        """Bytes on all nodes."""
        return sum(self.bytes_on)

    def share(self, node: int) -> float:
        """Share of all bytes that is on `node`; 0 where there is no memory."""
        return self.bytes_on[node] / self.total_bytes if self.total_bytes else 0.0

    @property
    def fullest(self) -> int:
        """The node with the most memory; of several such nodes, the lowest."""
        return self.bytes_on.index(max(self.bytes_on))
