"""Who shares with whom, and which node a page belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SharingMatrix:
    """`cells[i][j]`: amount of sharing between threads i and j; symmetric, zero diagonal."""

    cells: tuple[tuple[float, ...], ...]

    @property
    def threads(self) -> int:
        """Number of threads."""
        return len(self.cells)


@dataclass(frozen=True, slots=True)
class NumaVectors:
    """Accesses to each page from each logical node: page number → counts, one a node."""

    pages: Mapping[int, tuple[int, ...]]
    page_size_bytes: int = 4096
