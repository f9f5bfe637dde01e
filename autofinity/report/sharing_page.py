"""Sharing between threads and the use of pages as sections of a page."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.model.sharing import NumaVectors, PageAccesses, SharingMatrix
from autofinity.report.page import Block, Facts, Section, Sentences
from autofinity.report.sharing_plots import matrix_plot, page_map

MATRIX = "sharing"
"""Name of the plot of the matrix."""


def sharing_sections(
    sharing: SharingMatrix,
    facts: Sequence[tuple[str, str]],
    seen: PageAccesses | NumaVectors,
    rows: Sequence[str],
    unit: str,
) -> tuple[Section, ...]:
    """The matrix with its facts, then the map of the pages, by `rows` and in the `unit` of
    `page_map`.
    """
    found: list[Block] = [Facts(tuple(facts))]
    if any(map(any, sharing.cells)):
        found.append(matrix_plot(sharing, MATRIX, "amount"))
    else:
        found.append(Sentences(("No two threads were seen to share.",)))
    last: Block = Sentences(("No page was seen.",))
    if seen.pages:
        last = page_map(seen.pages, rows, "pages", unit, page_size_bytes=seen.page_size_bytes)
    return Section("Sharing between threads", tuple(found)), Section("Use of pages", (last,))
