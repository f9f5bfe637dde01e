"""Replays a trace once from its private stage, for callgrind to count: instructions a step.

    PYTHONPATH=. valgrind --tool=callgrind --instr-atstart=no --collect-atstart=no \\
        --toggle-collect='autofinity::sim::Simulation::advance*' \\
        python scripts/step_instructions.py TRACE [--machine opteron-6164he] [--hint SLP]

What makes the stage is not counted. Prints its steps; callgrind prints the instructions as
`Collected`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from callgrind_window import counted

from autofinity._core import sim as core
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import Hint
from autofinity.sim.native import native_machine
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import load_program, pus_of_streams, workers_of
from autofinity.sim.stage_fitting import fitting_stage
from autofinity.trace.meta import read_meta


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("trace", type=Path)
    parser.add_argument("--machine", default="opteron-6164he")
    parser.add_argument("--hint", default="SLP")
    return parser.parse_args()


def main() -> None:
    wanted = arguments()
    spec = load_preset(wanted.machine)
    machine, program = native_machine(spec), load_program(wanted.trace)
    threads = read_meta(wanted.trace).threads
    workers = workers_of(wanted.trace, threads)
    stage, worst = fitting_stage(spec, machine, program, workers, 0)
    if stage is None:
        sys.exit(f"{wanted.trace.name} has no private stage on {spec.name}: {worst}")
    cpus = get_affinity(spec.topology, threads, Hint.parse(wanted.hint)).cpus
    pus = pus_of_streams(spec.topology, program.streams, cpus, workers)
    simulation = core.Simulation(machine, stage, pus)
    with counted():
        simulation.run()
    print(f"{stage.steps} steps")


if __name__ == "__main__":
    main()
