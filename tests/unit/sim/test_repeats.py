"""The region of interest, several times in a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from mixed_program import mixed_program
from sim_programs import counts, kept, load_all, region, write_all

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.model.errors import SimulationError
from autofinity.model.placement import PagePlacement, Placement
from autofinity.model.topology import OsIndex
from autofinity.ports import BindThreads, RunRequest, Sensors
from autofinity.sim.machine import SimMachine
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset

SPEC = load_preset("opteron-6164he")
MACHINE = machine_model(SPEC)


def computing(instructions: int, before: int) -> Trace:
    builder = TraceBuilder()
    stream = builder.stream()
    if before:
        builder.compute(stream, gap=before)
        builder.roi_begin(stream)
    builder.compute(stream, gap=instructions)
    if before:
        builder.roi_end(stream, gap=0)
    return builder.build()


def reading(pages: int) -> Trace:
    """Written once before the region, read once within it."""
    builder = TraceBuilder()
    stream = builder.stream()
    write_all(builder, stream, region(pages))
    builder.roi_begin(stream)
    load_all(builder, stream, region(pages))
    builder.roi_end(stream)
    return builder.build()


def whole(run: core.Simulation, event: str) -> int:
    run.run()
    return sum(counts(run, event))


@pytest.mark.parametrize("before", [0, 500_000])
def test_only_the_region_is_repeated(before: int) -> None:
    """Without marks the whole program is the region."""
    program = core.Program(computing(1_000_000, before))
    once = core.Simulation(MACHINE, program, [0])
    thrice = core.Simulation(MACHINE, program, [0], repeats=3)
    assert whole(thrice, "instructions") == 3 * whole(once, "instructions") == 3_000_000
    assert thrice.elapsed_ns == pytest.approx(3 * once.elapsed_ns, rel=1e-3)
    assert thrice.progress == 1.0


def test_progress_goes_on_from_one_time_to_the_next() -> None:
    program = core.Program(computing(1_000_000, 1))
    length = core.Simulation(MACHINE, program, [0])
    length.run()
    run = core.Simulation(MACHINE, program, [0], repeats=4)
    assert not run.advance(2.5 * length.elapsed_ns)
    assert 0.45 <= run.progress <= 0.63  # a long gap counts when it is over


def test_locks_barriers_and_waits_are_gone_through_again() -> None:
    program = core.Program(mixed_program(rounds=60))
    pus = [0, 6, 12, 18, 24, 30, 36, 42]
    once = core.Simulation(MACHINE, program, pus)
    four = core.Simulation(MACHINE, program, pus, repeats=4)
    assert whole(four, "lock_acquisitions") == 4 * whole(once, "lock_acquisitions")
    # Work that others have begun when one ends the region is counted as far as it came.
    assert whole(four, "instructions") == pytest.approx(4 * whole(once, "instructions"), rel=1e-3)
    four.check()


def test_caches_stay_as_the_last_time_left_them() -> None:
    builder = TraceBuilder()
    load_all(builder, builder.stream(), region(64))
    program = core.Program(builder.build())
    once = whole(core.Simulation(MACHINE, program, [0]), "llc_misses")
    again = whole(core.Simulation(MACHINE, program, [0], repeats=3), "llc_misses")
    assert once > 1000  # lines read for the first time, those that were prefetched left out
    assert again < 1.1 * once


def test_a_region_cannot_be_repeated_never_or_with_others() -> None:
    with pytest.raises(SimulationError, match="runs 0 times"):
        core.Simulation(MACHINE, core.Program(reading(1)), [0], repeats=0)
    with pytest.raises(SimulationError, match="got 2 programs"):
        core.Simulation(MACHINE, core.Program([reading(1), reading(1)]), [0, 1], repeats=2)


def two_threads() -> Trace:
    builder = TraceBuilder()
    for _ in range(2):
        load_all(builder, builder.stream(), region(64), gap=2000)
    return builder.build()


def test_a_thread_bound_under_the_scheduler_stays_there(tmp_path: Path) -> None:
    machine = SimMachine(SPEC)
    request = RunRequest(kept(two_threads(), tmp_path / "t"), threads=2, repeats=3)
    process = machine.start(request, None, Sensors(("migrations",)), seed=1)
    process.advance(100_000)
    process.apply([BindThreads(Placement((frozenset({OsIndex(7)}), frozenset({OsIndex(7)}))))])
    process.advance(1000)
    moved = 0
    while not (interval := process.advance(1_000_000)).ended:
        moved += sum(sample.counts["migrations"] for sample in interval.samples)
    assert moved == 0


def test_pages_go_where_the_request_says(tmp_path: Path) -> None:
    machine = SimMachine(SPEC)
    folder = kept(reading(4096), tmp_path / "t")
    first = region(1)[0] // 64

    def remote(pages: PagePlacement, placed: bool) -> int:
        placement = Placement((frozenset({OsIndex(0)}),)) if placed else None
        request = RunRequest(folder, threads=1, pages=pages, repeats=2)
        process = machine.start(request, placement, Sensors(("dram_reads_remote",)))
        return process.advance(10**12).samples[0].counts["dram_reads_remote"]

    far = PagePlacement(nodes={first + i: 7 for i in range(4096)})
    near = PagePlacement(nodes={first + i: 0 for i in range(4096)})
    assert remote(far, True) > remote(PagePlacement("interleave"), True) > remote(near, True) == 0
    assert remote(PagePlacement("interleave"), False) > 0
