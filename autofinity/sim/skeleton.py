"""Time of a region when the work of its threads between events takes as long as in the windows.

Windows give the time of instructions, in each phase of the region. The skeleton has the waits
between threads: barriers, locks, pipelines, and tasks that any free thread takes. A replay of the
skeleton without accesses combines both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from autofinity._core import sim as core
from autofinity._core import trace as traces
from autofinity.sim.native import machine_model
from autofinity.sim.spec import MachineSpec
from autofinity.sim.window_sum import RegionEstimate

MOST_PRICE = 1e6
"""Largest time of an instruction, in units of an instruction that waits for nothing: a stream with
only a few instructions in a window is no measure."""


class Skeleton:
    """The skeleton of a sampled trace, for any number of replays."""

    def __init__(self, events: traces.Trace, interval_work: int) -> None:
        self._events = events
        self._interval_work = interval_work

    def roi_ns(self, spec: MachineSpec, pus: Sequence[int], rates: RegionEstimate) -> float:
        """Time of the region in a placement. `pus`: logical PU of each stream.

        Raises `SimulationError`.
        """
        machine = machine_model(_without_siblings(spec))
        issue_ticks = [each.instruction for each in machine.classes]
        cores = [spec.topology.pus[pu].core for pu in pus]
        issue_ns = np.array([issue_ticks[machine.class_of_core[each]] for each in cores]) / (
            machine.ghz * core.TICKS_PER_CLOCK
        )
        program = core.Program.skeleton(
            self._events,
            self._interval_work,
            np.minimum(rates.busy_ns / issue_ns, MOST_PRICE),
            np.minimum(rates.unit_ns / issue_ns.mean(), MOST_PRICE),
        )
        simulation = core.Simulation(machine, program, pus)
        simulation.run()
        return float(simulation.elapsed_ns)


def _without_siblings(spec: MachineSpec) -> MachineSpec:
    """The machine without the slowdown by siblings, which the windows' rates already include."""
    classes = tuple(
        replace(each, core=replace(each.core, smt_slowdown=1.0)) for each in spec.core_classes
    )
    return replace(spec, core_classes=classes)
