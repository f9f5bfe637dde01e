#!/usr/bin/env python3
"""How counters move when cores may run ahead of each other by half as much, as Markdown.

    PYTHONPATH=. python scripts/halve_skew.py [--programs 16]

One program alone is chaotic: a few clocks change who waits for whom. So each row is of many random
ones (loads, stores, locks, barriers and sharing of eight threads, packed), and has the standard
error of the mean beside it: a move that is not several times as large is none. Takes two minutes;
needs the test tools.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("support", "fidelity")]

from mixed_program import mixed_program  # noqa: E402
from sim_programs import cpus  # noqa: E402

from autofinity._core import sim as core  # noqa: E402
from autofinity.sim.preset import load_preset  # noqa: E402
from autofinity.sim.replay import simulate  # noqa: E402

MACHINES = ("opteron-6164he", "xeon-e5-2650", "xeon-x7550", "epyc-9654")
COUNTERS = ("cycles", "stall_cycles_memory", "stall_cycles_sync", "coherence_misses")
THREADS = 8


def moved(machine: str, programs: list[core.Program]) -> list[str]:
    """A row: for each counter how far it moves, and the standard error, in per cent."""
    spec = load_preset(machine)
    placed = cpus(*(int(pu.os_index) for pu in spec.topology.pus[:THREADS]))
    counts = np.array(
        [
            [
                [result.total(counter) for counter in COUNTERS]
                for result in (
                    simulate(spec, program, placed, skew_ns=spec.skew_ns / part) for part in (1, 2)
                )
            ]
            for program in programs
        ],
        dtype=float,
    )  # [programs, skews, counters]
    whole, half = counts[:, 0].sum(axis=0), counts[:, 1].sum(axis=0)
    error = (counts[:, 1] - counts[:, 0]).std(axis=0, ddof=1) * len(programs) ** 0.5
    return [
        f"{100 * (b / a - 1):+.2f} ± {100 * e / a:.2f} %"
        for a, b, e in zip(whole, half, error, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--programs", type=int, default=16)
    args = parser.parse_args()
    programs = [core.Program(mixed_program(seed)) for seed in range(args.programs)]
    print("| machine | " + " | ".join(COUNTERS) + " |")
    print("|" + "---|" * (1 + len(COUNTERS)))
    for machine in MACHINES:
        print(f"| {machine} | " + " | ".join(moved(machine, programs)) + " |", flush=True)


if __name__ == "__main__":
    main()
