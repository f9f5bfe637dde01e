"""The simulator behind the Machine port."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sim_programs import BASE, kept, region

from autofinity._core.trace import TraceBuilder
from autofinity.model.detection import FaultSampling, TlbAccessCounters
from autofinity.model.errors import CapabilityError, PlacementError, SimulationError, TraceError
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex
from autofinity.ports import BindThreads, Interval, Machine, MovePages, Process, RunRequest, Sensors
from autofinity.sim.events import EVENTS, PAPER_EVENTS
from autofinity.sim.machine import SimMachine
from autofinity.sim.pu_choice import choose_pus
from autofinity.sim.together import ProgramRun


def masks(*cpus: int) -> Placement:
    return Placement(tuple(frozenset({OsIndex(cpu)}) for cpu in cpus))


@pytest.fixture(scope="module")
def machine() -> SimMachine:
    return SimMachine.preset("opteron-6164he")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A main thread that waits and two workers of about a millisecond."""
    folder = tmp_path_factory.mktemp("trace") / "two-workers"
    folder.mkdir()
    builder = TraceBuilder()
    main, *workers = (builder.stream() for _ in range(3))
    builder.access(main, BASE, 0, 1)
    builder.roi_begin(main)
    for worker in workers:
        builder.post(main, worker)
        builder.wait(worker, worker)
        for _ in range(150):
            for line in region(2, 10 * worker):
                builder.access(worker, line, 2, 1, gap=64, span=8)
        builder.post(worker, 10 + worker)
        builder.wait(main, 10 + worker)
    builder.roi_end(main)
    builder.write(str(folder))
    return str(folder)


def all_intervals(process: Process, step_ns: int) -> list[Interval]:
    found = []
    while not found or not found[-1].ended:
        found.append(process.advance(step_ns))
    return found


def test_it_is_a_machine_with_the_events_of_the_paper(machine: SimMachine) -> None:
    port: Machine = machine
    assert set(PAPER_EVENTS) <= set(port.events())
    assert port.topology.name == "opteron-6164he"


def test_intervals_follow_each_other_to_the_end(machine: SimMachine, program: str) -> None:
    request = RunRequest(program, threads=2)
    process = machine.start(request, masks(0, 6), Sensors(tuple(EVENTS)))
    intervals = all_intervals(process, 100_000)
    assert len(intervals) > 5
    for before, after in itertools.pairwise(intervals):
        assert before.end_ns == after.start_ns
        assert before.progress < after.progress
    assert all(i.end_ns - i.start_ns == 100_000 for i in intervals[:-1])
    assert intervals[-1].progress == 1.0
    assert [e.kind for e in intervals[0].thread_events] == ["begin", "begin"]
    assert [e.kind for e in intervals[-1].thread_events] == ["end", "end"]
    total = sum(s.counts["data_cache_accesses"] for i in intervals for s in i.samples)
    assert total >= 2 * 150 * 128 * 3


def test_reads_by_node_are_all_reads_from_memory_and_of_the_nodes_that_have_the_pages(
    machine: SimMachine, program: str
) -> None:
    counters = ("dram_reads_local", "dram_reads_remote")
    process = machine.start(
        RunRequest(program, threads=2), masks(0, 6), Sensors(counters, reads_by_node=True)
    )
    intervals = all_intervals(process, 100_000)
    for interval in intervals:
        for sample, lines in zip(interval.samples, interval.reads_by_node, strict=True):
            assert len(lines) == machine.topology.n_nodes
            own = machine.topology.by_os_index[interval.cpus[sample.tid]].node
            assert lines[own] == sample.counts["dram_reads_local"]
            assert sum(lines) - lines[own] == sample.counts["dram_reads_remote"]
    by_node = [sum(lines[node] for i in intervals for lines in i.reads_by_node) for node in (0, 1)]
    assert all(count > 0 for count in by_node), "each worker touched pages of its own first"


def test_reads_by_node_are_counted_where_they_are_asked_for(
    machine: SimMachine, program: str
) -> None:
    process = machine.start(RunRequest(program, threads=2), masks(0, 6), Sensors())
    assert process.advance(100_000).reads_by_node == ()


