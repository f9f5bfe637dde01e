#!/usr/bin/env python3
"""Compare sampled replays with whole ones: times, counters, best hint, CPU time. As Markdown.

    autofinity capture --threads 8 --size medium --whole -o whole
    autofinity capture --threads 8 --size medium --sampled -o sampled
    python scripts/studies/sampling.py whole sampled [--machine opteron-6164he …] [--kept FILE]

A row for each program and machine, over the best matches of all hints: mean and largest error of
the time, the counter of `COUNTERS` with the largest error, the loss with the hint that is best in
sampled replays against the best one, the error that the replay itself reports, its windows, and CPU
time of whole replays over that of sampled ones. Whole replays of real sizes take hours; those in
FILE (JSON) are not made again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from autofinity._core.sim import Program
from autofinity.affinity.enumerate import place
from autofinity.model.affinity import Affinity
from autofinity.profiling.selection import best_matches
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import load_program, simulate, workers_of
from autofinity.sim.result import SimResult
from autofinity.sim.sampled import Precision, SampledProgram, simulate_sampled
from autofinity.sim.spec import MachineSpec
from autofinity.trace.meta import read_meta

MACHINES = ("opteron-6164he", "xeon-e5-2650", "xeon-8480", "epyc-9654")
COUNTERS = (
    "cycles",
    "data_cache_misses",
    "l2_misses",
    "llc_requests",
    "llc_misses",
    "stall_cycles_memory",
)
"""Counters that policies have used, and those from which they are computed."""
FEW = 1e-4
"""Counters below this share of instructions affect no decision and are not compared."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One replay in one affinity."""

    roi_ns: float
    counts: dict[str, float]
    cpu_s: float
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """A program on a machine."""

    program: str
    machine: str
    errors: list[float]
    counter: tuple[float, str]
    regret: float
    stated: float
    speedup: float

    def text(self) -> str:
        """The row as a line of the table."""
        far, name = self.counter
        return (
            f"| {self.program} | {self.machine} | {100 * float(np.mean(np.abs(self.errors))):.2f} "
            f"| {100 * max(self.errors, key=abs):+.2f} | {100 * far:+.1f} {name} "
            f"| {100 * self.regret:.2f} | {100 * self.stated:.2f} | {self.speedup:.0f} |"
        )


def measured(result: SimResult, cpu_s: float) -> Measured:
    """The values that are compared."""
    counts = {name: float(result.total(name)) for name in ("instructions", *COUNTERS)}
    return Measured(float(result.roi_ns), counts, cpu_s, result.error)


def _whole(
    spec: MachineSpec, program: Program, workers: Sequence[int], seed: int, affinity: Affinity
) -> Measured:
    began = time.thread_time()
    cpus = place(spec.topology, affinity).cpus
    result = simulate(spec, program, cpus, workers=workers, seed=seed)
    return measured(result, time.thread_time() - began)


class Whole:
    """Whole replays, kept in a file."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._kept = json.loads(path.read_text()) if path is not None and path.exists() else {}

    def of(self, spec: MachineSpec, traces: list[Path], seed: int, jobs: int) -> None:
        """Make the replays that are missing."""
        for trace in traces:
            threads = read_meta(trace).threads
            cells = [
                affinity
                for affinity in best_matches(spec.topology, threads)
                if self.key(spec, trace, str(affinity)) not in self._kept
            ]
            if not cells:
                continue
            program, workers = load_program(trace), workers_of(trace, threads)

            run = partial(_whole, spec, program, workers, seed)
            with ThreadPoolExecutor(jobs) as pool:
                for affinity, found in zip(cells, pool.map(run, cells), strict=True):
                    self._kept[self.key(spec, trace, str(affinity))] = [
                        found.roi_ns,
                        found.counts,
                        found.cpu_s,
                    ]
            if self._path is not None:
                self._path.write_text(json.dumps(self._kept))

    def __getitem__(self, key: str) -> Measured:
        return Measured(*self._kept[key])

    @staticmethod
    def key(spec: MachineSpec, trace: Path, affinity: str) -> str:
        """The key of a replay: the machine's state, trace and affinity."""
        state = hashlib.sha256(repr(spec).encode()).hexdigest()[:12]
        return f"{spec.name} {state} {read_meta(trace).digest} {affinity}"


def compared(
    spec: MachineSpec, whole: Whole, pair: tuple[Path, Path], precision: Precision, seed: int
) -> Row:
    """The comparison of one program on one machine."""
    trace, sampled = pair
    threads = read_meta(trace).threads
    workers = workers_of(sampled, threads)
    program = SampledProgram(sampled)
    truth, guess = {}, {}
    for affinity in best_matches(spec.topology, threads):
        truth[affinity] = whole[Whole.key(spec, trace, str(affinity))]
        began = time.process_time()
        cpus = place(spec.topology, affinity).cpus
        result = simulate_sampled(
            spec, program, cpus, workers=workers, seed=seed, precision=precision
        )
        guess[affinity] = measured(result, time.process_time() - began)
    chosen = min(guess, key=lambda affinity: guess[affinity].roi_ns)
    best = min(each.roi_ns for each in truth.values())
    return Row(
        program=trace.name,
        machine=spec.name,
        errors=[guess[a].roi_ns / truth[a].roi_ns - 1 for a in truth],
        counter=max(
            (far for a in truth for far in counter_errors(truth[a], guess[a])),
            key=lambda far: abs(far[0]),
            default=(0.0, ""),
        ),
        regret=truth[chosen].roi_ns / best - 1,
        stated=max(each.error for each in guess.values()),
        speedup=sum(t.cpu_s for t in truth.values()) / sum(g.cpu_s for g in guess.values()),
    )


def counter_errors(truth: Measured, guess: Measured) -> Iterator[tuple[float, str]]:
    """The error of every counter that counts enough."""
    for name in COUNTERS:
        if truth.counts[name] > FEW * truth.counts["instructions"]:
            yield guess.counts[name] / truth.counts[name] - 1, name


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("whole", type=Path)
    parser.add_argument("sampled", type=Path)
    parser.add_argument("--machine", action="append")
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--windows", type=int, default=Precision().at_least)
    parser.add_argument("--error", type=float, default=Precision().error)
    parser.add_argument("--only-whole", action="store_true")
    options = parser.parse_args()
    traces = [p for p in sorted(options.whole.iterdir()) if (p / "meta.json").exists()]
    whole = Whole(options.kept)
    precision = Precision(error=options.error, at_least=options.windows)
    rows = []
    print("| program | machine | mean error, % | largest | counter | regret, % | stated, % | CPU |")
    print("|---|---|---|---|---|---|---|---|")
    for machine in options.machine or MACHINES:
        spec = load_preset(machine)
        whole.of(spec, traces, options.seed, options.jobs)
        if options.only_whole:
            continue
        for trace in traces:
            if (options.sampled / trace.name / "meta.json").exists():
                pair = (trace, options.sampled / trace.name)
                rows.append(compared(spec, whole, pair, precision, options.seed))
                print(rows[-1].text(), flush=True)
    if rows:
        errors = np.abs(np.concatenate([row.errors for row in rows]))
        print(
            f"\nMean error {100 * errors.mean():.2f} %, largest {100 * errors.max():.2f} %; "
            f"{sum(row.regret <= 0.005 for row in rows)} of {len(rows)} best hints within 0.5 %; "
            f"CPU time {np.exp(np.mean([np.log(row.speedup) for row in rows])):.0f} times less."
        )


if __name__ == "__main__":
    main()
