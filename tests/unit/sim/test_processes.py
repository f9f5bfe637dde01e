"""Several programs on one machine: address spaces, times, results of each."""

from __future__ import annotations

import pytest
from sim_programs import BASE, counts, region, write_all
from thread_texts import written

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.model.errors import SimulationError
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset

SPEC = load_preset("opteron-6164he")
MACHINE = machine_model(SPEC)
INSTRUCTION_NS = 1 / (SPEC.ghz * SPEC.core.base_ipc)
PAGE = BASE // 64


def computing(instructions: int, before: int = 0) -> Trace:
    """`before` instructions, then a region of `instructions`."""
    builder = TraceBuilder()
    stream = builder.stream()
    builder.compute(stream, gap=before)
    builder.roi_begin(stream)
    builder.compute(stream, gap=instructions)
    builder.roi_end(stream, gap=0)
    return builder.build()


def touching(pages: int) -> Trace:
    builder = TraceBuilder()
    write_all(builder, builder.stream(), region(pages))
    return builder.build()


def together(
    traces: list[Trace],
    *pus: int,
    starts: list[tuple[float, bool]] | None = None,
    restart: bool = False,
) -> core.Simulation:
    program = core.Program(traces)
    return core.Simulation(MACHINE, program, list(pus), starts=starts or [], restart=restart)


def test_programs_side_by_side_have_regions_of_their_own() -> None:
    run = together([computing(1_000_000), computing(3_000_000, before=500_000)], 0, 6)
    run.run()
    (begin_a, end_a, ended_a), (begin_b, end_b, ended_b) = run.process_times_ns
    assert begin_a == 0
    assert begin_b == pytest.approx(500_000 * INSTRUCTION_NS, rel=3e-3)
    assert end_a - begin_a == pytest.approx(1_000_000 * INSTRUCTION_NS, rel=3e-3)
    assert end_b - begin_b == pytest.approx(3_000_000 * INSTRUCTION_NS, rel=3e-3)
    assert ended_a
    assert ended_b
    assert run.elapsed_ns == end_b
    assert counts(run, "instructions") == [1_000_000, 3_000_000]
    assert run.progress == 1.0


def test_a_program_begins_when_it_is_told_to() -> None:
    run = together([computing(1_000), computing(1_000)], 0, 6, starts=[(0, False), (50_000, False)])
    run.run()
    assert run.process_times_ns[1][0] == 50_000


def test_a_program_after_another_begins_when_that_has_ended() -> None:
    run = together([computing(900_000), computing(1_000)], 0, 0, starts=[(0, False), (0, True)])
    run.run()
    (_, end, _), (begin, _, _) = run.process_times_ns
    assert end <= begin < end + 5_000  # a context switch


def test_programs_that_share_a_pu_take_turns() -> None:
    alone = 50_000_000 * INSTRUCTION_NS
    run = together([computing(50_000_000), computing(50_000_000)], 0, 0)
    run.run()
    for _, end, _ in run.process_times_ns:
        assert 1.8 * alone < end < 2.05 * alone
    assert sum(counts(run, "context_switches")) > 10


def test_equal_addresses_of_two_programs_are_different_memory() -> None:
    run = together([touching(4), touching(4)], 0, 6, starts=[(0, False), (0, True)])
    run.run()
    assert counts(run, "page_faults") == [4, 4]
    assert counts(run, "coherence_misses") == [0, 0]
    assert [run.node_of_page(PAGE, process) for process in (0, 1)] == [0, 1]


def test_a_short_program_begins_again_until_the_longest_has_ended() -> None:
    # Each of them has the PU for 3 ms, 7.65 million instructions, at a time.
    short, long = computing(10_000_000), computing(60_000_000)
    once = together([short, long], 0, 0)
    again = together([short, long], 0, 0, restart=True)
    once.run()
    again.run()
    assert counts(again, "instructions") == [10_000_000, 60_000_000]
    assert again.process_times_ns[0] == once.process_times_ns[0]
    assert again.process_times_ns[1][1] > once.process_times_ns[1][1]


@pytest.mark.parametrize("first", [0, 1])
def test_a_program_that_takes_no_time_does_not_begin_again(first: int) -> None:
    traces = [written("").build(), computing(100_000)]
    run = together([traces[first], traces[1 - first]], 0, 6, restart=True)
    run.run()
    assert sorted(counts(run, "instructions")) == [0, 100_000]


def test_a_program_that_waits_for_itself_is_found_while_another_begins_again() -> None:
    waiting = written("lock 1, compute 1000, lock 2", "lock 2, compute 1000, lock 1").build()
    run = together([computing(100_000), waiting], 0, 6, 12, restart=True)
    with pytest.raises(SimulationError, match="deadlocked: stream 1, event 2: lock of 2, held by"):
        run.run()


def test_locks_and_tokens_of_two_programs_do_not_meet() -> None:
    trace = written("compute 90_000, lock 3, post 5, unlock 3", "wait 5, lock 3, unlock 3").build()
    run = together([trace, trace], 0, 6, 12, 18)
    run.run()
    (_, end_a, _), (_, end_b, _) = run.process_times_ns
    assert end_a == pytest.approx(end_b, rel=0.05)  # page faults on different nodes
    assert counts(run, "lock_waits") == [0, 0, 0, 0]
