"""Measurements of a simulation, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from autofinity.model.topology import OsIndex
from autofinity.sim.energy import PRICED_EVENTS, energy_j
from autofinity.sim.events import EVENTS
from autofinity.sim.likeness import Floats
from autofinity.sim.spec import MachineSpec
from autofinity.sim.window_sum import Misfits, relative_error

EVENT_INDEX: dict[str, int] = {name: index for index, name in enumerate(EVENTS)}
"""Position of an event in the last axis of the arrays."""


@dataclass(frozen=True, slots=True, eq=False)
class SimResult:
    """Result of one replay. Streams are the trace's, in creation order; `workers` index them."""

    roi_ns: int
    """Simulated time of the region of interest."""
    totals: npt.NDArray[np.uint64]
    """Counts of the whole region, [streams, events]."""
    samples: npt.NDArray[np.uint64]
    """Counts of each sample period, [samples, streams, events]; the last period may be short."""
    times_ns: npt.NDArray[np.uint64]
    """Start and end of each period since the region began, [samples, 2]."""
    progress: npt.NDArray[np.float64]
    """Share of the region's instructions done at the end of each period, [samples]."""
    workers: tuple[int, ...]
    cpus: tuple[OsIndex, ...]
    """PU of each worker."""
    clock_hz: float
    error: float = 0.0
    """Relative standard error of the time; 0 where the whole region was replayed."""
    misfits: Misfits = field(default_factory=Misfits.none)
    """Misfits of the stretches of a sampled replay."""

    def total(self, event: str) -> int:
        """Count of an event over the region and all streams."""
        return int(self.totals[:, EVENT_INDEX[event]].sum())

    def of_workers(self, event: str) -> npt.NDArray[np.uint64]:
        """Count of an event over the region, one for each worker."""
        column: npt.NDArray[Any] = self.totals[list(self.workers), EVENT_INDEX[event]]
        return column

    @property
    def ipc(self) -> float:
        """Instructions per elapsed clock and worker, the helpers' instructions included."""
        clocks = self.roi_ns * self.clock_hz / 1e9 * len(self.workers)
        return self.total("instructions") / clocks if clocks else float("nan")

    def energy_j(self, spec: MachineSpec) -> float:
        """Joules of the whole machine `spec` over the region; NaN without `[energy]` prices."""
        return self._energy_j(spec, np.zeros(len(EVENTS)), 0.0)

    def error_of(self, event: str) -> float:
        """Relative standard error of the count of an event; 0 where the whole region was replayed,
        NaN where it is unknown.
        """
        if not len(self.misfits.ns):
            return 0.0
        return relative_error(self.misfits.counts[:, EVENT_INDEX[event]], self.total(event))

    def energy_error(self, spec: MachineSpec) -> float:
        """Relative standard error of the energy, as `error_of`: joules of the misfits."""
        if not len(self.misfits.ns):
            return 0.0
        joules = self.energy_j(spec)
        off = zip(self.misfits.counts, self.misfits.ns.tolist(), strict=True)
        more = [self._energy_j(spec, counts, ns) - joules for counts, ns in off]
        return relative_error(np.array(more), joules)

    def _energy_j(self, spec: MachineSpec, more: Floats, more_ns: float) -> float:
        """Joules with `more` counts, [events], and a longer time."""
        counts = {
            name: self.total(name) + float(more[EVENT_INDEX[name]])
            for name in (*PRICED_EVENTS, "cycles")
        }
        return energy_j(spec, counts, (self.roi_ns + more_ns) / 1e9)
