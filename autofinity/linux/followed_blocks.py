"""Blocks of memory and their last threads, of as many of a program's pages as the table has room
for.

The kernel lets a page fault once in a sweep over the program's memory, and the fault shows one
thread. Two threads that share the page are seen in different sweeps, so a block has to stay in the
table until the next sweep. The papers' table of a million blocks (kMAF'16, table 3) holds those of
programs of gigabytes; here it is smaller. Where a program has more blocks, only one page in 2, 4,
8, … is followed, whichever thread uses it: sharing is seen as it is, but less often.
"""

from __future__ import annotations

from typing import Final

from autofinity._core.detect import BlockTable, SharingCounts, SubBlockTable
from autofinity.model.detection import FaultSampling

_PAGE_BYTES: Final = 4096
_MOST_BLOCKS: Final = 1 << 15  # 400 KB; the papers' tables have a million, 12 MB
_BITS: Final = (1 << 64) - 1
_MIXING: Final = 0xD6E8FEB86659FD93  # an odd number whose bits are in no order


class FollowedBlocks:
    """The table of a detector that has one."""

    def __init__(self, detector: FaultSampling) -> None:
        self._detector = detector
        self._table = self._empty()
        self._one_in = 1

    def touch(self, place: int, thread: int, counts: SharingCounts) -> None:
        """Record that a thread was seen at `place`, a number of `SharedMemory`."""
        if _mixed(place // _PAGE_BYTES) % self._one_in:
            return
        if len(self._table) >= self._room:
            self._table = self._empty()
            self._one_in *= 2
        # Blocks at the same place of neighbouring pages would meet in the hash table.
        self._table.touch(_mixed(place // self._detector.block_bytes), thread, counts)

    @property
    def _room(self) -> int:
        """Blocks that stay: in a fuller hash table most would soon be overwritten."""
        if isinstance(self._table, SubBlockTable):
            return _MOST_BLOCKS // 2
        return min(self._detector.entries, _MOST_BLOCKS) // 4

    def _empty(self) -> BlockTable | SubBlockTable:
        if self._detector.table == "sub-blocks":
            return SubBlockTable(self._detector.sharers)
        return BlockTable(min(self._detector.entries, _MOST_BLOCKS), self._detector.sharers)


def _mixed(number: int) -> int:
    """Another number for each, by all of its bits."""
    number = (number * _MIXING) & _BITS
    return number ^ number >> 32
