"""Memory that a program's threads have left behind, and the node where it belongs now. Pure.

Memory on a node that is nearly as near as the local one (`Topology.is_near`), as other nodes of a
socket are on servers of today, is not left behind, unless that is asked for: a page is moved for it
only where that costs hardly anything. Nor is memory on a node without CPUs: no thread has ever been
there, so the kernel, a device or the user put the pages there.

By first touch the pages on a node belong, in equal parts, to the threads that were there; nothing
else is known of them. So pages can follow only in clear cases: all threads are on nodes near each
other now, or all threads of a node have left it. Pages that threads from elsewhere touch first
after they came are few, since nothing is placed while memory grows. Nearly all memory on one node,
with threads on several, was initialised by one thread for all: the pages of the threads cannot be
distinguished, and none are moved, unless it is far from all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autofinity.model.cpu_lists import format_numbers
from autofinity.model.memory import MemoryByNode
from autofinity.model.topology import Topology

ONE_NODES = 0.8
"""Share of a program's memory from which on the program is assumed to use one node's pages."""
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """Memory of a program whose threads have moved, or were always there."""

    bytes_left: Mapping[int, int]
    """Node that threads have left → bytes of these threads on it."""
    belongs: Mapping[int, tuple[int, ...]]
    """Node whose pages are to follow → nodes that they go to in turns, one for each thread, or each
    node of them all. In an order in which each node is emptied before pages come to it."""
    one_node: int | None
    """The node with nearly all memory, where threads on several nodes use that memory."""
    total_bytes: int
    threads_on: tuple[int, ...]
    """Nodes with memory that the threads are on now."""

    @property
    def share(self) -> float:
        """Share of all memory that was left behind."""
        left = sum(self.bytes_left.values())
        return left / self.total_bytes if self.total_bytes else 0.0

    @property
    def bytes_to_move(self) -> int:
        """Bytes that are to follow the threads."""
        return sum(self.bytes_left[node] for node in self.belongs)

    def text(self, topology: Topology, *, followed: bool = False) -> str:
        """A line on what was left behind, for people. `followed`: memory on one node is there since
        it followed threads to that node.
        """
        total = f"{self.total_bytes / _MIB:.1f} MiB"
        numbers = topology.node_os_indices
        if self.one_node is not None and followed:
            return (
                f"nearly all of its memory ({total}) is on node {numbers[self.one_node]}, to which "
                "it followed threads, and threads on several nodes use it now; no page is moved"
            )
        if self.one_node is not None:
            theirs = format_numbers(numbers[node] for node in self.threads_on) or "all"
            return (
                f"nearly all of its memory ({total}) is on node {numbers[self.one_node]}, and "
                f"threads on several nodes use it: `numactl --interleave={theirs}`, or data that "
                "each thread touches first, spreads the load; no page is moved"
            )
        line = f"left behind is {self.share:.0%} of its memory ({total})"
        where = ", ".join(
            f"{size / _MIB:.1f} MiB on node {numbers[node]}"
            for node, size in self.bytes_left.items()
        )
        return line + (f": {where}" if where else "")


def left_behind(
    topology: Topology,
    memory: MemoryByNode,
    homes: Sequence[int],
    now: Sequence[int],
    *,
    near_too: bool = False,
) -> LeftBehind:
    """Memory left behind by threads that first touched their pages on the logical nodes `homes`.

    They are now on the nodes `now`. Both have one entry for each thread, at least one. `near_too`:
    memory on any other node counts, however near.
    """

    def is_near(a: int, b: int) -> bool:
        return a == b or (not near_too and topology.is_near(a, b))

    total, fullest, nodes = memory.total_bytes, memory.fullest, tuple(dict.fromkeys(now))
    movable_on = memory.movable_on
    one_nodes = memory.share(fullest) >= ONE_NODES and len(nodes) > 1
    together = all(is_near(a, b) for a in nodes for b in nodes)
    far = {
        node: size
        for node, size in enumerate(movable_on)
        if size and node in topology.nodes_with_cpus and not any(is_near(to, node) for to in nodes)
    }
    theirs = tuple(node for node in nodes if node not in topology.memoryless_nodes)
    if together and not (one_nodes and fullest not in far):
        return LeftBehind(far, dict.fromkeys(far, theirs) if theirs else {}, None, total, theirs)
    if one_nodes:
        return LeftBehind({}, {}, fullest, total, theirs)
    bytes_left: dict[int, int] = {}
    belongs: dict[int, tuple[int, ...]] = {}
    for home, threads in sorted(Counter(homes).items()):
        gone = tuple(
            to for was, to in zip(homes, now, strict=True) if was == home and not is_near(to, home)
        )
        there = tuple(node for node in gone if node not in topology.memoryless_nodes)
        size = movable_on[home] * len(gone) // threads
        if size:
            bytes_left[home] = size
            if there and len(gone) == threads:
                belongs[home] = there
    return LeftBehind(bytes_left, _emptied_first(belongs), None, total, theirs)


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
