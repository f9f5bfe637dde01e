"""Coherence in time order: false sharing is as it is, whatever the skew; placements rank right."""

from __future__ import annotations

import numpy as np
import pytest
from sim_programs import (
    BASE,
    cpus,
    false_sharing,
    load_all,
    ping_pong,
    region,
    run,
    streaming,
    write_all,
)

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.events import EVENTS
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec

EXACT_NS = 0.5  # less than one clock: the order of simulated time
PACKED = (0, 1, 2, 3, 4, 5, 6, 7)
DISTRIBUTED = (0, 6, 12, 18, 24, 30, 36, 42)


def transfers(spec: MachineSpec, trace: Trace, skew_ns: float | None) -> int:
    result = run(spec, trace, *range(4), skew_ns=skew_ns)
    return result.total("cache_to_cache_transfers_same_llc")


@pytest.mark.parametrize("compacted", [1, 50])
def test_false_sharing_has_the_transfers_of_the_exact_order(
    opteron: MachineSpec, compacted: int
) -> None:
    trace = false_sharing(threads=4, rounds=2000, compacted=compacted)
    exact = transfers(opteron, trace, EXACT_NS)
    assert exact == pytest.approx(4 * 2000, rel=0.05)  # every pair moves the line
    assert transfers(opteron, trace, None) == pytest.approx(exact, rel=0.02)


def test_an_invalid_skew_would_lose_the_transfers(opteron: MachineSpec) -> None:
    # The trap that the test above guards against is real in this model too.
    trace = false_sharing(threads=4, rounds=2000, compacted=1)
    assert transfers(opteron, trace, 20_000.0) < 1000


def mixed_program(seed: int = 7, rounds: int = 1000) -> Trace:
    """Shared updates, private streams, a table all read, locks and barriers."""
    rng = np.random.default_rng(seed)
    builder = TraceBuilder()
    threads = 8
    streams = [builder.stream() for _ in range(threads)]
    table, shared, private = region(64), region(8, 100), 200
    write_all(builder, streams[0], [*table, *shared])
    for stream in streams:
        builder.barrier(stream, 9, threads)
        load_all(builder, stream, [*table, *shared, *region(40, private + 100 * stream)])
        builder.barrier(stream, 1, threads)
    builder.roi_begin(streams[0])
    for stream in streams:
        own = region(40, private + 100 * stream)
        for phase in range(3):
            for i in range(rounds):
                kind = rng.integers(10)
                if kind < 5:
                    builder.access(stream, own[i % len(own)], 4, 2, gap=20, span=16)
                elif kind < 8:
                    builder.access(stream, table[rng.integers(len(table))], 2, 0, gap=12, span=8)
                else:
                    line = shared[rng.integers(len(shared))]
                    builder.access(stream, line, 2, 1, gap=15, span=10)
            builder.lock(stream, BASE + phase)
            builder.access(stream, shared[0], 1, 1, gap=10)
            builder.unlock(stream, BASE + phase)
            builder.barrier(stream, 2 + phase, threads)
    builder.roi_end(streams[0])
    return builder.build()


@pytest.mark.parametrize("placed", [PACKED, DISTRIBUTED])
def test_halving_the_skew_moves_no_counter_by_two_percent(
    opteron: MachineSpec, placed: tuple[int, ...]
) -> None:
    # Several programs: one alone is chaotic, a few clocks change who waits for whom at a barrier.
    programs = [core.Program(mixed_program(seed)) for seed in range(4)]

    def totals(skew_ns: float) -> dict[str, int]:
        runs = [simulate(opteron, p, cpus(*placed), skew_ns=skew_ns) for p in programs]
        return {event: sum(r.total(event) for r in runs) for event in EVENTS}

    whole, half = totals(opteron.skew_ns), totals(opteron.skew_ns / 2)
    thread_clocks = whole["cycles"] + whole["cpu_clocks_halted"]
    compared = 0
    for event in EVENTS:
        a, b = whole[event], half[event]
        # Clocks are shares of the run's time; single events scatter like a Poisson count.
        clocks = event.endswith(("_clocks", "cycles", "_halted", "_memory", "_sync"))
        compared += max(a, b) > 400
        noise = 3 * max(a, b) ** 0.5
        assert abs(a - b) <= 0.02 * (thread_clocks if clocks else max(a, b)) + noise, event
    assert compared > 20


def test_the_same_run_gives_the_same_bits(opteron: MachineSpec) -> None:
    trace = mixed_program()
    first, second = run(opteron, trace, *DISTRIBUTED), run(opteron, trace, *DISTRIBUTED)
    assert first.roi_ns == second.roi_ns
    assert np.array_equal(first.samples, second.samples)


def test_page_colours_of_another_seed_change_little(opteron: MachineSpec) -> None:
    trace = streaming(4, pages_each=128, repeats=4)
    runs = [simulate(opteron, trace, cpus(0, 1, 2, 3), seed=seed) for seed in range(3)]
    assert len({r.total("l2_evictions") for r in runs}) == 3
    assert max(r.roi_ns for r in runs) < 1.1 * min(r.roi_ns for r in runs)


def test_private_streams_that_overflow_one_cache_run_better_distributed(
    opteron: MachineSpec,
) -> None:
    trace = streaming(8, pages_each=1024, repeats=3)  # 4 MiB each
    assert run(opteron, trace, *DISTRIBUTED).roi_ns < 0.7 * run(opteron, trace, *PACKED).roi_ns


def test_threads_that_share_lines_run_better_packed(opteron: MachineSpec) -> None:
    trace = ping_pong(8, rounds=2000)
    # The stores dominate: S13 has 246 clocks on the same die and 296 over two hops.
    assert run(opteron, trace, *PACKED).roi_ns < 0.9 * run(opteron, trace, *DISTRIBUTED).roi_ns


def test_read_only_sharing_costs_no_transfer_once_warm(opteron: MachineSpec) -> None:
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(4)]
    lines = region(4)
    for stream in streams:
        load_all(builder, stream, lines)
        builder.barrier(stream, 1, 4)
    builder.roi_begin(streams[0])
    for stream in streams:
        builder.barrier(stream, 3, 4)
        load_all(builder, stream, lines)
        builder.barrier(stream, 2, 4)
    builder.roi_end(streams[0])
    result = run(opteron, builder.build(), 0, 6, 12, 18)
    assert result.total("data_cache_misses") <= 16  # barriers only
    assert result.total("data_cache_accesses") >= 4 * len(lines)
