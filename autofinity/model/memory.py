"""Where a program's memory is, and about what remote memory costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SMALL_PAGE_BYTES: Final = 4096
"""Pages are numbered in this size (`page_number`)."""
PAGE_MOVE_NS: Final = 10_000
"""Time to copy a page of 4 KiB and shoot its translations down, about."""
FAR_READS: Final = "llc_misses"
"""The counter of reads that take longer from another node's memory."""
REMOTE_READ_NS: Final = 100
"""Extra time of a line from another node, about."""
REMOTE_TIMES: Final = 2.0
"""Time of a read from another socket's memory, at most, over that of a local read: 1.5 to 1.8 times
are published for servers of two sockets."""
MOVED_BYTES_PER_S: Final = SMALL_PAGE_BYTES * 1_000_000_000 // PAGE_MOVE_NS
"""Rate at which pages are moved, all costs included, about."""


@dataclass(frozen=True, slots=True)
class MemoryByNode:
    """A program's own memory: the pages that it has written to, without the files that it maps."""

    bytes_on: tuple[int, ...]
    """Bytes by logical node."""

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
