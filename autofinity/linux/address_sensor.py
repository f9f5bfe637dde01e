"""Sharing and page use of a running program, by the same tables as on the simulated machine.

    threads ─► a ring each ─► touches, in order of time ─► blocks' last threads ─► SharingMatrix
                                                     └──► pages' counters ─────► NumaVectors

Where the PMU samples accesses, these replace faults. The kernel decides which pages fault again,
and how often (NUMA hinting): the rate of a detector cannot be set, and the cost of a fault is not
known. All other parts of `FaultSampling` hold: the table, its blocks and sharers, the counters'
width.

The counters of pages restart when threads move to other nodes (a deviation from kMAF and SPCD): the
old counts came from nodes that those threads have left. A kernel unmaps pages about once a second.
A page with 30 faults from the old node would need 120 faults from the new node, in minutes, until
the papers' rule (exclusivity above 80 %) moves the page.

Pages are counted in turn, so many at a time, until each has had some touches from every node: kMAF
balances no page before it has more touches than there are nodes (TPDS 2016, equation 7). So pages
of large programs move, too, but late.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from autofinity._core.detect import NumaTable, SharingCounts
from autofinity.linux.access_events import PAGE_FAULTS, AccessEvent
from autofinity.linux.address_sampling import ThreadTouches
from autofinity.linux.followed_blocks import FollowedBlocks
from autofinity.linux.pages import nodes_of
from autofinity.linux.shared_memory import SharedMemory
from autofinity.linux.touches import Touch
from autofinity.model.detection import FaultSampling
from autofinity.model.errors import CapabilityError
from autofinity.model.sharing import (
    NumaVectors,
    SharingMatrix,
    by_process,
    page_number,
    process_and_page,
)
from autofinity.model.topology import OsIndex, Topology

_PAGE_BYTES = 4096
_MOST_THREADS = 1024  # the matrix of so many has a million cells
# The memory of the sensor is bounded, whatever the program touches.
_MOST_PAGES = 1 << 14  # with counters at a time: 1.2 MB of them with 4 nodes
_MOST_MISSED = 1 << 24  # touches of other pages in a row: those with counters are gone
_MOST_SHOWN = 1 << 10  # pages a look; the others wait for the next


class AddressSensor:
    """Watches the threads that `follow` names. Close the sensor after use."""

    def __init__(
        self,
        detector: FaultSampling,
        topology: Topology,
        events: Sequence[AccessEvent] = (PAGE_FAULTS,),
    ) -> None:
        """Pages are counted only on machines with several nodes."""
        self._detector = detector
        self._topology = topology
        self._touches = ThreadTouches(events)
        self._memory = SharedMemory(processes=2)
        self._blocks = None if detector.table == "none" else FollowedBlocks(detector)
        self._node_of = {cpu: pu.node for cpu, pu in topology.by_os_index.items()}
        self._pages = self._no_pages()
        self._counted = self._missed = self._restarts = 0
        self._most_counted = 2 * topology.n_nodes * _MOST_PAGES
        self._threads = 1
        self._everywhere = frozenset(self._node_of.values())
        self._nodes: dict[int, frozenset[int]] = {}  # of each thread that was bound

    @property
    def lost(self) -> int:
        """Number of touches that came too fast to be recorded."""
        return self._touches.lost

    def follow(self, tids: Iterable[int]) -> None:
        """Watch these threads from now on. Raises `CapabilityError` when they cannot be sampled."""
        self._touches.follow(tids)

    def look(self, numbers: Mapping[int, int]) -> tuple[SharingMatrix | None, NumaVectors | None]:
        """Sharing and page use since the last look; `numbers` holds each thread's number by kernel
        id.

        A number that is used again continues the counts of the former thread.
        """
        known = {tid: number for tid, number in numbers.items() if number < _MOST_THREADS}
        # Threads that have ended are still in the table: the matrix never gets smaller.
        self._threads = max(self._threads, 1 + max(known.values(), default=0))
        counts = SharingCounts(self._threads)
        self._memory.look_again()
        for touch in self._touches.read():
            if touch.tid in known:
                self._share(touch, known[touch.tid], counts)
                self._count(touch)
        sharing = None
        if self._blocks is not None:
            # Most cells of many threads are 0, and one 0.0 serves them all.
            sharing = SharingMatrix(
                tuple(tuple(float(cell) if cell else 0.0 for cell in row) for row in counts.cells())
            )
        return sharing, self._vectors() if self._topology.n_nodes > 1 else None

    def bound(self, masks: Sequence[frozenset[OsIndex]]) -> None:
        """Note that thread i has been bound to `masks[i]`; a thread with an empty mask stays as it
        is.
        """
        for number, mask in enumerate(masks):
            nodes = frozenset(self._node_of[cpu] for cpu in mask if cpu in self._node_of)
            if not nodes or nodes == self._nodes.get(number, self._everywhere):
                continue
            self._nodes[number] = nodes
            self._forget_pages()

    def moved(self, pages: Sequence[int]) -> None:
        """Note that these pages have been moved."""
        if self._detector.halve_on_move:
            for page in pages:
                self._pages.halve(page)

    def close(self) -> None:
        """Close all rings."""
        self._touches.close()

    def _share(self, touch: Touch, thread: int, counts: SharingCounts) -> None:
        if self._blocks is not None:
            self._blocks.touch(self._memory.place(touch.pid, touch.address), thread, counts)

    def _count(self, touch: Touch) -> None:
        if self._topology.n_nodes > 1 and touch.cpu in self._node_of:
            if self._counted == self._most_counted or self._missed == _MOST_MISSED:
                self._forget_pages()
            page = page_number(touch.pid, touch.address // _PAGE_BYTES)
            if self._pages.count(page, self._node_of[touch.cpu]):
                self._counted, self._missed = self._counted + 1, 0
            else:
                self._missed += 1

    def _vectors(self) -> NumaVectors:
        nodes = self._where(self._pages.take_seen(_MOST_SHOWN))
        vectors = {page: tuple(self._pages.vector_of(page)) for page in nodes}
        homes = self._topology.memory_homes
        return NumaVectors(vectors, _PAGE_BYTES, nodes, homes, self._restarts)

    def _where(self, pages: Sequence[int]) -> dict[int, int]:
        """Logical node of each page; pages that have vanished are left out."""
        logical = {node: number for number, node in enumerate(self._topology.node_os_indices)}
        found: dict[int, int] = {}
        for pid, numbers in by_process(pages).items():
            addresses = [process_and_page(page)[1] * _PAGE_BYTES for page in numbers]
            try:
                nodes = nodes_of(pid, addresses)
            except CapabilityError:
                continue  # the process has ended, or is not ours: its pages are not moved
            for page, node in zip(numbers, nodes, strict=True):
                if node in logical:
                    found[page] = logical[OsIndex(node)]
        return found

    def _forget_pages(self) -> None:
        self._pages, self._counted, self._missed = self._no_pages(), 0, 0
        self._restarts += 1

    def _no_pages(self) -> NumaTable:
        most = (1 << self._detector.counter_bits) - 1
        return NumaTable(self._topology.n_nodes, most, _MOST_PAGES)
