"""Detectors of the simulated machine: from their descriptions to native sinks, and back.

The events of the sinks are in autofinity/native/sim (`sink.hpp` and the files that include it);
their tables are in autofinity/native/detect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from autofinity._core import sim as core
from autofinity.model.detection import (
    AccessSampling,
    Detector,
    FaultSampling,
    HintingFaults,
    RemoteAccesses,
    TlbAccessCounters,
    TlbMatching,
    senses_pages,
    senses_sharing,
)
from autofinity.model.errors import CapabilityError
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.topology import Topology

_NATIVE: dict[type[object], type[core.Detector]] = {
    FaultSampling: core.FaultSampling,
    TlbAccessCounters: core.TlbAccessCounters,
    TlbMatching: core.TlbMatching,
    RemoteAccesses: core.RemoteAccesses,
    AccessSampling: core.AccessSampling,
    HintingFaults: core.HintingFaults,
}


def native_detectors(detectors: Sequence[Detector]) -> list[core.Detector]:
    """Detectors in the form of the native core.

    Raises `CapabilityError` for two detectors that sense the same: their sums could not be
    separated.
    """
    for senses, what in ((senses_sharing, "sharing"), (senses_pages, "pages")):
        both = [type(one).__name__ for one in detectors if senses(one)]
        if len(both) > 1:
            raise CapabilityError(
                f"{' and '.join(both)} sense {what}; an interval has room for one of them"
            )
    return [
        _NATIVE[type(one)](**{field.name: getattr(one, field.name) for field in fields(one)})
        for one in detectors
    ]


class Senses:
    """Reads the findings of the detectors from a replay after each interval."""

    def __init__(self, detectors: Sequence[Detector], page_bytes: int, topology: Topology) -> None:
        self._page_bytes = page_bytes
        self._homes = topology.memory_homes
        self._any = bool(detectors)
        self._sharing = any(map(senses_sharing, detectors))
        self._pages = any(map(senses_pages, detectors))

    def sharing(self, simulation: core.Simulation) -> SharingMatrix | None:
        """Sharing seen since the last call; None without a detector of sharing."""
        if not self._sharing:
            return None
        rows = simulation.take_sharing()
        nothing = (0.0,) * len(rows)
        return SharingMatrix(tuple(tuple(map(float, row)) if any(row) else nothing for row in rows))

    def pages(self, simulation: core.Simulation) -> NumaVectors | None:
        """Pages seen since the last call; None without a detector of pages."""
        if not self._pages:
            return None
        found = simulation.take_pages()
        return NumaVectors(
            {page: tuple(counts) for page, _, counts in found},
            self._page_bytes,
            nodes={page: node for page, node, _ in found},
            homes=self._homes,
        )

    def triggers(self, simulation: core.Simulation) -> int:
        """Number of triggers since the last call."""
        return simulation.take_triggers() if self._any else 0

    def accesses(self, simulation: core.Simulation) -> int:
        """Made by detecting since the last call."""
        return simulation.take_unit_accesses() if self._any else 0
