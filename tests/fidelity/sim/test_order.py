"""Everything happens in the order of simulated time; placements rank right."""

from __future__ import annotations

from functools import cache

import pytest
from mixed_program import mixed_program
from sim_programs import (
    cpus,
    false_sharing,
    load_all,
    ping_pong,
    region,
    run,
    streaming,
)

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.events import EVENTS
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec

CLOCK_NS = 0.5
BYTES_A_MESSAGE = {"link_bytes": 72, "link_request_bytes": 8}
PACKED = (0, 1, 2, 3, 4, 5, 6, 7)
SPREAD = (0, 6, 12, 18, 24, 30, 36, 42)


def transfers(spec: MachineSpec, trace: Trace, skew_ns: float = 0.0) -> int:
    result = run(spec, trace, *range(4), skew_ns=skew_ns)
    return result.total("cache_to_cache_transfers_same_llc")


@pytest.mark.parametrize("compacted", [1, 50])
def test_false_sharing_moves_the_line_at_every_pair(opteron: MachineSpec, compacted: int) -> None:
    trace = false_sharing(threads=4, rounds=2000, compacted=compacted)
    assert transfers(opteron, trace) == pytest.approx(4 * 2000, rel=0.05)


def test_cores_that_run_ahead_would_lose_the_transfers(opteron: MachineSpec) -> None:
    # The trap that the test above guards against is real in this model too.
    trace = false_sharing(threads=4, rounds=2000, compacted=1)
    assert transfers(opteron, trace, skew_ns=20_000.0) < 1000


def eight_pus(spec: MachineSpec, spread: bool) -> list[int]:
    """The first eight PUs, or eight over the whole machine."""
    numbers = [int(pu.os_index) for pu in spec.topology.pus]
    return numbers[:: len(numbers) // 8][:8] if spread else numbers[:8]


@cache
def programs(kind: str) -> list[core.Program]:
    """Several of a kind: one alone is chaotic, a few clocks change who waits for whom."""
    if kind == "everything at once":
        traces = [mixed_program(seed) for seed in range(48)]
    else:
        traces = [streaming(8, pages_each=pages, repeats=2) for pages in (8, 60, 150)]
    return [core.Program(trace) for trace in traces]


@pytest.mark.parametrize("kind", ["everything at once", "private streams"])
@pytest.mark.parametrize("spread", [False, True], ids=["packed", "spread"])
@pytest.mark.parametrize(
    "name", ["opteron-6164he", "opteron-6386", "xeon-e5-2650", "epyc-9654", "kmaf16-simulated"]
)
def test_nothing_hinges_on_the_order_within_a_clock(name: str, spread: bool, kind: str) -> None:
    """No counter moves by 2 % when cores may run ahead of each other by so much.

    Unless threads in lockstep take a few lines from each other: who comes first is all there is.
    """
    spec = load_preset(name)
    placed, prepared = cpus(*eight_pus(spec, spread)), programs(kind)

    def totals(skew_ns: float) -> dict[str, int]:
        runs = [simulate(spec, p, placed, skew_ns=skew_ns) for p in prepared]
        return {event: sum(r.total(event) for r in runs) for event in EVENTS}

    exact, ahead = totals(0.0), totals(CLOCK_NS)
    thread_clocks = exact["cycles"] + exact["cpu_clocks_halted"]
    compared = 0
    for event in EVENTS:
        most, moved = max(exact[event], ahead[event]), abs(exact[event] - ahead[event])
        # Clocks are shares of the run's time; single events vary like a Poisson count, and bytes
        # on links come in messages.
        clocks = event.endswith(("_clocks", "cycles", "_halted", "_memory", "_sync"))
        compared += most > 400
        noise = 3 * (most * BYTES_A_MESSAGE.get(event, 1)) ** 0.5
        assert moved <= 0.02 * max(most, thread_clocks * clocks) + noise, event
    assert compared > 20


def test_page_colours_of_another_seed_change_little(opteron: MachineSpec) -> None:
    trace = streaming(4, pages_each=128, repeats=4)
    runs = [simulate(opteron, trace, cpus(0, 1, 2, 3), seed=seed) for seed in range(3)]
    assert len({r.total("l2_evictions") for r in runs}) == 3
    assert max(r.roi_ns for r in runs) < 1.1 * min(r.roi_ns for r in runs)


def test_private_streams_that_overflow_one_cache_run_better_spread(
    opteron: MachineSpec,
) -> None:
    trace = streaming(8, pages_each=1024, repeats=3)  # 4 MiB each
    assert run(opteron, trace, *SPREAD).roi_ns < 0.7 * run(opteron, trace, *PACKED).roi_ns


def test_threads_that_share_lines_run_better_packed(opteron: MachineSpec) -> None:
    trace = ping_pong(8, rounds=2000)
    # The stores dominate: S13 has 246 clocks on the same die and 296 over two hops.
    assert run(opteron, trace, *PACKED).roi_ns < 0.9 * run(opteron, trace, *SPREAD).roi_ns


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
