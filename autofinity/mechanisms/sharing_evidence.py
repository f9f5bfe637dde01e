"""Who has been seen to share, in two halves: a mapping is made from one and judged on the other.

A few samples always look as if somebody belonged together: a mapping made from them brings just
those together and seems to save much. On samples that it was not made from it saves what it will
save.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.mechanisms.sharing_aware import added, nothing, scaled
from autofinity.model.sharing import SharingMatrix

AGEING = 0.95
"""Share of older sharing that is left at each look that shows new sharing."""
FEWEST_EVENTS = 4
"""Sharing events per thread in each half before the half is believed."""


@dataclass(frozen=True, slots=True)
class SharingEvidence:
    """Two halves, each of every other look; they change places with every look."""

    mapped: SharingMatrix
    """To make a mapping from."""
    judged: SharingMatrix
    """To judge it on."""

    @staticmethod
    def none(threads: int) -> SharingEvidence:
        """Nobody was seen to share."""
        return SharingEvidence(nothing(threads), nothing(threads))

    def seeing(self, more: SharingMatrix | None, domain: Sequence[int]) -> SharingEvidence:
        """With one more look. Two threads of one `domain` (one a thread; empty: nobody shares one)
        are those that cannot be seen to share: what was known of them stays as it is.
        """
        return SharingEvidence(self.judged, _aged(self.mapped, more, domain))

    @property
    def believed(self) -> bool:
        """Whether there is enough of it."""
        enough = FEWEST_EVENTS * self.mapped.threads
        return all(sum(map(sum, half.cells)) >= enough for half in (self.mapped, self.judged))


def _aged(
    matrix: SharingMatrix, more: SharingMatrix | None, domain: Sequence[int]
) -> SharingMatrix:
    if added(matrix, more) is matrix:
        return matrix
    old = scaled(matrix, AGEING).cells
    if domain:
        old = tuple(
            tuple(
                known if domain[i] == domain[j] else faded
                for j, (known, faded) in enumerate(zip(matrix.cells[i], row, strict=True))
            )
            for i, row in enumerate(old)
        )
    return added(SharingMatrix(old), more)
