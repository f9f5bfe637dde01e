"""Which threads share: a fault, or a sampled access, shows which thread uses a page now.

Each fault counts one for its thread with each of the two other threads that were last seen at the
page (Diener et al., kMAF, PACT 2014, section 4.1: the kernel keeps two threads a page). A page
without further faults belongs to one thread: without NUMA hinting each page faults once, at its
first touch, and no sharing is seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from autofinity.linux.touches import Born, Record
from autofinity.model.sharing import PageAccesses, SharingMatrix, page_number

_PAGE_BYTES = 4096
_LAST_THREADS = 2


class TouchSharing:
    """A tally of touches. Threads are numbered by creation, those of all processes together."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._last: dict[int, tuple[int, ...]] = {}
        self._pairs: Counter[tuple[int, int]] = Counter()
        self._touches: dict[int, Counter[int]] = {}

    def add(self, records: Iterable[Record]) -> None:
        """Add records, in order of time."""
        for record in records:
            thread = self._numbers.setdefault(record.tid, len(self._numbers))
            if isinstance(record, Born):
                continue
            page = page_number(record.pid, record.address // _PAGE_BYTES)
            self._touches.setdefault(page, Counter())[thread] += 1
            last = tuple(other for other in self._last.get(page, ()) if other != thread)
            for other in last[:_LAST_THREADS]:
                self._pairs[min(thread, other), max(thread, other)] += 1
            self._last[page] = (thread, *last[:_LAST_THREADS])

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
        """Alternating touches of one page, for each pair of threads."""
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
