"""Gains of placements for captured programs, on the machines of the papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from captured_training import CapturedTraining, captured_training
from sim_programs import cpus

from autofinity._core import sim as core
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import pus_of_streams
from autofinity.sim.spec import MachineSpec

SAME_CORE = (0, 16, 1, 17, 2, 18, 3, 19)
"""Neighbours on the two hardware threads of a core: case A of figure 2."""
SAME_LLC = (0, 1, 2, 3, 4, 5, 6, 7)
"""Case B: neighbours in one LLC."""
OTHER_SOCKET = (0, 8, 1, 9, 2, 10, 3, 11)
"""Case C: neighbours on different sockets."""
SAME_CORE_FAR = (0, 1, 2, 3, 16, 17, 18, 19)
"""Case A for the second phase, in which thread i communicates with thread i + 4."""

PERIODS = 4
PAIRS = "4096 1 48"
"""Arguments of `prodcons` in one phase: blocks of six lines, so that communication limits it, as it
limits the paper's benchmark. With blocks of 512 words the threads compute for most of the time."""
PHASES = f"32768 {PERIODS} 48"
"""Arguments for all phases: a phase is long compared with the moves of threads at its beginning."""


def phased_ns(
    captured: CapturedTraining, spec: MachineSpec, mappings: Sequence[Sequence[int]]
) -> int:
    """Time when threads migrate at the beginning of each period to the next of `mappings`."""
    position = {pu.os_index: index for index, pu in enumerate(spec.topology.pus)}
    pus = pus_of_streams(
        spec.topology, captured.program.streams, cpus(*mappings[0]), captured.workers
    )
    run = core.Simulation(machine_model(spec), captured.program, pus)
    period = 0
    while not run.advance(2_000):
        now = min(PERIODS - 1, int(run.progress * PERIODS))
        if now != period:
            period = now
            for worker, cpu in zip(
                captured.workers, cpus(*mappings[now % len(mappings)]), strict=True
            ):
                run.bind(worker, position[cpu])
    return run.elapsed_ns


def os_ns(captured: CapturedTraining, spec: MachineSpec) -> int:
    """Time under the model of an operating system's scheduler, with all PUs allowed: median of
    three.
    """
    everywhere = list(range(len(spec.topology.pus)))
    times = []
    for seed in range(3):
        run = core.Simulation(
            machine_model(spec),
            captured.program,
            [0] * captured.program.streams,
            seed=seed,
            os_pus=[everywhere] * captured.program.streams,
        )
        run.run()
        times.append(run.elapsed_ns)
    return sorted(times)[1]


NEAR = (0, 1, 2, 3, 4, 5, 6, 7)
"""T_L: neighbours, which share most, are in one processor."""
FAR = (0, 4, 2, 6, 5, 1, 7, 3)
"""T_R: neighbours are at opposite ends of the ring."""


SOLVER = ("cg", "12 3")
"""6 MB against 2 MiB of L2, in which a plane of the grid with its rows of the matrix (0.5 MB) stays
until the next: lines that neighbours share are still there at their next use. On larger grids they
are not."""
SOLVER_BEYOND = ("cg", "14 3")

COLOUR_SEEDS = 4
"""Seeds of page colours: an L2 of 16 colours that the data just overflows needs several for an
average."""


@dataclass(frozen=True)
class Gains:
    """Performance against T_R D_R, minus 1."""

    threads_and_data: float
    data: float
    threads: float


def gains(name: str, arguments: str, out: Path) -> Gains:
    spec = load_preset("kmaf16-simulated")
    captured = captured_training(name, arguments, 8, out)
    accesses = captured.accesses_by_page()
    node = {int(pu.os_index): pu.node for pu in spec.topology.pus}

    def time_ns(pus: tuple[int, ...], local: bool) -> int:
        """Time with every page on the node with most accesses to it (D_L), or with fewest (D_R).

        Most pages have several nodes without accesses: these nodes take turns, so that no
        controller serves all pages, and D_R differs from D_L in distance alone.
        """
        table = {}
        for page, counts in accesses.items():
            of_node = np.bincount([node[pu] for pu in pus], weights=counts, minlength=4)
            fewest = np.flatnonzero(of_node == of_node.min())
            table[page] = int(of_node.argmax() if local else fewest[page % len(fewest)])
        return sum(captured.run(spec, pus, table, seed).roi_ns for seed in range(COLOUR_SEEDS))

    worst = time_ns(FAR, local=False)
    return Gains(
        worst / time_ns(NEAR, local=True) - 1,
        worst / time_ns(FAR, local=True) - 1,
        worst / time_ns(NEAR, local=False) - 1,
    )
