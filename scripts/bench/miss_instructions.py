"""Replays a window of a trace's region of interest, for callgrind to count: instructions a miss.

    PYTHONPATH=. valgrind --tool=callgrind --instr-atstart=no --collect-atstart=no \\
        --toggle-collect='autofinity::sim::Simulation::advance*' \\
        python scripts/bench/miss_instructions.py TRACE

The accesses before the window fill the caches and are not counted. Prints the accesses and L1
misses of the window; callgrind prints the instructions as `Collected`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autofinity._core import sim as core
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import Hint
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import load_program, pus_of_streams, workers_of


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--machine", default="opteron-6164he")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--warm-ms", type=float, default=4.0, help="simulated time before")
    parser.add_argument("--window-ms", type=float, default=0.4, help="simulated time counted")
    return parser.parse_args()


@contextmanager
def counted() -> Iterator[None]:
    """The part that callgrind counts when started with `--instr-atstart=no`."""
    _switch("on")
    yield
    _switch("off")


def _switch(instrumentation: str) -> None:
    command = ["callgrind_control", "--instr=" + instrumentation, str(os.getpid())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    wanted = arguments()
    machine = load_preset(wanted.machine)
    program = load_program(wanted.trace)
    cpus = get_affinity(machine.topology, wanted.threads, Hint.parse("SLP")).cpus
    workers = workers_of(wanted.trace, wanted.threads)
    pus = pus_of_streams(machine.topology, program.streams, cpus, workers)
    simulation = core.Simulation(machine_model(machine), program, pus)
    simulation.advance(wanted.warm_ms * 1e6)
    before = simulation.totals().sum(axis=0)
    with counted():
        simulation.advance(wanted.window_ms * 1e6)
    counts = dict(zip(core.event_names(), simulation.totals().sum(axis=0) - before, strict=True))
    print(f"{counts['data_cache_accesses']} accesses, {counts['data_cache_misses']} misses")


if __name__ == "__main__":
    main()
