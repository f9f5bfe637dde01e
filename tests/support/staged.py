"""A program with and without its private stage."""

from __future__ import annotations

from autofinity._core import sim as core
from autofinity._core.trace import Trace
from autofinity.sim.native import native_machine
from autofinity.sim.result import EVENT_INDEX
from autofinity.sim.spec import MachineSpec

SEED = 3

type Counts = dict[str, int]


def both_ways(trace: Trace, spec: MachineSpec) -> list[tuple[Counts, Counts]]:
    """Counts of the full stream and from its stage, with the streams near each other and far."""
    machine, full = native_machine(spec), core.Program(trace)
    cores = spec.topology.n_cores
    first_pu = {pu.core: i for i, pu in reversed(list(enumerate(spec.topology.pus)))}
    near = [first_pu[i] for i in range(full.streams)]
    far = [first_pu[i * cores // full.streams] for i in range(full.streams)]
    stage = core.derive_private_stage(machine, full, near, seed=SEED)
    assert stage.staged
    return [(_counts(machine, full, pus), _counts(machine, stage, pus)) for pus in (near, far)]


def _counts(machine: core.Machine, program: core.Program, pus: list[int]) -> Counts:
    simulation = core.Simulation(machine, program, pus, seed=SEED)
    simulation.run()
    simulation.check()
    totals = simulation.totals().sum(axis=0)
    return {event: int(totals[column]) for event, column in EVENT_INDEX.items()}
