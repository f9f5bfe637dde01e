"""Dual recursive bipartitioning as kMAF'14 maps threads (section 3.4.1): by SCOTCH's library where
it is installed, else by our own.
"""

from __future__ import annotations

from autofinity.mapping.bisection import bisection
from autofinity.mapping.scotch import is_installed, scotch
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology


def bipartition(
    sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> tuple[OsIndex, ...]:
    """The PU of each thread, in thread order. Raises as `scotch` and `bisection`."""
    return (scotch if is_installed() else bisection)(sharing, topology, available)


def bipartition_by() -> str:
    """Which of the two maps here."""
    return "SCOTCH" if is_installed() else "our own bisection; SCOTCH is not installed"