def test_steps_do_not_change_the_run(machine: SimMachine, program: str) -> None:
    request = RunRequest(program, threads=2)
    fine = all_intervals(machine.start(request, masks(0, 6), Sensors()), 10_000)
    coarse = all_intervals(machine.start(request, masks(0, 6), Sensors()), 10**12)
    assert len(coarse) == 1
    assert fine[-1].end_ns == pytest.approx(coarse[-1].end_ns, rel=0.01)


def test_samples_hold_the_counters_asked_for(machine: SimMachine, program: str) -> None:
    process = machine.start(RunRequest(program, threads=2), masks(0, 1), Sensors(PAPER_EVENTS))
    sample = process.advance(50_000).samples[1]
    assert tuple(sample.counts) == PAPER_EVENTS
    assert sample.running_ns == sample.enabled_ns


def test_threads_and_pages_move_in_the_middle_of_a_run(machine: SimMachine, program: str) -> None:
    sensors = Sensors(("migrations", "dram_reads_remote"))
    process = machine.start(RunRequest(program, threads=2), masks(0, 6), sensors)
    process.advance(200_000)
    pages = tuple((BASE + 10 * 64) // 64 + i for i in range(3))
    outcome = process.apply([BindThreads(masks(12, 18)), MovePages(pages, (5, 5, 5))])
    assert outcome.done == 2 + 2  # the third page was never touched
    assert outcome.skipped == 1
    assert outcome.cost_ns > 0
    assert outcome.reasons
    rest = all_intervals(process, 200_000)
    assert [s.counts["migrations"] for s in rest[0].samples] == [1, 1]
    assert rest[0].samples[0].counts["dram_reads_remote"] > 0


def test_overlapping_masks_give_every_thread_a_pu_of_its_own(machine: SimMachine) -> None:
    die = frozenset(OsIndex(cpu) for cpu in range(6))
    one = frozenset({OsIndex(0)})
    assert choose_pus(Placement((die,) * 4), machine.topology) == (0, 1, 2, 3)
    assert choose_pus(Placement((one, die, die)), machine.topology) == (0, 1, 2)
    assert choose_pus(Placement((one, one)), machine.topology) == (0, 0)
    assert choose_pus(Placement((die, die, one)), machine.topology) == (1, 2, 0)
    now = tuple(map(OsIndex, (12, 4, 0, 0)))
    assert choose_pus(Placement((die, die, die, one)), machine.topology, now) == (2, 4, 1, 0)
    now = tuple(map(OsIndex, (12, 0)))
    assert choose_pus(Placement((die, die)), machine.topology, now) == (1, 0)
    with pytest.raises(PlacementError, match="thread 1 may run on"):
        choose_pus(Placement((one, frozenset({OsIndex(99)}))), machine.topology)


def test_what_cannot_be_started_says_why(machine: SimMachine, program: str, tmp_path: Path) -> None:
    request = RunRequest(program, threads=2)
    with pytest.raises(CapabilityError, match="unknown counter flops"):
        machine.start(request, masks(0, 1), Sensors(("flops",)))
    with pytest.raises(CapabilityError, match="FaultSampling and TlbAccessCounters sense sharing"):
        machine.start(
            request, masks(0, 1), Sensors(detectors=(FaultSampling(), TlbAccessCounters()))
        )
    with pytest.raises(PlacementError, match="1 masks for 2 threads"):
        machine.start(request, masks(0), Sensors())
    with pytest.raises(SimulationError, match="holds 3 streams"):
        machine.start(RunRequest(program, threads=4), masks(0, 1, 2, 3), Sensors())
    with pytest.raises(TraceError):
        machine.start(RunRequest(str(tmp_path), threads=1), masks(0), Sensors())
    with pytest.raises(SimulationError, match="duration of 0"):
        machine.start(request, masks(0, 1), Sensors()).advance(0)


def test_many_replays_of_one_trace_at_once_give_the_bits_of_one_alone(
    machine: SimMachine, program: str
) -> None:
    placements = [masks(0, cpu) for cpu in (1, 6, 12, 18)] * 3

    def totals(placement: Placement) -> list[dict[str, int]]:
        process = machine.start(
            RunRequest(program, threads=2), placement, Sensors(tuple(EVENTS)), seed=3
        )
        return [dict(sample.counts) for sample in process.advance(10**12).samples]

    alone = [totals(placement) for placement in placements]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(totals, placements)) == alone


