#!/usr/bin/env python3
"""How far replays that start from a private stage are from replays of the full stream.

    PYTHONPATH=. python scripts/compare_private_stage.py [--program NAME]… [--threads 8]
        [--size tiny] [--machine opteron-6164he] [--affinities hints] [--traces FOLDER]

Captures the training programs (kept in FOLDER, if given) and replays each in every affinity both
ways. Prints two tables as Markdown. The first has a row for each program: the affinity whose cycles
differ most, how many times as fast the stage is in CPU time (without and with its derivation), and
the share of racing accesses; `full stream` where `SimMachine` would not use a stage. The second has
a row for each program and counter: the sum over the affinities and the largest difference in one,
for counters of at least --least events in every affinity.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from autofinity._core import sim as core
from autofinity.affinity.enumerate import place
from autofinity.capture.build import Compilers, skip_reason
from autofinity.capture.campaign import capture_suite
from autofinity.profiling.selection import select
from autofinity.resources import shipped
from autofinity.sim.native import native_machine
from autofinity.sim.preset import load_preset
from autofinity.sim.private_stage import PrivateStages
from autofinity.sim.replay import load_program, pus_of_streams
from autofinity.sim.result import EVENT_INDEX
from autofinity.sim.spec import MachineSpec
from autofinity.trace.manifest import load_suite
from autofinity.trace.meta import TraceMeta

SEED = 1

type Totals = npt.NDArray[np.float64]


@dataclass
class Compared:
    """One program, both ways; totals of all streams, [affinities, events]."""

    program: str
    full: Totals
    staged: Totals
    full_s: float
    staged_s: float
    derive_s: float
    racing_share: float

    def differences(self, event: str) -> npt.NDArray[np.float64]:
        """Relative to the full stream, one an affinity."""
        column = EVENT_INDEX[event]
        return self.staged[:, column] / self.full[:, column] - 1


def replayed(
    machine: core.Machine, program: core.Program, pus_of_affinity: list[list[int]]
) -> tuple[Totals, float]:
    """Totals, [affinities, events], and CPU seconds."""
    begin_s = time.process_time()
    rows = []
    for pus in pus_of_affinity:
        simulation = core.Simulation(machine, program, pus, seed=SEED)
        simulation.run()
        rows.append(simulation.totals().sum(axis=0))
    return np.array(rows, dtype=np.float64), time.process_time() - begin_s


def compared(spec: MachineSpec, meta: TraceMeta, affinities: str) -> Compared | None:
    """None where the full stream is replayed in any case."""
    machine = native_machine(spec)
    program = load_program(meta.path)
    workers = meta.workers()
    pus_of_affinity = [
        pus_of_streams(spec.topology, program.streams, place(spec.topology, affinity).cpus, workers)
        for affinity in select(spec.topology, len(workers), affinities, SEED)
    ]
    stages = PrivateStages(spec, machine)
    begin_s = time.process_time()
    stage = stages.stage_of(program, pus_of_affinity[0], workers, SEED)
    derive_s = time.process_time() - begin_s
    if stage is None:
        return None
    full, full_s = replayed(machine, program, pus_of_affinity)
    staged, staged_s = replayed(machine, stage, pus_of_affinity)
    return Compared(
        meta.program, full, staged, full_s, staged_s, derive_s, racing_share=stage.racing_share
    )


def captured(args: argparse.Namespace, folder: Path) -> list[TraceMeta]:
    suite = load_suite(shipped("training", "suite.toml"))
    compilers = Compilers.find(os.environ)
    names = [
        spec.name
        for spec in suite.pick(tuple(args.program))
        if skip_reason(spec, compilers) is None and spec.threads.allows(args.threads)
    ]
    return capture_suite(suite, names, args.threads, args.size, folder)


def percent(difference: float) -> str:
    return f"{100 * difference:+.2f} %"


def farthest(differences: npt.NDArray[np.float64]) -> float:
    return float(differences[np.argmax(np.abs(differences))])


def print_programs(rows: list[tuple[str, Compared | None]]) -> None:
    print("| program | cycles, at most | replays | with derivation | racing |")
    print("|---|---|---|---|---|")
    for name, row in rows:
        if row is None:
            print(f"| {name} | full stream | | | |")
            continue
        print(
            f"| {name} | {percent(farthest(row.differences('cycles')))} "
            f"| {row.full_s / row.staged_s:.1f} x "
            f"| {row.full_s / (row.staged_s + row.derive_s):.1f} x "
            f"| {100 * row.racing_share:.1f} % |"
        )


def print_counters(rows: list[Compared], least: int) -> None:
    print("| counter | program | full | private stage | sum | at most |")
    print("|---|---|---|---|---|---|")
    for event, column in EVENT_INDEX.items():
        for row in rows:
            if row.full[:, column].min() < least:
                continue
            full, staged = row.full[:, column].sum(), row.staged[:, column].sum()
            print(
                f"| {event} | {row.program} | {full:.0f} | {staged:.0f} "
                f"| {percent(staged / full - 1)} | {percent(farthest(row.differences(event)))} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--program", "-p", action="append", default=[])
    parser.add_argument("--threads", "-t", type=int, default=8)
    parser.add_argument("--size", default="tiny")
    parser.add_argument("--machine", "-m", default="opteron-6164he")
    parser.add_argument("--affinities", default="hints", help="as for `autofinity profile`")
    parser.add_argument("--least", type=int, default=1000, help="events in every affinity")
    parser.add_argument("--traces", type=Path)
    args = parser.parse_args()
    spec = load_preset(args.machine)
    with tempfile.TemporaryDirectory(prefix="autofinity-compare-") as name:
        metas = captured(args, args.traces or Path(name))
        rows = [(meta.program, compared(spec, meta, args.affinities)) for meta in metas]
    print_programs(rows)
    print()
    print_counters([row for _, row in rows if row is not None], args.least)


if __name__ == "__main__":
    main()
