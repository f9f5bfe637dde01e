"""A mapper: from the sharing between threads to their seats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology

type Map = Callable[[SharingMatrix, Topology, frozenset[OsIndex]], tuple[OsIndex, ...]]
"""(sharing, topology, available) → the PU of each thread, in thread order; pure.

Raises `PlacementError` without threads or usable PUs, `ValueError` for an invalid sharing matrix,
`CapabilityError` where a library is missing, `UsageError` where the task is too large."""


@dataclass(frozen=True, slots=True)
class Mapper:
    """A mapper and one line on it."""

    run: Map
    meaning: str
    source: str = "ours"
    quick_up_to: int = 2048
    """Number of threads up to which the mapper takes less than about a second."""
