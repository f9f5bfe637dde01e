"""Sharing between threads and the use of pages as sections of a page."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.model.sharing import SharingMatrix
from autofinity.report.page import Block, Facts, Plot, Section, Sentences
from autofinity.report.sharing_plots import matrix_plot

MATRIX = "sharing"
"""Name of the plot of the matrix."""


def sharing_sections(
    sharing: SharingMatrix, facts: Sequence[tuple[str, str]], pages: Plot | None
) -> tuple[Section, ...]:
    """The matrix with its facts, then the map of pages; None: no page was seen."""
    found: list[Block] = [Facts(tuple(facts))]
    if any(map(any, sharing.cells)):
        found.append(matrix_plot(sharing, MATRIX, "amount"))
    else:
        found.append(Sentences(("No two threads were seen to share.",)))
    last: Block = pages if pages is not None else Sentences(("No page was seen.",))
    return Section("Sharing between threads", tuple(found)), Section("Use of pages", (last,))
