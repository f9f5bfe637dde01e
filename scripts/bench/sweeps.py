"""Whole sweeps: many affinities of one program, some of every training program; on all cores."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from parts import Part, Settings
from progress import show
from traces import capture_training, training

from autofinity._core import sim as core
from autofinity.affinity.enumerate import enumerate_affinities, place
from autofinity.capture.build import Compilers, skip_reason
from autofinity.model.affinity import Affinity
from autofinity.sim.native import native_machine
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import load_program, pus_of_streams, workers_of

MACHINE, CORES = "opteron-6164he", 2
WANTED, WANTED_ACCESSES = 1000, 200e6
EACH, EACH_THREADS = 80, 8


def swept(folder: Path, chosen: Sequence[Affinity], threads: int, title: str) -> tuple[float, int]:
    """CPU seconds of all replays on CORES threads, and the program's accesses."""
    spec = load_preset(MACHINE)
    machine, program = native_machine(spec), load_program(folder)
    workers = workers_of(folder, threads)

    def one(affinity: Affinity) -> None:
        cpus = place(spec.topology, affinity).cpus
        pus = pus_of_streams(spec.topology, program.streams, cpus, workers)
        core.Simulation(machine, program, pus, sample_period_ns=500_000).run()

    started = time.process_time()
    with ThreadPoolExecutor(CORES) as pool:
        for done, _ in enumerate(pool.map(one, chosen), 1):
            show(title, done, len(chosen))
    return time.process_time() - started, program.accesses


def run_thousand(settings: Settings) -> Part:
    """1,000 affinities of `lu` at 24 threads."""
    spec = load_preset(MACHINE)
    count = 40 if settings.quick else WANTED
    size = "small" if settings.quick else "medium"
    folder = capture_training("lu", size, 24)
    every = list(islice(enumerate_affinities(spec.topology, 24), WANTED))
    chosen = every[:: len(every) // count][:count]
    cpu_s, accesses = swept(folder, chosen, 24, "sweep_1000")
    scale = WANTED / count * (WANTED_ACCESSES / accesses)
    seconds = cpu_s / CORES * scale
    lines = [
        f"{count} affinities of lu-{size}, 24 threads, {accesses / 1e6:.0f} M accesses: "
        f"{cpu_s:.1f} CPU seconds",
        f"scaled by {scale:.2f} to {WANTED} affinities of {WANTED_ACCESSES / 1e6:.0f} M accesses "
        f"on {CORES} idle cores: {seconds:.0f} s",
    ]
    return Part({"sweep_1000_s": seconds}, lines, _peak_mib())


def run_all(settings: Settings) -> Part:
    """All 80 affinities of 8 threads, every training program."""
    spec = load_preset(MACHINE)
    every = list(enumerate_affinities(spec.topology, EACH_THREADS))
    chosen = every[:: len(every) // 4][:4] if settings.quick else every
    compilers = Compilers.find(os.environ)
    seconds, names, left_out = 0.0, [], []
    for program in training().pick(()):
        reason = skip_reason(program, compilers)
        if reason or not program.threads.allows(EACH_THREADS):
            left_out.append(f"{program.name} left out: {reason or 'it cannot run so'}")
            continue
        folder = capture_training(program.name)
        cpu_s, _ = swept(folder, chosen, EACH_THREADS, program.name)
        seconds += cpu_s / CORES * len(every) / len(chosen)
        names.append(program.name)
    lines = [
        f"{len(chosen)} of {len(every)} affinities of {len(names)} programs (small, 8 threads), "
        f"CPU seconds scaled to {len(every)} on {CORES} idle cores: {seconds:.0f} s"
    ]
    return Part({"all_programs_80_affinities_s": seconds}, lines + left_out, _peak_mib())


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
