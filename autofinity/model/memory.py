"""Where a program's memory is, and about what it costs to have it elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PAGE_MOVE_NS: Final = 10_000
"""To copy a page of 4 KiB and shoot its translations down, about."""
FAR_READS: Final = "llc_misses"
"""The counter of reads that another node's memory makes longer."""
REMOTE_READ_NS: Final = 100
"""What a line costs more from another node, about."""
MOVED_BYTES_PER_S: Final = 4096 * 1_000_000_000 // PAGE_MOVE_NS
"""Of pages that are moved, with all that it takes, about."""


@dataclass(frozen=True, slots=True)
class MemoryByNode:
    """A program's own memory: what it has written to, without the files that it maps."""

    bytes_on: tuple[int, ...]
    """By logical node."""

    @property
    def total_bytes(self) -> int:
        """On all nodes."""
        return sum(self.bytes_on)

    def share(self, node: int) -> float:
        """Of all of it; 0 where there is none."""
        return self.bytes_on[node] / self.total_bytes if self.total_bytes else 0.0

    @property
    def fullest(self) -> int:
        """The node with most of it, the lowest of several."""
        return self.bytes_on.index(max(self.bytes_on))
