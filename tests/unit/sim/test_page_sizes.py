"""Pages of 16 KiB and 2 MiB are placed, translated and moved as a whole."""

from __future__ import annotations

import pytest
from hand_machine import SAME_PACKAGE, TWO_HOPS, VICTIM, with_pages
from sim_programs import BASE, LINES_PER_PAGE, cpus

from autofinity._core import sim as core
from autofinity._core.trace import TraceBuilder
from autofinity.model.errors import SimulationError
from autofinity.sim.native import machine_model
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec

PAGE = BASE // LINES_PER_PAGE
"""Number of the first 4 KiB page; a multiple of 512."""


def touched(
    spec: MachineSpec, *pages: tuple[int, int], policy: str = "first_touch"
) -> core.Simulation:
    """The run after each (thread, page) has been touched in turn: thread 0 on node 0, 1 on 3."""
    builder = TraceBuilder()
    threads = [builder.stream(), builder.stream()]
    for token, (thread, page) in enumerate(pages):
        if token:
            builder.wait(threads[thread], token)
        builder.access(threads[thread], BASE + page * LINES_PER_PAGE)
        builder.post(threads[thread], token + 1)
    for thread in threads:
        builder.compute(thread, gap=100_000)
    run = core.Simulation(
        machine_model(spec), core.Program(builder.build()), [0, TWO_HOPS], page_policy=policy
    )
    run.advance(50_000)
    run.check()
    return run


@pytest.mark.parametrize(("page_bytes", "pages"), [(16 << 10, 4), (2 << 20, 512)])
def test_a_page_lies_whole_on_the_node_that_touched_it_first(page_bytes: int, pages: int) -> None:
    run = touched(with_pages(page_bytes), (0, 1), (1, pages - 1), (1, pages))
    assert run.node_of_page(PAGE) == 0  # never touched itself
    assert run.node_of_page(PAGE + pages - 1) == 0
    assert run.node_of_page(PAGE + pages) == 3


@pytest.mark.parametrize(("page_bytes", "pages"), [(4096, 1), (16 << 10, 4), (2 << 20, 512)])
def test_whole_pages_are_interleaved(page_bytes: int, pages: int) -> None:
    wanted = [(0, page) for page in range(0, 4 * pages, pages)]
    run = touched(with_pages(page_bytes), *wanted, policy="interleave")
    assert [run.node_of_page(PAGE + page) for _, page in wanted] == [0, 1, 2, 3]


def test_a_page_moves_whole_and_costs_by_its_size() -> None:
    small, large = touched(VICTIM, (0, 0)), touched(with_pages(2 << 20), (0, 0), (0, 511))
    small_ns, large_ns = small.move_page(PAGE, 3), large.move_page(PAGE, 3)
    assert small.node_of_page(PAGE) == large.node_of_page(PAGE + 511) == 3
    assert large.move_page(PAGE + 511, 3) == 0
    # 64 lines a touched group of pages: the first and the last 32 KiB of the 2 MiB.
    assert large_ns > 10 * small_ns
    large.check()


def test_cores_that_had_the_translation_are_interrupted() -> None:
    def elapsed_ns(interrupt_ticks: int, *, move: bool) -> int:
        machine = machine_model(VICTIM)
        machine.interrupt = interrupt_ticks
        builder = TraceBuilder()
        stream = builder.stream()
        builder.access(stream, BASE)
        builder.compute(stream, gap=10_000)
        run = core.Simulation(machine, core.Program(builder.build()), [0])
        run.advance(5_000)
        if move:
            assert run.move_page(PAGE, 1) > 0
        run.run()
        return run.elapsed_ns

    clock = core.TICKS_PER_CLOCK  # a nanosecond
    unmoved = elapsed_ns(3000 * clock, move=False)
    assert elapsed_ns(0, move=True) == unmoved
    assert elapsed_ns(3000 * clock, move=True) == unmoved + 3000


def test_whoever_moves_a_page_pays_for_telling_the_others() -> None:
    machine = machine_model(VICTIM)
    machine.shootdown = 2000 * core.TICKS_PER_CLOCK
    builder = TraceBuilder()
    stream = builder.stream()
    builder.access(stream, BASE)
    builder.compute(stream, gap=10_000)
    program = core.Program(builder.build())
    told, plain = (core.Simulation(m, program, [0]) for m in (machine, machine_model(VICTIM)))
    for run in (told, plain):
        run.advance(5_000)
    assert told.move_page(PAGE, 1) == plain.move_page(PAGE, 1) + 2000


def test_large_pages_end_the_page_walks_of_a_stride() -> None:
    builder = TraceBuilder()
    stream = builder.stream()
    for _ in range(3):
        for page in range(64):
            builder.access(stream, BASE + page * LINES_PER_PAGE, gap=10)
    trace = builder.build()
    assert simulate(VICTIM, trace, cpus(0)).total("page_walks") == 3 * 64
    assert simulate(with_pages(2 << 20), trace, cpus(0)).total("page_walks") == 1


def test_a_page_goes_to_the_nearest_node_that_has_memory() -> None:
    machine = machine_model(VICTIM)
    machine.home_of_node = [2, 1, 2, 3]
    builder = TraceBuilder()
    stream, other = builder.stream(), builder.stream()
    builder.access(stream, BASE)
    builder.access(other, BASE + LINES_PER_PAGE)
    program = core.Program(builder.build())
    run = core.Simulation(machine, program, [0, SAME_PACKAGE])
    run.run()
    assert [run.node_of_page(PAGE), run.node_of_page(PAGE + 1)] == [2, 1]
    with pytest.raises(SimulationError, match="no node 0 with memory"):
        core.Simulation(machine, program, [0, 1], page_policy="bind", node=0)
    with pytest.raises(SimulationError, match="node 0 has no memory"):
        run.move_page(PAGE, 0)


def test_a_page_size_that_there_is_not_is_refused() -> None:
    machine = machine_model(VICTIM)
    machine.page_bytes = 8192
    with pytest.raises(SimulationError, match="4 KiB, 16 KiB or 2 MiB"):
        machine.validate()
