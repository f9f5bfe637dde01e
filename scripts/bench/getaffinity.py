"""Time of GETAFFINITY for one call through Python, over all hints, thread counts and machines.

    python scripts/bench/getaffinity.py [--csv]

Prints the slowest hint of each row: the median of repeated calls, in microseconds.
"""

from __future__ import annotations

import sys
from statistics import median
from time import perf_counter_ns

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import HINTS, Hint
from autofinity.model.topology import PU, OsIndex, Topology
from autofinity.sim.preset import load_preset

# sockets × nodes × LLCs × cores × SMT, and the distances within and between sockets
MACHINES = {
    "epyc 2x4x3x8x2": (2, 4, 3, 8, 2, 12, 32),
    "1024: 8x1x16x8": (8, 1, 16, 8, 1, 20, 20),
    "1024: 8x2x8x8": (8, 2, 8, 8, 1, 12, 32),
    "1024: 4x4x8x8": (4, 4, 8, 8, 1, 12, 32),
    "1024: 2x8x8x8": (2, 8, 8, 8, 1, 12, 32),
    "1024: 16x1x8x8": (16, 1, 8, 8, 1, 20, 20),
    "1024: 8x4x4x8": (8, 4, 4, 8, 1, 12, 32),
    "1024: 128x1x1x8": (128, 1, 1, 8, 1, 20, 20),
    "1024: 128x1x8x1": (128, 1, 8, 1, 1, 20, 20),
    "1024: 64x2x1x8": (64, 2, 1, 8, 1, 12, 32),
    "1024: 64x1x4x4": (64, 1, 4, 4, 1, 20, 20),
    "1024: 32x4x4x2": (32, 4, 4, 2, 1, 12, 32),
    "1024: 1x1x1x1024": (1, 1, 1, 1024, 1, 20, 20),
}


def machine(
    sockets: int, nodes: int, llcs: int, cores: int, smt: int, near: int, far: int
) -> Topology:
    """A machine whose first PUs all have lower numbers than the second ones, as Linux counts on
    x86.
    """
    total = sockets * nodes * llcs * cores
    pus = tuple(
        PU(
            OsIndex(rank * total + core),
            rank,
            core,
            core // cores,
            core // cores // llcs // nodes,
            core // cores // llcs,
        )
        for core in range(total)
        for rank in range(smt)
    )
    n = sockets * nodes
    slit = tuple(
        tuple(10 if a == b else near if a // nodes == b // nodes else far for b in range(n))
        for a in range(n)
    )
    return Topology(
        "bench",
        "synthetic",
        pus,
        tuple(OsIndex(i) for i in range(n)),
        slit,
        frozenset(pu.os_index for pu in pus),
    )


def main() -> None:
    """Print one row for each machine and thread count."""
    separator = "," if "--csv" in sys.argv else "  "
    print(separator.join(("machine".ljust(18), "threads", "slowest", "   us")))
    machines = {name: machine(*shape) for name, shape in MACHINES.items()}
    for name, topology in (
        {"opteron-6164he": load_preset("opteron-6164he").topology} | machines
    ).items():
        cores = topology.n_cores
        for threads in sorted({8, cores // 8, cores // 2 - 12, cores * 3 // 4}):
            slowest = max((_time_us(topology, threads, hint), str(hint)) for hint in HINTS)
            print(
                separator.join(
                    (name.ljust(18), f"{threads:7}", slowest[1].ljust(7), f"{slowest[0]:5.0f}")
                )
            )


def _time_us(topology: Topology, threads: int, hint: Hint) -> float:
    times = []
    for _ in range(15):
        start = perf_counter_ns()
        get_affinity(topology, threads, hint)
        times.append(perf_counter_ns() - start)
    return median(times) / 1000


if __name__ == "__main__":
    main()
