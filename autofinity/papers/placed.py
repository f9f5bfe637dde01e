"""Captured programs with their threads on PUs, as the papers' traces were looked at."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.evaluation.watched_sharing import SeenSharing, in_whole_trace
from autofinity.mapping.eagermap import eagermap
from autofinity.model.placement import Placement
from autofinity.papers.mechanism_figure import Runs
from autofinity.ports import RunRequest
from autofinity.profiling.placements import bound, compact_cpus
from autofinity.sim.machine import SimMachine


@dataclass(frozen=True, slots=True)
class Placed:
    """One program."""

    name: str
    where: tuple[SimMachine, RunRequest, Placement]

    def whole_trace(self, page_bytes: int | None = None) -> SeenSharing:
        """All that it does. Default: with the machine's pages."""
        return in_whole_trace(*self.where, page_bytes)


def placed(runs: Runs) -> list[Placed]:
    """All programs, each with threads together that share."""
    machine = runs.machine()
    topology = machine.topology
    by_id = bound(compact_cpus(topology, runs.threads))
    found = []
    for program in runs.programs():
        sharing = in_whole_trace(machine, program.request, by_id).sharing
        cpus = eagermap(sharing, topology, topology.allowed)
        found.append(Placed(program.name, (machine, program.request, bound(cpus))))
    return found
