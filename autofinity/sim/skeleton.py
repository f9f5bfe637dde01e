"""How long a region takes when what its threads do between events takes as long as windows say.

Windows tell how long instructions take, in each phase of the region. The skeleton tells who waits
for whom: barriers, locks, pipelines, and tasks that whichever thread is free takes. Replayed
without accesses, it puts the two together.
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
"""Of an instruction, in those that wait for nothing: a stream that did a handful in a window is no
measure."""


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
    """What threads that share a core lose is in the windows' rates already."""
    classes = tuple(
        replace(each, core=replace(each.core, smt_slowdown=1.0)) for each in spec.core_classes
    )
    return replace(spec, core_classes=classes)
