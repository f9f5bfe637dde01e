"""Simulations share a machine and a program and nothing else (`make check-native`: no races)."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from autofinity._core import sim as core
from autofinity._core.trace import TraceBuilder
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset

THREADS, ROUNDS = 4, 3
MACHINE = machine_model(load_preset("opteron-6164he"))


def everything() -> core.Program:
    """A short program with everything threads do to each other: sharing, locks, tokens, units."""
    rng = random.Random(5)
    builder = TraceBuilder()
    for _ in range(THREADS):
        builder.stream()
    for round_ in range(ROUNDS):
        for stream in range(THREADS):
            for _ in range(60):
                builder.access(stream, 1 << 20 | rng.randrange(2000), 1, rng.randrange(2), 7, 40)
            builder.lock(stream, 1)
            builder.access(stream, 1 << 19, 1, 1)
            builder.unlock(stream, 1)
            for unit in range(stream, 3 * THREADS, THREADS):
                builder.unit_begin(stream, round_ + 1, unit)
                builder.access(stream, 1 << 18 | unit, 3, 2, 5, 300)
                builder.unit_end(stream, round_ + 1, unit)
            builder.post(stream, round_ * THREADS + stream)
            builder.wait(stream, round_ * THREADS + (stream + 1) % THREADS)
            builder.barrier(stream, 9, THREADS)
    return core.Program(builder.build())


def counts(program: core.Program, first: int) -> np.ndarray:
    pus = [(first + 1) * stream % 48 for stream in range(THREADS)]
    run = core.Simulation(MACHINE, program, pus, sample_period_ns=5000, seed=first)
    while not run.advance(20_000):
        run.bind(first % THREADS, first)
    run.check()
    return run.totals()


def test_simulations_at_the_same_time_count_what_they_count_alone() -> None:
    program = everything()
    alone = [counts(program, first) for first in range(12)]
    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(lambda first: counts(program, first), range(12)))
    assert all(map(np.array_equal, alone, together))
    assert not np.array_equal(alone[0], alone[6])
