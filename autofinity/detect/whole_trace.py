"""An oracle's knowledge: sharing and page accesses of a captured program, from its whole trace.

kMAF'14 (section 2.3.1) takes accesses of two threads to one cache line for sharing. A trace has no
order between threads, so their amount on a line is that of the thread that accesses it less.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity._core import sim as core
from autofinity.model.sharing import PageAccesses, SharingMatrix


def whole_trace(
    program: core.Program, workers: Sequence[int], page_size_bytes: int = 4096
) -> tuple[SharingMatrix, PageAccesses]:
    """Sharing between the streams `workers`, and their accesses to each page.

    Only the region of interest counts, each stream's work as it was captured. Pages of 4 KiB,
    16 KiB or 2 MiB; a larger page has the number of its first 4 KiB. Raises `SimulationError` for
    a stream that does not exist.
    """
    sharing, pages, accesses = core.whole_trace(program, list(workers), page_size_bytes)
    return (
        SharingMatrix(tuple(tuple(map(float, row)) for row in sharing.tolist())),
        PageAccesses(
            {page: tuple(row) for page, row in zip(pages.tolist(), accesses.tolist(), strict=True)},
            page_size_bytes,
        ),
    )
