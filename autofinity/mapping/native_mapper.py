"""Mappers that are written in C++ (`native/mapping/mappers.cpp`)."""

from __future__ import annotations

from autofinity.affinity.topology_handle import topology_handle
from autofinity.mapping.mapper import Map
from autofinity.mapping.seats import seats
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology


def native_mapper(name: str) -> Map:
    """The mapper of that name, on the seats that `seats` chooses of the available PUs.

    The mapper raises `PlacementError` without threads or usable PUs, `ValueError` for an invalid
    sharing matrix (not square, not symmetric, negative, infinite).
    """

    def mapped(
        sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
    ) -> tuple[OsIndex, ...]:
        from autofinity._core.mapping import mapped as native

        chosen = seats(topology, sharing.threads, available)
        return native(topology_handle(topology), name, sharing.cells, chosen)

    return mapped