def test_several_programs_are_one_process_with_the_threads_of_all(
    machine: SimMachine, program: str
) -> None:
    runs = [
        ProgramRun(program, (OsIndex(0), OsIndex(6))),
        ProgramRun(program, (OsIndex(12), OsIndex(18)), start_ns=100_000),
    ]
    process = machine.start_several(runs, Sensors(("data_cache_accesses", "migrations")))
    intervals = all_intervals(process, 100_000)
    assert len(intervals[0].samples) == 4
    done = [sum(i.samples[t].counts["data_cache_accesses"] for i in intervals) for t in range(4)]
    assert done[:2] == done[2:]
    assert all(count >= 150 * 128 * 3 for count in done)


def test_a_request_with_programs_beside_it_is_all_of_them(
    machine: SimMachine, program: str
) -> None:
    sensors = Sensors(("data_cache_accesses",))
    request = RunRequest(program, threads=4, beside=(program,))
    runs = [ProgramRun(program, tuple(map(OsIndex, cpus))) for cpus in ((0, 6), (1, 7))]
    several = all_intervals(machine.start_several(runs, sensors), 100_000)
    asked = all_intervals(machine.start(request, masks(0, 6, 1, 7), sensors), 100_000)
    assert asked == several
    unplaced = machine.start(request, None, sensors, seed=1)
    assert len(all_intervals(unplaced, 10**12)[-1].samples) == 4
    for wrong in (replace(request, repeats=2), replace(request, threads=3)):
        with pytest.raises(SimulationError, match="expected as many threads each, and one run"):
            machine.start(wrong, None, sensors)


def test_the_operating_system_places_the_threads_as_the_seed_says(
    machine: SimMachine, program: str
) -> None:
    def end_ns(seed: int) -> int:
        run = ProgramRun(program, tuple(OsIndex(cpu) for cpu in range(48)), workers=(1, 2))
        process = machine.start_several([run], Sensors(), seed, scheduler="os")
        return all_intervals(process, 10**12)[-1].end_ns

    assert end_ns(1) == end_ns(1)


def test_without_a_placement_the_operating_system_moves_the_threads(
    machine: SimMachine, program: str
) -> None:
    request = RunRequest(program, threads=2)
    sensors = Sensors(("instructions",))
    run = ProgramRun(program, tuple(sorted(machine.topology.allowed)), workers=(1, 2))
    several = machine.start_several([run], sensors, seed=3, scheduler="os")
    assert all_intervals(machine.start(request, None, sensors, seed=3), 100_000) == all_intervals(
        several, 100_000
    )


def test_pages_come_in_ascending_order_whatever_was_touched_first(
    machine: SimMachine, tmp_path: Path
) -> None:
    builder = TraceBuilder()
    first, second = builder.stream(), builder.stream()
    builder.roi_begin(first)
    for stream, page in ((first, 9), (second, 3)):
        builder.access(stream, region(1, page)[0], reads=1)
        builder.barrier(stream, 1, 2)
    builder.roi_end(first)
    written = kept(builder, tmp_path / "descending")
    process = machine.start(RunRequest(written, threads=2), masks(0, 1), Sensors())
    process.advance(1_000_000)
    node = machine.topology.by_os_index[OsIndex(0)].node
    (pages,) = process.pages_on(node)
    assert len(pages) == 2
    assert list(pages) == sorted(pages)


@pytest.mark.parametrize("page_bytes", [4096, 16384, 2 << 20])
def test_a_process_says_where_its_pages_are_and_they_can_all_be_moved(
    machine: SimMachine, program: str, page_bytes: int
) -> None:
    other = SimMachine(replace(machine.spec, page_bytes=page_bytes))
    process = other.start(RunRequest(program, threads=2), masks(0, 12), Sensors())
    process.advance(200_000)
    found = process.memory()
    assert found is not None
    assert len(found.bytes_on) == other.topology.n_nodes
    everything: list[int] = []
    for node, size in enumerate(found.bytes_on):
        pages = [page for batch in process.pages_on(node) for page in batch]
        assert len(pages) * page_bytes == size
        everything += pages
    assert len(everything) == len(set(everything)) > 0
    assert found.bytes_on[other.topology.by_os_index[OsIndex(0)].node] > 0
    away = other.topology.n_nodes - 1
    process.apply([MovePages(tuple(everything), (away,) * len(everything))])
    moved = process.memory()
    assert moved is not None
    assert moved.share(away) == 1
    assert moved.total_bytes == found.total_bytes
