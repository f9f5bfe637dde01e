"""Whole sweeps: many affinities of one program, some of every training program; on all cores."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from parts import Part, Settings
from progress import show
from traces import capture_input, capture_training, training

from autofinity._core import sim as core
from autofinity.affinity.enumerate import enumerate_affinities, place
from autofinity.capture.build import Compilers, skip_reason
from autofinity.model.affinity import Affinity
from autofinity.sim.native import native_machine
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import load_program, pus_of_streams, workers_of
from autofinity.sim.stage_fitting import stage_to_use

MACHINE, CORES = "opteron-6164he", 2
WANTED, WANTED_ACCESSES, WANTED_INPUT = 1000, 200e6, "28"  # blocks of `lu`: 207 M accesses
EACH, EACH_THREADS = 80, 8


@dataclass(frozen=True, slots=True)
class Swept:
    """What replays of some affinities took."""

    fitting_s: float
    """Before the first one, elapsed: the private stage, derived and compared; 0 if nobody asked."""
    replays_s: float
    """CPU seconds."""
    accesses: int
    """Of the program."""
    staged: bool

    def seconds(self, affinities: float, accesses: float) -> float:
        """Of a sweep over `affinities` times as many, `accesses` long, on CORES idle cores."""
        scale = accesses / self.accesses
        return scale * (self.fitting_s + affinities * self.replays_s / CORES)


def swept(
    folder: Path, chosen: Sequence[Affinity], threads: int, title: str, staged: bool = False
) -> Swept:
    """All replays on CORES threads, from the program's private stage if it has one and `staged`."""
    spec = load_preset(MACHINE)
    machine, program = native_machine(spec), load_program(folder)
    workers = workers_of(folder, threads)
    fitting_s, stage = 0.0, None
    if staged and not program.has_units:
        started = time.perf_counter()
        stage, _ = stage_to_use(spec, machine, program, workers, 0, CORES)
        fitting_s = time.perf_counter() - started
    replayed = stage or program

    def one(affinity: Affinity) -> None:
        cpus = place(spec.topology, affinity).cpus
        pus = pus_of_streams(spec.topology, program.streams, cpus, workers)
        core.Simulation(machine, replayed, pus, sample_period_ns=500_000).run()

    started = time.process_time()
    with ThreadPoolExecutor(CORES) as pool:
        for done, _ in enumerate(pool.map(one, chosen), 1):
            show(title, done, len(chosen))
    return Swept(fitting_s, time.process_time() - started, program.accesses, stage is not None)


def run_thousand(settings: Settings) -> Part:
    """1,000 affinities of `lu` at 24 threads, from its private stage and of the full stream."""
    spec = load_preset(MACHINE)
    counts = (40, 4) if settings.quick else (WANTED, WANTED // 10)
    folder = capture_input("lu", WANTED_INPUT, 24)
    every = list(islice(enumerate_affinities(spec.topology, 24), WANTED))
    values: dict[str, float | None] = {}
    lines = []
    for key, count, staged in (
        ("sweep_1000_s", counts[0], True),
        ("sweep_1000_full_s", counts[1], False),
    ):
        chosen = every[:: len(every) // count][:count]
        took = swept(folder, chosen, 24, "sweep_1000", staged)
        values[key] = took.seconds(WANTED / count, WANTED_ACCESSES)
        maccs = took.accesses * count / took.replays_s / 1e6
        lines += [
            f"{count} affinities of {folder.name}, {took.accesses / 1e6:.0f} M accesses, "
            f"{'from the private stage' if took.staged else 'full stream'}: "
            f"{took.replays_s:.1f} CPU seconds, {maccs:.0f} M accesses/s and core; "
            f"{took.fitting_s:.1f} s before",
            f"scaled to {WANTED} affinities of {WANTED_ACCESSES / 1e6:.0f} M accesses on {CORES} "
            f"idle cores: {values[key]:.0f} s",
        ]
    return Part(values, lines, _peak_mib())


def run_all(settings: Settings) -> Part:
    """All 80 affinities of 8 threads, every training program: from its private stage where that is
    used, and the full stream of all."""
    spec = load_preset(MACHINE)
    every = list(enumerate_affinities(spec.topology, EACH_THREADS))
    chosen = every[:: len(every) // 4][:4] if settings.quick else every
    compilers = Compilers.find(os.environ)
    staged: dict[str, Swept] = {}
    full: dict[str, Swept] = {}
    left_out = []
    for program in training().pick(()):
        reason = skip_reason(program, compilers)
        if reason or not program.threads.allows(EACH_THREADS):
            left_out.append(f"{program.name} left out: {reason or 'it cannot run so'}")
            continue
        folder = capture_training(program.name)
        staged[program.name] = swept(folder, chosen, EACH_THREADS, program.name, staged=True)
        full[program.name] = swept(folder, chosen, EACH_THREADS, program.name)

    def seconds(of: Mapping[str, Swept]) -> float:
        return sum(took.seconds(len(every) / len(chosen), took.accesses) for took in of.values())

    used = sum(took.staged for took in staged.values())
    fitting_s = sum(took.fitting_s for took in staged.values())
    values: dict[str, float | None] = {
        "all_programs_80_affinities_s": seconds(staged),
        "all_programs_80_affinities_full_s": seconds(full),
    }
    lines = [
        f"{len(chosen)} of {len(every)} affinities of {len(full)} programs (small, 8 threads), "
        f"CPU seconds scaled to {len(every)} on {CORES} idle cores",
        f"from their private stages, which {used} of them have: {seconds(staged):.0f} s, of which "
        f"{fitting_s:.0f} s make and compare stages",
        f"full streams: {seconds(full):.0f} s",
    ]
    return Part(values, lines + left_out, _peak_mib())


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
