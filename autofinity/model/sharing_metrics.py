"""How much a program could gain from mapping: Diener et al., PACT 2014, equations 1 to 4."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.model.sharing import NumaVectors, SharingMatrix


def normalised(sharing: SharingMatrix) -> SharingMatrix:
    """Cells over the largest one, 0 to 1; all 0 where nothing is shared.

    Heterogeneity is a mean square, so that of raw counts grows with the square of their amount. The
    paper has programs of high heterogeneity that "only share little data" (section 2.3.2), so its
    matrices had one scale.
    """
    largest = max((cell for row in sharing.cells for cell in row), default=0.0)
    return SharingMatrix(
        tuple(tuple(cell / largest if largest else 0.0 for cell in row) for row in sharing.cells)
    )


def heterogeneity(sharing: SharingMatrix) -> float:
    """Equation 1: the mean square of each cell's difference from its row's mean.

    The zero diagonal is included, so a program whose threads all share alike does not get 0
    (`heterogeneity_off_diagonal` gives 0). 0 without threads.
    """
    size = sharing.threads
    return _spread(sharing, size, diagonal=True) / size**2 if size else 0.0


def heterogeneity_off_diagonal(sharing: SharingMatrix) -> float:
    """Equation 1 over pairs of different threads: means over T−1 cells, divided by T(T−1).

    0 where all threads share alike, and with fewer than two threads.
    """
    size = sharing.threads
    if size < 2:
        return 0.0
    return _spread(sharing, size - 1, diagonal=False) / (size * (size - 1))


def sharing_amount(sharing: SharingMatrix) -> float:
    """Equation 2: mean over all T² cells; 0 without threads."""
    size = sharing.threads
    return sum(map(sum, sharing.cells)) / size**2 if size else 0.0


def page_exclusivity(counts: Sequence[int]) -> float:
    """Equation 3: the share of the node with most accesses, from 1/N to 1; 0 without accesses."""
    total = sum(counts)
    return max(counts) / total if total else 0.0


def average_exclusivity(vectors: NumaVectors) -> float:
    """Equation 4: exclusivity of all pages, weighted by their accesses; 0 without accesses."""
    total = sum(map(sum, vectors.pages.values()))
    most = sum(max(counts) for counts in vectors.pages.values() if counts)
    return most / total if total else 0.0


def _spread(sharing: SharingMatrix, cells_in_row: int, *, diagonal: bool) -> float:
    found = 0.0
    for i, row in enumerate(sharing.cells):
        mean = sum(row) / cells_in_row
        found += sum((mean - cell) ** 2 for j, cell in enumerate(row) if diagonal or i != j)
    return found
