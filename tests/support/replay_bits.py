"""All counts of a replay, as bytes, in a module that other processes can import."""

from __future__ import annotations

from functools import cache

from mixed_program import mixed_program
from sim_programs import cpus

from autofinity._core import sim as core
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import simulate

AFFINITIES = [
    (0, 1, 2, 3, 4, 5, 6, 7),
    (0, 6, 12, 18, 24, 30, 36, 42),
    (0, 1, 2, 3, 12, 13, 14, 15),
    (0, 1, 6, 7, 12, 13, 18, 19),
    (40, 41, 42, 43, 44, 45, 46, 47),
]

type Bits = tuple[int, bytes, bytes]


@cache
def prepared() -> core.Program:
    return core.Program(mixed_program(rounds=300))


def bits(affinity: tuple[int, ...]) -> Bits:
    """All counts of a replay of one program."""
    result = simulate(load_preset("opteron-6164he"), prepared(), cpus(*affinity))
    return result.roi_ns, result.totals.tobytes(), result.samples.tobytes()
