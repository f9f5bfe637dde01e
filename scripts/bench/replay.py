"""Replay of captured programs: accesses and events per second of CPU time, by their miss rates."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from pathlib import Path

from parts import Part, Settings
from traces import FRIENDLY, MIX, capture_chase, capture_training

from autofinity._core import sim as core
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import Hint
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import load_program, pus_of_streams, workers_of

MACHINE, THREADS = "opteron-6164he", 8
EVENTS = core.event_names()


@dataclass(frozen=True, slots=True)
class Measured:
    """Sums over some programs."""

    accesses: int = 0
    events: int = 0
    cpu_s: float = 0.0
    misses: int = 0
    """Misses of the first-level cache, in the regions of interest."""
    roi_accesses: int = 0

    def __add__(self, other: Measured) -> Measured:
        return Measured(
            *(getattr(self, name) + getattr(other, name) for name in Measured.__slots__)
        )

    @property
    def maccs(self) -> float:
        return self.accesses / self.cpu_s / 1e6

    @property
    def meps(self) -> float:
        return self.events / self.cpu_s / 1e6

    def row(self, name: str) -> str:
        return (
            f"{name:28}{self.maccs:9.1f} M accesses/s {self.meps:8.2f} M events/s   "
            f"{self.misses / self.roi_accesses:6.1%} L1 misses, "
            f"{self.accesses / 1e6:.1f} M accesses"
        )


MIX_MISSES = 0.13
"""Share of first-level misses that a mix is to have; the programs of `MIX` have more."""


def with_hits(mix: Measured, friendly: Measured, misses: float = MIX_MISSES) -> float:
    """M accesses/s of the mix with so much of the L1-friendly programs added that no more than the
    share `misses` of all accesses misses; without them where the mix itself misses less.
    """
    often, rarely = (one.misses / one.roi_accesses for one in (mix, friendly))
    added = max(0.0, (often - misses) / (often - rarely))
    return 1 / ((1 - added) / mix.maccs + added / friendly.maccs)


def replayed(folder: Path, rounds: int) -> Measured:
    """A replay with spread threads (SLP); the best of the rounds."""
    spec = load_preset(MACHINE)
    program = load_program(folder)
    cpus = get_affinity(spec.topology, THREADS, Hint.parse("SLP")).cpus
    pus = pus_of_streams(spec.topology, program.streams, cpus, workers_of(folder, THREADS))
    machine = machine_model(spec)
    best = float("inf")
    for _ in range(rounds):
        simulation = core.Simulation(machine, program, pus, sample_period_ns=500_000)
        started = time.process_time()
        simulation.run()
        best = min(best, time.process_time() - started)
    totals = simulation.totals().sum(axis=0)
    return Measured(
        program.accesses,
        program.events,
        best,
        int(totals[EVENTS.index("data_cache_misses")]),
        int(totals[EVENTS.index("data_cache_accesses")]),
    )


def run(settings: Settings) -> Part:
    rounds = 3 if settings.quick else 5  # a busy neighbour lasts for one or two
    lines = []

    def over(names: tuple[str, ...], title: str) -> Measured:
        total = Measured()
        for name in names:
            one = replayed(capture_training(name), rounds)
            lines.append(one.row(name))
            total += one
        lines.append(total.row(title))
        return total

    friendly, mix = over(FRIENDLY, "L1-friendly, together"), over(MIX, "mix, together")
    miss = replayed(capture_chase(settings.quick), rounds)
    lines.append(miss.row("everything misses (chase)"))
    mix_13 = with_hits(mix, friendly)
    lines.append(f"{f'mix, at {MIX_MISSES:.0%} L1 misses':28}{mix_13:9.1f} M accesses/s")
    values = {
        "full_l1_maccs": friendly.maccs,
        "full_mix_maccs": mix.maccs,
        "full_mix_l1_miss_share": mix.misses / mix.roi_accesses,
        "full_mix_13_maccs": mix_13,
        "full_mix_events_meps": mix.meps,
        "full_miss_maccs": miss.maccs,
    }
    return Part(values, lines, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
