"""A hint in OpenMP's words, for people who know OpenMP (OpenMP 5.1, sections 6.4 and 6.5).

The words name places and how threads go over these places on any machine, as a hint does. Where
OpenMP has no equivalent, `launchers.py` lists the places of one machine and thread count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autofinity.model.affinity import HINTS, Hint


@dataclass(frozen=True, slots=True)
class OpenMPWords:
    """Values of two variables of the environment."""

    places: str
    """OMP_PLACES: `cores`, or `ll_caches`, the last-level caches."""
    bind: str
    """OMP_PROC_BIND: `close` or `spread`."""
    where: str = ""
    """Meaning of `N` in the places; empty: there is no `N`."""


_SPREAD = OpenMPWords("ll_caches", "spread")
_CLOSE = OpenMPWords("cores", "close")
_OF_FEW_SOCKETS = OpenMPWords(
    "ll_caches(N)",
    "spread",
    "N is the number of caches in the fewest sockets that hold the threads",
)

OPENMP: Mapping[Hint, OpenMPWords | None] = dict(
    zip(
        HINTS,
        (
            _SPREAD,
            _SPREAD,
            None,
            None,
            _OF_FEW_SOCKETS,
            OpenMPWords("ll_caches", "close"),
            _CLOSE,
            _CLOSE,
        ),
        strict=True,
    )
)
"""Words of each hint; None: no words express it. The words give the hint's affinity for up to as
many threads as cores, where sockets are alike. Where threads do not divide evenly, OpenMP leaves to
its runtime which caches get one more thread."""
