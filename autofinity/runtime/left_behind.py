"""What of a program's memory its threads have left behind, and where it belongs now. Pure.

By first touch the pages on a node are those of the threads that were there, alike; nothing else is
known of them. So they can follow only where that leaves no doubt: all threads are on one node now,
or all that were on a node have left it and none has come, whose pages would be among them. Nearly
everything on one node, with threads on several, is what one thread has initialised for all: no
thread's pages are to be told from another's then, and none are moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autofinity.model.memory import MemoryByNode

ONE_NODES = 0.8
"""Share of its memory from which on a program is taken to use one node's pages."""


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """Of a program whose threads have moved, or were always there."""

    bytes_left: Mapping[int, int]
    """Node that threads have left → bytes of theirs on it."""
    belongs: Mapping[int, tuple[int, ...]]
    """Node whose pages are to follow → nodes they go to in turns, one a thread."""
    one_node: int | None
    """The node with nearly all memory, where threads on several nodes use it."""
    total_bytes: int

    @property
    def share(self) -> float:
        """Of all memory that was left behind."""
        left = sum(self.bytes_left.values())
        return left / self.total_bytes if self.total_bytes else 0.0

    @property
    def bytes_to_move(self) -> int:
        """What is to follow."""
        return sum(self.bytes_left[node] for node in self.belongs)


def left_behind(memory: MemoryByNode, homes: Sequence[int], now: Sequence[int]) -> LeftBehind:
    """Threads that were on the logical nodes `homes` when they first touched their pages are on
    the nodes `now`; one entry a thread, at least one.
    """
    total = memory.total_bytes
    if len(set(now)) == 1:
        elsewhere = {
            node: size for node, size in enumerate(memory.bytes_on) if size and node != now[0]
        }
        return LeftBehind(elsewhere, dict.fromkeys(elsewhere, (now[0],)), None, total)
    fullest = memory.fullest
    if memory.share(fullest) >= ONE_NODES:
        return LeftBehind({}, {}, fullest, total)
    bytes_left: dict[int, int] = {}
    belongs: dict[int, tuple[int, ...]] = {}
    for home, threads in sorted(Counter(homes).items()):
        gone = tuple(to for was, to in zip(homes, now, strict=True) if was == home != to)
        size = memory.bytes_on[home] * len(gone) // threads
        if size:
            bytes_left[home] = size
            if home not in now:
                belongs[home] = gone
    return LeftBehind(bytes_left, belongs, None, total)


def remote_share(memory: MemoryByNode, nodes: Sequence[int]) -> float:
    """Of reads that go to another node, if each of the threads on `nodes` used all pages alike."""
    if not nodes:
        return 0.0
    return 1 - sum(memory.share(node) for node in nodes) / len(nodes)
