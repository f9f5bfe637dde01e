"""Memory that a program's threads have left behind, and the node where it belongs now. Pure.

By first touch the pages on a node belong, in equal parts, to the threads that were there; nothing
else is known of them. So pages can follow only in clear cases: all threads are on one node now, or
all threads of a node have left it. Pages that threads from elsewhere touch first after they came
are few, since nothing is placed while memory grows. Nearly all memory on one node, with threads on
several, was initialised by one thread for all: the pages of the threads cannot be distinguished,
and none are moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autofinity.model.memory import MemoryByNode

ONE_NODES = 0.8
"""Share of a program's memory from which on the program is assumed to use one node's pages."""


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """Memory of a program whose threads have moved, or were always there."""

    bytes_left: Mapping[int, int]
    """Node that threads have left → bytes of these threads on it."""
    belongs: Mapping[int, tuple[int, ...]]
    """Node whose pages are to follow → nodes that they go to in turns, one for each thread. In an
    order in which each node is emptied before pages come to it."""
    one_node: int | None
    """The node with nearly all memory, where threads on several nodes use that memory."""
    total_bytes: int

    @property
    def share(self) -> float:
        """Share of all memory that was left behind."""
        left = sum(self.bytes_left.values())
        return left / self.total_bytes if self.total_bytes else 0.0

    @property
    def bytes_to_move(self) -> int:
        """Bytes that are to follow the threads."""
        return sum(self.bytes_left[node] for node in self.belongs)


def left_behind(memory: MemoryByNode, homes: Sequence[int], now: Sequence[int]) -> LeftBehind:
    """Memory left behind by threads that first touched their pages on the logical nodes `homes`.

    They are now on the nodes `now`. Both have one entry for each thread, at least one.
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
            if len(gone) == threads:
                belongs[home] = gone
    return LeftBehind(bytes_left, _emptied_first(belongs), None, total)


def _emptied_first(belongs: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """The same in order. Nodes that exchange pages in a circle are left out: nothing distinguishes
    the pages that have come to one from its own.
    """
    left, ordered = dict(belongs), dict[int, tuple[int, ...]]()
    while ready := [node for node in left if left.keys().isdisjoint(left[node])]:
        ordered |= {node: left.pop(node) for node in ready}
    return ordered


def remote_share(memory: MemoryByNode, nodes: Sequence[int]) -> float:
    """Share of reads that go to another node, if each of the threads on `nodes` used all pages
    equally.
    """
    if not nodes:
        return 0.0
    return 1 - sum(memory.share(node) for node in nodes) / len(nodes)
