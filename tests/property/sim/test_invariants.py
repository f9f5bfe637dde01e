"""Random small programs on random small machines: coherence, inclusion, LRU bookkeeping hold."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from random_simulations import check_sums, machines, programs
from sim_programs import ATOMIC, BASE, DEPENDENT, FIRST_WRITE

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.native import machine_model
from autofinity.sim.spec import MachineSpec


@settings(max_examples=120)
@given(
    trace=programs(),
    spec=machines(),
    spread=st.integers(1, 7),
    seed=st.integers(0, 2**32),
    moved=st.integers(0, 3),
)
def test_invariants_hold_at_every_stop(
    trace: Trace, spec: MachineSpec, spread: int, seed: int, moved: int
) -> None:
    program = core.Program(trace)
    pus = [(thread * spread) % len(spec.topology.pus) for thread in range(program.streams)]
    run = core.Simulation(machine_model(spec), program, pus, seed=seed)
    ended = False
    while not ended:
        ended = run.advance(400)
        run.check()
        if moved:
            run.move_page(BASE // 64 + moved, moved % spec.topology.n_nodes)
            if not ended:
                run.bind(0, (pus[0] + moved) % len(spec.topology.pus))
            run.check()
            moved = 0
    check_sums(run, spec)


def long_program(seed: int, threads: int, lines: int) -> Trace:
    """Hundreds of accesses a thread, half of them to the same few lines."""
    rng = random.Random(seed)
    builder = TraceBuilder()
    for _ in range(threads):
        stream = builder.stream()
        for _ in range(400):
            page, offset = divmod(rng.randrange(6 if rng.random() < 0.5 else lines), 20)
            reads, writes = rng.choice([(1, 0), (3, 0), (1, 1), (0, 1), (2, 2)])
            flags = rng.choice([0, 0, FIRST_WRITE, DEPENDENT, ATOMIC])
            line, gap = BASE + page * 64 + offset, rng.randrange(40)
            builder.access(stream, line, reads, writes, gap, rng.randrange(30), flags)
        builder.barrier(stream, 1, threads)
    return builder.build()


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    threads=st.integers(2, 20),
    lines=st.sampled_from([10, 60, 300]),
    spec=machines(),
    spread=st.integers(1, 7),
)
def test_invariants_hold_under_long_contention(
    seed: int, threads: int, lines: int, spec: MachineSpec, spread: int
) -> None:
    program = core.Program(long_program(seed, threads, lines))
    pus = [(thread * spread) % len(spec.topology.pus) for thread in range(threads)]
    run = core.Simulation(machine_model(spec), program, pus, seed=seed)
    while not run.advance(2_000):
        run.check()
    run.check()
    check_sums(run, spec)
