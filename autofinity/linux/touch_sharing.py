"""Which threads share: a fault, or a sampled access, shows which thread uses a page now.

Follows kMAF'14 (Diener et al., PACT 2014, section 3.2 and table 2): each sub-block of 1 KiB keeps
its last two threads. The present thread goes in front, and all pairs of the kept threads count one.
A sub-block without further faults belongs to one thread. Without NUMA hinting each page faults
once, at its first touch, so sharing is seen only between processes, each of which has a first touch
of the memory that they share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from autofinity.linux.shared_memory import SharedMemory
from autofinity.linux.touches import Born, Record
from autofinity.model.sharing import PageAccesses, SharingMatrix, page_number

_PAGE_BYTES = 4096
_SUB_BLOCK_BYTES = 1024
_LAST_THREADS = 2


class TouchSharing:
    """A tally of touches. Threads are numbered by creation, those of all processes together."""

    def __init__(self) -> None:
        self._memory = SharedMemory()
        self._numbers: dict[int, int] = {}
        self._last: dict[int, tuple[int, ...]] = {}
        self._pairs: Counter[tuple[int, int]] = Counter()
        self._touches: dict[int, Counter[int]] = {}

    def add(self, records: Iterable[Record]) -> None:
        """Add records, in order of time, soon enough to ask their processes."""
        self._memory.look_again()
        for record in records:
            thread = self._numbers.setdefault(record.tid, len(self._numbers))
            if isinstance(record, Born):
                continue
            page = page_number(record.pid, record.address // _PAGE_BYTES)
            self._touches.setdefault(page, Counter())[thread] += 1
            block = self._memory.place(record.pid, record.address) // _SUB_BLOCK_BYTES
            others = (other for other in self._last.get(block, ()) if other != thread)
            self._last[block] = (thread, *others)[:_LAST_THREADS]
            self._pairs.update(combinations(sorted(self._last[block]), 2))

    @property
    def tids(self) -> tuple[int, ...]:
        """Kernel ids of the threads, by number."""
        return tuple(self._numbers)

    @property
    def touches(self) -> int:
        """Number of touches in the tally."""
        return sum(counts.total() for counts in self._touches.values())

    @property
    def sharing(self) -> SharingMatrix:
        """Alternating touches of one sub-block, for each pair of threads."""
        threads = range(len(self._numbers))
        return SharingMatrix(
            tuple(tuple(float(self._pairs[min(i, j), max(i, j)]) for j in threads) for i in threads)
        )

    @property
    def pages(self) -> PageAccesses:
        """Touches of each page by each thread."""
        threads = range(len(self._numbers))
        return PageAccesses(
            {page: tuple(counts[i] for i in threads) for page, counts in self._touches.items()}
        )
