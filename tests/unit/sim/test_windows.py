"""Windows of longer runs: what they begin with, what is measured of them, when they are over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from sim_programs import BASE, cpus, without_prefetch

from autofinity._core import sim as core
from autofinity._core.trace import TraceBuilder
from autofinity.model.errors import SimulationError
from autofinity.sim.native import LARGE_PAGE_BYTES, machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import pus_of_streams
from autofinity.sim.sampled import timed_by
from autofinity.sim.sampled_window import WindowResult, replay_window
from autofinity.sim.spec import MachineSpec

OPTERON = without_prefetch(load_preset("opteron-6164he"))
EPYC = without_prefetch(load_preset("epyc-9654"))
NAMES = core.event_names()
PAGE = BASE // 64
SHARED, EXCLUSIVE, OWNED, MODIFIED = 1, 2, 3, 4
REMOTE = 24
"""A core of another node, on both machines."""

type LineRun = tuple[int, int, bool, int]


def read_lines(builder: TraceBuilder, stream: int, first: int, lines: int, times: int = 1) -> None:
    for _ in range(times):
        for line in range(first, first + lines):
            builder.access(stream, line, gap=10)


def readers(lines: int, times: int, streams: int = 1) -> TraceBuilder:
    """Streams that read the same lines again and again."""
    builder = TraceBuilder()
    for _ in range(streams):
        read_lines(builder, builder.stream(), BASE, lines, times)
    return builder


def window(
    builder: TraceBuilder,
    pages: Sequence[tuple[int, int, int]] = (),
    warm: Sequence[Sequence[LineRun]] = (),
    waits: Sequence[bool] = (),
) -> core.Program:
    trace = builder.build()
    return core.Program.window(
        trace,
        pages,
        warm or [[] for _ in range(trace.streams)],
        waits or [False] * trace.streams,
    )


def measured(
    program: core.Program, *pus: int, spec: MachineSpec = OPTERON, lead: float = 0
) -> WindowResult:
    workers = range(len(pus))
    logical = pus_of_streams(spec.topology, program.streams, cpus(*pus), workers)
    return replay_window(machine_model(spec), program, logical, lead=lead)


def total(result: WindowResult, event: str) -> int:
    return int(result.totals[:, NAMES.index(event)].sum())


def begun(program: core.Program, *pus: int, spec: MachineSpec = OPTERON) -> core.Simulation:
    """A window that has been warmed and nothing else."""
    simulation = core.Simulation(machine_model(spec), program, list(pus))
    simulation.check()
    return simulation


def state(simulation: core.Simulation, cache: str, number: int, line: int = BASE) -> int:
    lines, states = simulation.contents(cache, number)  # type: ignore[arg-type]
    found: dict[int, int] = dict(zip(lines.tolist(), states.tolist(), strict=True))
    return found.get(line, 0)


def test_pages_that_were_touched_before_do_not_fault() -> None:
    builder = readers(128, 1)
    assert total(measured(window(builder), 0), "page_faults") == 2
    assert total(measured(window(builder, [(PAGE, 1, 0)]), 0), "page_faults") == 1
    assert total(measured(window(builder, [(PAGE, 2, 0)]), 0), "page_faults") == 0


def test_a_page_is_where_who_touched_it_first_is() -> None:
    builder = readers(1, 1, streams=2)
    for first, other in ((0, REMOTE), (REMOTE, 0)):
        simulation = begun(window(builder, [(PAGE, 1, 0)]), first, other)
        alone = core.Simulation(machine_model(OPTERON), core.Program(builder.build()), [first] * 2)
        alone.run()
        assert simulation.node_of_page(PAGE) == alone.node_of_page(PAGE)


def test_a_large_page_is_where_who_touched_its_first_part_is() -> None:
    spec = replace(OPTERON, page_bytes=LARGE_PAGE_BYTES)
    builder = readers(1, 1, streams=2)
    touched = [(PAGE + 200, 1, 1), (PAGE, 1, 0)]  # of one page of 2 MiB
    near, far = begun(window(builder, touched), 0, REMOTE, spec=spec).node_of_page(PAGE), 0
    assert near != far
    assert begun(window(builder, touched), 0, REMOTE).node_of_page(PAGE) == far


@pytest.mark.parametrize("spec", [OPTERON, EPYC], ids=lambda spec: spec.topology.name)
def test_lines_that_a_core_had_are_there(spec: MachineSpec) -> None:
    builder = readers(2000, 1)
    program = window(builder, [(PAGE, 32, 0)], [[(BASE, 2000, False, 1)]])
    result = measured(program, 0, spec=spec)
    assert total(result, "dram_reads_local") == total(result, "dtlb_misses") == 0
    assert total(measured(window(builder), 0, spec=spec), "dram_reads_local") >= 2000


@pytest.mark.parametrize("spec", [OPTERON, EPYC], ids=lambda spec: spec.topology.name)
def test_the_tables_of_pages_that_no_tlb_holds_any_more_are_there(spec: MachineSpec) -> None:
    pages = 16_000
    lines = [BASE + 64 * page + page % 64 for page in range(pages)]
    builder = TraceBuilder()
    builder.stream()
    for line in lines[: pages // 2]:
        builder.access(0, line, gap=10)
    before = [(line, 1, False, pages - at) for at, line in enumerate(lines)]
    result = measured(window(builder, [(PAGE, pages, 0)], [before]), 0, spec=spec)
    assert total(result, "page_walks") > pages // 8
    assert total(result, "page_walk_misses") < total(result, "page_walks") // 20


@pytest.mark.parametrize("measured_thread", [0, 1])
def test_a_tlb_has_pages_that_another_thread_touched_later(measured_thread: int) -> None:
    pages = 1500  # a second TLB of this machine holds twice as many
    builder = TraceBuilder()
    for stream in range(2):
        builder.stream()
        for page in range(pages if stream == measured_thread else 1):
            builder.access(stream, BASE + 64 * page, gap=10)
    before = [(BASE + 64 * page, 1, False, pages - page) for page in range(pages)]
    result = measured(window(builder, [(PAGE, pages, 0)], [before, before]), 0, 1, spec=EPYC)
    assert total(result, "page_walks") == 0


@pytest.mark.parametrize("spec", [OPTERON, EPYC], ids=lambda spec: spec.topology.name)
@pytest.mark.parametrize("written", [False, True])
def test_what_warming_takes_is_no_time_of_the_window(spec: MachineSpec, written: bool) -> None:
    builder = readers(100, 1)
    before = [(BASE + 10_000, 5000, written, 1)]
    far = measured(window(builder, [(PAGE, 300, 0)], [before]), 0, spec=spec)
    near = measured(window(builder, [(PAGE, 300, 0)]), 0, spec=spec)
    assert far.time_ns == near.time_ns


def test_lines_that_warming_writes_back_keep_nothing_from_coming_in() -> None:
    lines = 1 << 20  # more than a die's L3 holds
    pages = [(PAGE, 1 + (lines + 10_000) // 64, 0)]
    builder = readers(100, 1)
    before = [(BASE + 10_000, lines, True, 1)]
    far = measured(window(builder, pages, [before]), 0, spec=EPYC)
    near = measured(window(builder, pages), 0, spec=EPYC)
    assert far.time_ns <= 1.1 * near.time_ns


def test_a_line_is_as_its_last_writer_and_readers_leave_it() -> None:
    pages = [(PAGE, 1, 0)]
    builder = readers(1, 1, streams=2)

    def states(first: list[LineRun], second: list[LineRun]) -> tuple[int, int]:
        simulation = begun(window(builder, pages, [first, second]), 0, 1)
        return state(simulation, "l1", 0), state(simulation, "l1", 1)

    wrote, read = [(BASE, 1, True, 5)], [(BASE, 1, False, 7)]
    assert states(wrote, []) == (MODIFIED, 0)
    assert states([], read) == (0, EXCLUSIVE)
    assert states(wrote, read) == (OWNED, SHARED)
    assert states([(BASE, 1, True, 9)], read) == (MODIFIED, 0)
    # Read again after another one had read what it wrote: there twice.
    assert states([(BASE, 1, False, 9), (BASE, 1, True, 5)], read) == (OWNED, SHARED)


@pytest.mark.parametrize("name", ["xeon-e5-2650", "xeon-8480"])
def test_an_llc_still_has_to_write_back_what_another_of_its_threads_has_read(name: str) -> None:
    lines = 100_000  # more than both L2s hold, and less than the LLC
    runs = [[(BASE, lines, True, 5)], [(BASE, lines, False, 7)]]
    pages = [(PAGE, lines // 64 + 1, 0)]
    program = window(readers(1, 1, streams=2), pages, runs)
    simulation = begun(program, 0, 1, spec=without_prefetch(load_preset(name)))
    assert state(simulation, "llc", 0, BASE + 1) == MODIFIED


@pytest.mark.parametrize("spec", [OPTERON, EPYC], ids=lambda spec: spec.topology.name)
def test_a_line_is_taken_by_a_write_that_has_left_all_caches_itself(spec: MachineSpec) -> None:
    lines = 1 << 20  # more than a die's L3 holds
    read = [(BASE, 1, False, 1)]
    wrote = [(BASE + 64, lines, False, 3), (BASE, 1, True, 2)]
    pages = [(PAGE, lines // 64 + 1, 0)]
    program = window(readers(1, 1, streams=2), pages, [read, wrote])
    assert state(begun(program, 0, REMOTE, spec=spec), "l1", 0) == 0


def test_of_more_lines_than_caches_hold_the_newest_are_there() -> None:
    lines = 400_000
    runs = [(BASE + stamp * 1000, 1000, False, stamp) for stamp in reversed(range(400))]
    simulation = begun(window(readers(1, 1), [(PAGE, lines // 64 + 1, 0)], [runs]), 0)
    there, _ = simulation.contents("llc", 0)
    assert len(there) > 50_000
    assert int(there.min()) > BASE + lines // 2


def test_the_lead_is_not_measured() -> None:
    builder = readers(100, 100)
    whole = measured(window(builder), 0)
    rest = measured(window(builder), 0, lead=0.25)
    assert total(whole, "instructions") == 100_000
    assert 70_000 < total(rest, "instructions") <= 75_000
    assert rest.time_ns < 0.76 * whole.time_ns
    assert total(rest, "page_faults") == 0


def test_samples_are_of_what_is_measured() -> None:
    simulation = core.Simulation(
        machine_model(OPTERON), window(readers(100, 100)), [0], sample_period_ns=1000
    )
    simulation.run_window(0.5)
    samples, times_ns, _ = simulation.samples()
    assert times_ns[0, 0] == 0
    assert (samples.sum(axis=0) == simulation.totals()).all()


def two_lengths() -> TraceBuilder:
    builder = TraceBuilder()
    read_lines(builder, builder.stream(), BASE, 100, 10)
    read_lines(builder, builder.stream(), BASE + 640, 100, 40)
    return builder


def test_the_first_stream_that_would_go_on_ends_the_window() -> None:
    result = measured(window(two_lengths()), 0, 1)
    assert result.totals[0, 0] == 10_000
    assert 9_000 < result.totals[1, 0] < 15_000


def test_a_stream_that_waits_does_not_end_the_window() -> None:
    result = measured(window(two_lengths(), waits=[True, False]), 0, 1)
    assert result.totals[:, 0].tolist() == [10_000, 40_000]
    assert result.after_end_ns[0] > 0.5 * result.time_ns
    assert result.after_end_ns[1] == 0
    halted = result.totals[0, NAMES.index("cpu_clocks_halted")] / OPTERON.ghz
    assert halted == pytest.approx(result.after_end_ns[0], rel=0.01)


def test_a_stream_that_did_nearly_nothing_does_not_end_the_window() -> None:
    builder = two_lengths()
    read_lines(builder, builder.stream(), BASE, 100, 9)
    assert measured(window(builder, waits=[True, False, False]), 0, 1, 2).totals[1, 0] == 40_000


def test_a_thread_that_ends_does_not_end_the_window() -> None:
    builder = two_lengths()
    builder.thread_end(0)
    assert measured(window(builder), 0, 1).totals[1, 0] == 40_000


def test_a_window_that_all_wait_at_is_over_with_the_last() -> None:
    result = measured(window(two_lengths(), waits=[True, True]), 0, 1)
    assert result.totals[:, 0].tolist() == [10_000, 40_000]


def test_waiting_at_barriers_is_told() -> None:
    builder = TraceBuilder()
    for stream, gap in enumerate((1_000, 50_000)):
        builder.stream()
        builder.compute(stream, gap=gap)
        builder.barrier(stream, 7, 2)
        builder.compute(stream, gap=50_000)
    result = measured(window(builder), 0, 1)
    assert result.barriers == 1
    assert result.barrier_wait_ns[1] == 0
    assert 0.3 * result.time_ns < result.barrier_wait_ns[0] < 0.6 * result.time_ns


def test_streams_without_events_are_no_hindrance() -> None:
    builder = two_lengths()
    builder.stream()
    assert measured(window(builder, waits=[True, True, False]), 0, 1, 2).totals[1, 0] == 40_000


@pytest.mark.parametrize(
    ("pages", "warm", "waits", "message"),
    [
        ([(PAGE, 1, 3)], [[]], [False], "one of 1 streams"),
        ([(1 << 36, 1, 0)], [[]], [False], "48 bits"),
        ([], [[(1 << 42, 1, False, 1)]], [False], "48 bits"),
        ([], [[], []], [False], "snapshots of 2"),
        ([], [[]], [False, True], "2 ends"),
    ],
)
def test_what_does_not_fit_the_window_is_an_error(
    pages: list[tuple[int, int, int]], warm: list[list[LineRun]], waits: list[bool], message: str
) -> None:
    with pytest.raises(SimulationError, match=message):
        core.Program.window(readers(1, 1).build(), pages, warm, waits)


def test_only_a_window_is_run_as_one() -> None:
    simulation = core.Simulation(machine_model(OPTERON), core.Program(readers(1, 1).build()), [0])
    with pytest.raises(SimulationError, match="only a window"):
        simulation.run_window(0)
    with pytest.raises(SimulationError, match="less than 1"):
        core.Simulation(machine_model(OPTERON), window(readers(9, 9)), [0]).run_window(1)


@pytest.mark.parametrize("waiting_pu", [2, 16], ids=["of the fast kind", "of the slow kind"])
def test_a_thread_is_blocked_until_its_token_comes_whatever_the_clock_of_its_core(
    waiting_pu: int,
) -> None:
    spec = load_preset("i9-13900k")
    builder = TraceBuilder()
    posting, waiting = builder.stream(), builder.stream()
    builder.compute(posting, gap=1_000_000)
    builder.post(posting, 1)
    builder.compute(posting, gap=10_000)
    builder.wait(waiting, 1)
    builder.compute(waiting, gap=10)
    result = measured(window(builder), 0, waiting_pu, spec=spec)
    timed = timed_by(spec, 0, [0, waiting_pu], result)
    assert timed.idle_ns[1] < 0.02 * timed.time_ns
    assert timed.blocked_ns[1] == pytest.approx(timed.time_ns, rel=0.02)
