"""Finds, from a trace, the threads of a captured program that compute, and the number of cores for
them.

A suite sets the number of threads that a program is run with; the program itself decides how many
it starts. A pipeline run with "8" may have 27 threads, of which a dozen can run at a time. On 8
cores these threads would wait for each other, which shows nothing about affinities; with a core for
each they would be spread further than any system spreads them. So cores are chosen for as many
threads as run at a time, and some to spare, and the program's threads share these cores.
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
    """Threads of a program, and their cores."""

    computing: int
    """Number of threads that are placed."""
    at_a_time: int
    """Number of threads that run at a time: all, where each has a core of its own."""
    room: int
    """Number of cores for the threads."""

    @property
    def shares(self) -> bool:
        """Whether the threads share cores because there are fewer cores than threads."""
        return self.room < self.computing


def crew_of(spec: MachineSpec, trace: Path, threads: int) -> Crew:
    """The crew of a program that was run with the thread count `threads`.

    Where at most one more thread computes (the thread that made the others works before and after
    them), the crew has `threads` threads. Otherwise the program is run under a model of Linux's
    scheduler on the whole machine, with frequent looks: in 19 looks of 20 no more threads can run
    than are counted. In a sampled trace each computing thread has a core of its own, for it stays
    where it is bound. The crew never has more cores than there are CPUs. Raises `TraceError`,
    `SimulationError`.
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
