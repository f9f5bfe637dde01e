"""Which threads of a captured program compute, and for how many of them at a time there is to be a
core: read from the trace.

A suite says with how many threads a program is run; what it starts is its own affair. A pipeline
told "8" may have 27 threads, of which a dozen can run at a time. They would wait for each other on
8 cores, which says nothing of affinities; and on a core each they would be spread further than any
system spreads them. So cores are chosen for as many as run at a time, and some to spare, and its
threads share these.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autofinity._core import trace as traces
from autofinity.affinity.room import room_for
from autofinity.sim.spec import MachineSpec
from autofinity.sim.together import ProgramRun, prepare_together, start_together

_FAIR_SHARE = 0.1  # of the busiest thread's accesses in the region
_GLANCE_NS = 20_000
_ENOUGH = 0.95  # of the time there are cores for all that can run


@dataclass(frozen=True, slots=True)
class Crew:
    """Threads of a program."""

    computing: int
    """Those that are placed."""
    at_a_time: int
    """How many run at a time: of all, where each has a core of its own."""
    room: int
    """How many cores they are to have."""

    @property
    def shares(self) -> bool:
        """Whether its threads share cores that are fewer than they are."""
        return self.room < self.computing


def crew_of(spec: MachineSpec, trace: Path, threads: int) -> Crew:
    """Of a program that was told to run with so many threads.

    Where at most one thread more computes (the one that made the others takes its turn before and
    after them), it is as many as it was told. Otherwise the program is run under a model of Linux's
    scheduler on all of the machine, and looked at often: 19 times of 20 no more threads can run
    than are counted. Of a sampled trace each thread that computes has a core of its own, for it
    stays where it is bound. Never more than there are CPUs. Raises `TraceError`, `SimulationError`.
    """
    streams = traces.summary(str(trace))["streams"]
    accesses = [stream["roi_accesses"] for stream in streams]
    if not any(accesses):  # no region is marked
        accesses = [stream["accesses"] for stream in streams]
    busiest = max(accesses, default=0)
    computing = sum(each >= max(1, _FAIR_SHARE * busiest) for each in accesses)
    cpus = len(spec.topology.allowed)
    if computing <= threads + 1:
        return Crew(threads, threads, threads)
    if traces.is_sampled(str(trace)):
        placed = min(computing, cpus)
        return Crew(placed, placed, placed)
    at_a_time = min(_seen_at_a_time(spec, trace, computing), cpus)
    return Crew(computing, at_a_time, min(room_for(at_a_time, computing), cpus))


def _seen_at_a_time(spec: MachineSpec, trace: Path, computing: int) -> int:
    run = ProgramRun(trace, tuple(sorted(spec.topology.allowed)))
    simulation, _ = start_together(spec, prepare_together([run]), [run], scheduler="os")
    glances = []
    while not simulation.advance(_GLANCE_NS):
        glances.append(len(simulation.runnable))
    if not glances:
        return computing
    return max(1, min(computing, int(np.quantile(glances, _ENOUGH, method="higher"))))
