"""Whole sweeps: many affinities of one program, some of every training program; on all cores."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from parts import Part, Settings
from progress import show
from traces import capture_input, capture_training, training

from autofinity._core import sim as core
from autofinity.affinity.enumerate import enumerate_affinities, place
from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.model.affinity import Affinity
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import load_program, pus_of_streams, workers_of

MACHINE, CORES = "opteron-6164he", 2
WANTED, WANTED_ACCESSES, WANTED_INPUT = 1000, 200e6, "28"  # blocks of `lu`: 207 M accesses
EACH_THREADS = 8


@dataclass(frozen=True, slots=True)
class Swept:
    """Costs of replays of some affinities."""

    replays_s: float
    """CPU seconds."""
    accesses: int
    """Accesses of the program."""

    def seconds(self, affinities: float, accesses: float) -> float:
        """Seconds of a sweep over `affinities` times as many, `accesses` long, on CORES idle
        cores.
        """
        return accesses / self.accesses * affinities * self.replays_s / CORES


def swept(folder: Path, chosen: Sequence[Affinity], threads: int, title: str) -> Swept:
    """All replays on CORES threads."""
    spec = load_preset(MACHINE)
    machine, program = machine_model(spec), load_program(folder)
    workers = workers_of(folder, threads)

    def one(affinity: Affinity) -> None:
        cpus = place(spec.topology, affinity).cpus
        pus = pus_of_streams(spec.topology, program.streams, cpus, workers)
        core.Simulation(machine, program, pus, sample_period_ns=500_000).run()

    started = time.process_time()
    with ThreadPoolExecutor(CORES) as pool:
        for done, _ in enumerate(pool.map(one, chosen), 1):
            show(title, done, len(chosen))
    return Swept(time.process_time() - started, program.accesses)


def run_thousand(settings: Settings) -> Part:
    """1,000 affinities of `lu` at 24 threads, scaled from fewer of them."""
    spec = load_preset(MACHINE)
    count = 4 if settings.quick else WANTED // 10
    folder = capture_input("lu", WANTED_INPUT, 24)
    every = list(islice(enumerate_affinities(spec.topology, 24), WANTED))
    took = swept(folder, every[:: len(every) // count][:count], 24, "sweep_1000")
    wanted_s = took.seconds(WANTED / count, WANTED_ACCESSES)
    maccs = took.accesses * count / took.replays_s / 1e6
    lines = [
        f"{count} affinities of {folder.name}, {took.accesses / 1e6:.0f} M accesses: "
        f"{took.replays_s:.1f} CPU seconds, {maccs:.0f} M accesses/s and core",
        f"scaled to {WANTED} affinities of {WANTED_ACCESSES / 1e6:.0f} M accesses on {CORES} "
        f"idle cores: {wanted_s:.0f} s",
    ]
    return Part({"sweep_1000_s": wanted_s}, lines, _peak_mib())


def run_all(settings: Settings) -> Part:
    """All 80 affinities of 8 threads, every training program."""
    spec = load_preset(MACHINE)
    every = list(enumerate_affinities(spec.topology, EACH_THREADS))
    chosen = every[:: len(every) // 4][:4] if settings.quick else every
    compilers = Compilers.find(os.environ)
    sweeps: list[Swept] = []
    left_out = []
    for program in training().pick(()):
        reason = skip_reason(program, compilers)
        if reason or not program.threads.allows(EACH_THREADS):
            left_out.append(f"{program.name} left out: {reason or 'it cannot run so'}")
            continue
        folder = capture_training(program.name)
        sweeps.append(swept(folder, chosen, EACH_THREADS, program.name))
    seconds = sum(took.seconds(len(every) / len(chosen), took.accesses) for took in sweeps)
    lines = [
        f"{len(chosen)} of {len(every)} affinities of {len(sweeps)} programs (small, 8 threads), "
        f"CPU seconds scaled to {len(every)} on {CORES} idle cores: {seconds:.0f} s"
    ]
    return Part({"all_programs_80_affinities_s": seconds}, lines + left_out, _peak_mib())


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
