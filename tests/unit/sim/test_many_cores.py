"""More than 64 cores at a time: a line's sharers are several words."""

from __future__ import annotations

import pytest
from sim_programs import BASE, cpus

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import simulate

CORES = 192


def updates(threads: int, idle: int = 0, rounds: int = 12) -> Trace:
    """Threads that load and store lines of all, in turns; `idle` streams before them do nothing."""
    builder = TraceBuilder()
    waiting = [builder.stream() for _ in range(idle)]
    streams = [builder.stream() for _ in range(threads)]
    for stream in waiting:
        builder.compute(stream)
    for number in range(rounds):
        for thread, stream in enumerate(streams):
            for line in (number, number + thread % 3, 40 + thread):
                writes = int(number % 3 == thread % 3)
                builder.access(stream, BASE + line, 2, writes, gap=20)
            builder.barrier(stream, number, threads)
    return builder.build()


def read_by_all(stores: int) -> Trace:
    """Every core of the machine loads a line; then the first one stores to it."""
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(CORES)]
    for stream in streams:
        builder.access(stream, BASE, 1, 0)
        builder.barrier(stream, 1, CORES)
    builder.access(streams[0], BASE, 1, stores)
    return builder.build()


def test_one_store_takes_a_line_from_all_other_cores_of_the_machine() -> None:
    spec = load_preset("epyc-9654")
    loaded, stored = (simulate(spec, read_by_all(n), cpus(*range(CORES))) for n in (0, 1))
    for event in ("invalidations_sent", "invalidations_received"):
        assert stored.total(event) - loaded.total(event) == CORES - 1


@pytest.mark.parametrize("name", ["epyc-9654", "xeon-8480"])
@pytest.mark.parametrize("threads", [2, 7])
def test_threads_count_the_same_beyond_the_first_64_cores_as_within(
    name: str, threads: int
) -> None:
    spec = load_preset(name)
    own = range(0, 2 * threads, 2)
    others = [pu for pu in range(len(spec.topology.pus)) if pu not in own]
    idle = 70
    few = simulate(spec, updates(threads), cpus(*own))
    waiting = [others[i % len(others)] for i in range(idle)]
    many = simulate(spec, updates(threads, idle), cpus(*waiting, *own))
    for event in (
        "cache_to_cache_transfers_supplied",
        "invalidations_received",
        "coherence_misses",
        "llc_hits",
        "llc_misses",
        "upgrades",
    ):
        assert many.total(event) == few.total(event), event


@pytest.mark.parametrize("name", ["epyc-9654", "xeon-8480"])
def test_the_directory_knows_who_holds_a_line_on_more_than_64_cores(name: str) -> None:
    spec = load_preset(name)
    cores = len(spec.topology.pus)
    threads = min(cores, 130)
    run = core.Simulation(
        machine_model(spec), core.Program(updates(threads, rounds=6)), list(range(threads)), seed=3
    )
    ended, moved = False, 0
    while not ended:
        ended = run.advance(2000)
        run.check()
        if not ended and moved < 3:
            run.bind(0, cores - 1 - moved)
            run.move_page(BASE // 64, 1 + moved)
            run.check()
            moved += 1
    assert moved == 3
