"""The communication filter: whether a sharing matrix has changed enough to map threads again.

Cruz, Diener & Navaux, CCPE 2014, section 5.1: each thread has one partner, and the mapper is called
when 2 threads or more have changed theirs. ("Exceeds" 2 is read as 2 or more: when two threads have
changed partners, the paper says, they probably have begun to communicate with each other.)

A partner is a thread that one "communicates more with". One that is half as good as the best is
kept (ours): of two neighbours that share alike, now one is ahead and now the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.model.sharing import SharingMatrix

CHANGED_PARTNERS = 2
STILL_PARTNERS = 0.5
"""A thread keeps a partner that it shares with as much as this of what it shares with the best."""


def partners(matrix: SharingMatrix, before: Sequence[int] = ()) -> tuple[int, ...]:
    """Section 5.1: of each thread, the one it communicates more with than with others; the lowest
    of several; -1: nobody so far. One that shared nothing lately keeps the one it had.
    """
    before = before or (-1,) * matrix.threads
    return tuple(map(_partner, matrix.cells, before))


def _partner(row: Sequence[float], before: int) -> int:
    best = max(range(len(row)), key=lambda other: (row[other], -other))
    if before >= 0 and row[before] >= STILL_PARTNERS * row[best]:
        return before
    return best if row[best] else -1


def passes(before: Sequence[int], now: Sequence[int]) -> bool:
    """Whether enough threads have another partner."""
    changed = sum(a != b for a, b in zip(before or (-1,) * len(now), now, strict=True))
    return changed >= CHANGED_PARTNERS
