"""A sampled trace whose region is repeated, and whose threads and pages move."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from autofinity.affinity.hints import get_affinity
from autofinity.capture import sampling
from autofinity.capture.sampling import WindowPlan
from autofinity.capture.suite_capture import capture_suite
from autofinity.evaluation.lasting import LastingProcess, region_of
from autofinity.evaluation.within_minute import within_minute
from autofinity.mechanisms.recipe import Setting
from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.detection import AccessSampling
from autofinity.model.errors import CapabilityError, PlacementError, SimulationError
from autofinity.model.placement import PagePlacement, Placement
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.ports import BindThreads, Interval, MovePages, RunRequest, Sensors, SpendTime
from autofinity.profiling.placements import bound
from autofinity.resources import shipped
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess
from autofinity.sim.repeated_windows import RepeatedWindows, refill_ns
from autofinity.sim.sampled_process import SampledProcess
from autofinity.trace.manifest import load_suite

THREADS, REPEATS = 4, 40
SEEN = Sensors(("instructions", "cycles", "llc_misses"))
LONG_NS = 10**12
AS_WHOLE = 0.1
"""Relative difference from full replays: in a region of milliseconds few windows show little."""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """`stencil`, sampled in windows close to each other, and whole."""
    suite, folder = load_suite(shipped("training", "suite.toml")), tmp_path_factory.mktemp("traces")
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "WHOLE_SIZES", ())
        patch.setattr(WindowPlan, "of", lambda threads: WindowPlan(1 << 20, 1 << 18))
        for choice in ("auto", "never"):
            (meta,) = capture_suite(
                suite, ("stencil",), THREADS, "small", folder / choice, sample=choice
            )
            found[choice] = str(meta.path)
    return found


@pytest.fixture(scope="module")
def machine() -> SimMachine:
    return SimMachine.preset("opteron-6164he")


def cpus_of(machine: SimMachine, hint: Hint) -> tuple[OsIndex, ...]:
    return get_affinity(machine.topology, THREADS, hint).cpus


def at(machine: SimMachine, hint: Hint) -> Placement:
    return bound(cpus_of(machine, hint))


@pytest.fixture
def request_of(traces: dict[str, str]) -> RunRequest:
    return RunRequest(traces["auto"], threads=THREADS, repeats=REPEATS)


def started(
    machine: SimMachine, request: RunRequest, hint: Hint = SPREAD, sensors: Sensors = SEEN
) -> RepeatedWindows:
    process = machine.start(request, at(machine, hint), sensors, 1)
    assert isinstance(process, RepeatedWindows)
    return process


def looks(process: RepeatedWindows, look_ns: int) -> Iterator[Interval]:
    while True:
        yield (seen := process.advance(look_ns))
        if seen.ended:
            return


def pages_move_home(process: RepeatedWindows, machine: SimMachine, hint: Hint) -> int:
    """Move the pages of each thread of the spread affinity to where it is now; their number."""
    pus = machine.topology.by_os_index
    before, after = cpus_of(machine, SPREAD), cpus_of(machine, hint)
    found = {
        pus[old].node: tuple(page for some in process.pages_on(pus[old].node) for page in some)
        for old in before
    }
    return sum(
        process.apply([MovePages(pages, (pus[new].node,) * len(pages))]).done
        for (_, pages), new in zip(found.items(), after, strict=True)
    )


def test_repeats_take_and_count_what_one_run_does_each(
    machine: SimMachine, request_of: RunRequest
) -> None:
    once = machine.start(replace(request_of, repeats=1), at(machine, SPREAD), SEEN, 1)
    assert isinstance(once, SampledProcess)
    stretches = []
    while not stretches or not stretches[-1].ended:
        stretches.append(once.advance(1))
    whole = started(machine, request_of).advance(LONG_NS)
    assert whole.ended
    assert whole.progress == pytest.approx(1)
    assert whole.end_ns == pytest.approx(REPEATS * stretches[-1].end_ns, rel=1e-3)
    for thread, sample in enumerate(whole.samples):
        for name, count in sample.counts.items():
            each = sum(seen.samples[thread].counts[name] for seen in stretches)
            assert count == pytest.approx(REPEATS * each, rel=1e-3)
    energy = sum(seen.energy_j for seen in stretches)
    assert whole.energy_j == pytest.approx(REPEATS * energy, rel=1e-3)


def test_every_number_of_repeats_comes_to_an_end(
    machine: SimMachine, request_of: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Products and quotients of repeats and times are rounded. Windows are replayed once."""
    replay, found = machine._replayed, []

    def once(*where: Any) -> Any:
        found.extend([] if found else [replay(*where)])
        return found[0]

    monkeypatch.setattr(machine, "_replayed", once)
    one_ns = started(machine, replace(request_of, repeats=2)).advance(LONG_NS).end_ns / 2
    for repeats in range(2, 40):
        seen = started(machine, replace(request_of, repeats=repeats)).advance(LONG_NS)
        assert seen.ended
        assert seen.progress == 1
        assert seen.end_ns == pytest.approx(repeats * one_ns, rel=1e-6)


@pytest.mark.parametrize("look_ns", [99_991, 3_000_017, 70_000_001])
def test_the_length_of_looks_changes_nothing(
    machine: SimMachine, request_of: RunRequest, look_ns: int
) -> None:
    whole = started(machine, request_of).advance(LONG_NS)
    seen = list(looks(started(machine, request_of), look_ns))
    assert [len(each.thread_events) for each in seen[1:-1]] == [0] * (len(seen) - 2)
    assert seen[-1].threads("end") == set(range(THREADS))
    assert seen[-1].end_ns == whole.end_ns
    assert all(one.end_ns == two.start_ns for one, two in itertools.pairwise(seen))
    for name in SEEN.counters:
        parts = sum(sample.counts[name] for each in seen for sample in each.samples)
        together = sum(sample.counts[name] for sample in whole.samples)
        assert parts == pytest.approx(together, rel=1e-3)


def test_where_threads_and_their_pages_came_to_the_region_takes_what_it_takes_there(
    machine: SimMachine, request_of: RunRequest
) -> None:
    there = started(machine, request_of, PACKED).advance(LONG_NS)
    process = started(machine, request_of)
    assert process.apply([BindThreads(at(machine, PACKED))]).done == THREADS
    assert pages_move_home(process, machine, PACKED) > 0
    before, after = cpus_of(machine, SPREAD), cpus_of(machine, PACKED)
    moved = process.advance(LONG_NS)
    assert moved.cpus == after
    refill = refill_ns(machine.spec, before, after)
    assert refill > 0
    assert moved.end_ns == pytest.approx(there.end_ns + refill, rel=0.01)


def test_pages_that_stay_behind_are_read_from_afar_as_in_a_full_replay(
    machine: SimMachine, traces: dict[str, str], request_of: RunRequest
) -> None:
    """Threads that move away from their pages, sampled and whole."""
    took = {}
    for kind, trace in (("auto", traces["auto"]), ("whole", traces["never"])):
        process = machine.start(replace(request_of, program=trace), at(machine, SPREAD), SEEN, 1)
        assert isinstance(process, RepeatedWindows | SimProcess)
        region = 1e6  # of any size: only times count
        lasting = LastingProcess(process, region)
        lasting.advance(1)
        here = lasting.lasting().repeat_s
        process.apply([BindThreads(at(machine, PACKED))])
        again = LastingProcess(process, region)
        took[kind] = again.lasting().repeat_s / here
    assert took["auto"] == pytest.approx(took["whole"], rel=AS_WHOLE)
    local = started(machine, request_of, PACKED).advance(LONG_NS)
    spread = started(machine, request_of).advance(LONG_NS)
    assert took["auto"] > 1.02 * local.end_ns / spread.end_ns


def test_a_run_of_a_minute_is_decided_in_windows_as_in_full_replays(
    machine: SimMachine, traces: dict[str, str], request_of: RunRequest
) -> None:
    setting = Setting(
        machine.topology,
        THREADS,
        machine.clock_hz,
        policy=RulePolicy(("instructions",), {}, (), PACKED),
    )
    found = {}
    for kind in ("auto", "never"):
        request = replace(request_of, program=traces[kind], repeats=1)
        region = region_of(machine.start(request, at(machine, SPREAD), SEEN))
        again = machine.start(replace(request, repeats=REPEATS), at(machine, SPREAD), SEEN, 1)
        assert not isinstance(again, SampledProcess)
        repeats = 60 / LastingProcess(again, region).lasting().repeat_s
        found[kind] = within_minute(machine, request, setting, repeats, region, 1)
    windows, whole = found["auto"], found["never"]
    assert windows.hint == whole.hint == PACKED
    assert windows.decided_s == pytest.approx(whole.decided_s, abs=0.2)
    assert windows.run.time_s == pytest.approx(whole.run.time_s, rel=AS_WHOLE)
    assert windows.run.page_migrations == pytest.approx(whole.run.page_migrations, rel=AS_WHOLE)


def test_who_comes_to_a_cache_fills_it_at_the_pace_of_its_misses(machine: SimMachine) -> None:
    spec = machine.spec
    spread, packed = cpus_of(machine, SPREAD), cpus_of(machine, PACKED)
    core_gbs = 64 * spec.core.misses_in_flight / spec.latency.dram[-1]
    assert refill_ns(spec, packed, packed) == 0
    alone = refill_ns(spec, packed, spread)
    together = (THREADS - 1) * spec.llc.size_bytes / spec.bandwidth.memory_gbs[0]  # one is there
    assert alone == pytest.approx(max(spec.llc.size_bytes / core_gbs, together), rel=0.01)
    assert refill_ns(spec, spread, packed) < alone


def test_a_move_there_and_back_without_running_costs_nothing(
    machine: SimMachine, request_of: RunRequest
) -> None:
    whole = started(machine, request_of).advance(LONG_NS)
    process = started(machine, request_of)
    for hint in (PACKED, SPREAD):
        process.apply([BindThreads(at(machine, hint))])
    assert process.advance(LONG_NS).end_ns == whole.end_ns


def test_time_that_is_spent_stops_the_program_and_is_shown(
    machine: SimMachine, request_of: RunRequest
) -> None:
    whole = started(machine, request_of).advance(LONG_NS)
    process = started(machine, request_of)
    assert process.apply([SpendTime("mapping", 5_000_000)]).done == 1
    late = process.advance(LONG_NS)
    assert late.end_ns == whole.end_ns + 5_000_000 // THREADS
    assert late.overhead_ns == {"mapping": 5_000_000}


@pytest.mark.parametrize("looks_meanwhile", [0, 3])
def test_looks_at_a_program_that_stops_see_no_progress_and_change_nothing(
    machine: SimMachine, request_of: RunRequest, looks_meanwhile: int
) -> None:
    look_ns = 1_000_000
    process = started(machine, request_of)
    before = process.advance(look_ns)
    process.apply([SpendTime("page copy", 4 * THREADS * look_ns), BindThreads(at(machine, PACKED))])
    assert pages_move_home(process, machine, PACKED)
    for _ in range(looks_meanwhile):
        seen = process.advance(look_ns)
        assert seen.progress == before.progress
        assert all(count == 0 for sample in seen.samples for count in sample.counts.values())
    at_once = started(machine, request_of)
    at_once.advance(look_ns)
    at_once.apply([BindThreads(at(machine, PACKED))])
    assert pages_move_home(at_once, machine, PACKED)
    whole = at_once.advance(LONG_NS)
    assert process.advance(LONG_NS).end_ns == whole.end_ns + 4 * look_ns


def test_memory_is_the_pages_by_the_node_of_their_first_touch(
    machine: SimMachine, request_of: RunRequest
) -> None:
    process = started(machine, request_of)
    memory = process.memory()
    listed = [sum(map(len, process.pages_on(n))) for n in range(machine.topology.n_nodes)]
    assert memory.bytes_on == tuple(4096 * pages for pages in listed)
    pus = machine.topology.by_os_index
    nodes = {pus[cpu].node for cpu in cpus_of(machine, SPREAD)}
    assert {node for node, pages in enumerate(listed) if pages} == nodes
    page = next(iter(process.pages_on(min(nodes))))[0]
    there = next(node for node in range(machine.topology.n_nodes) if node not in nodes)
    outcome = process.apply([MovePages((page, page, 1), (there, there, there))])
    assert (outcome.done, outcome.skipped) == (1, 2)
    assert process.memory().bytes_on[there] == 4096


def test_actions_that_no_machine_can_carry_out_are_refused_in_words(
    machine: SimMachine, request_of: RunRequest
) -> None:
    process = started(machine, request_of)
    with pytest.raises(PlacementError, match="got 1 masks for 4 threads"):
        process.apply([BindThreads(bound((0,)))])
    with pytest.raises(SimulationError, match="no node 99"):
        process.apply([MovePages((1,), (99,))])
    with pytest.raises(SimulationError, match="2 pages and 1 nodes"):
        process.apply([MovePages((1, 2), (0,))])
    assert process.apply([MovePages((), ())]).done == 0
    with pytest.raises(SimulationError, match="got thread 4"):
        process.apply([SpendTime("mapping", 1, THREADS)])
    with pytest.raises(SimulationError, match="at least 1"):
        started(machine, replace(request_of, repeats=0))
    with pytest.raises(SimulationError, match="expected more than 0"):
        process.advance(0)
    with pytest.raises(CapabilityError, match="--whole"):
        started(machine, request_of, sensors=Sensors(reads_by_node=True))
    with pytest.raises(CapabilityError, match="--whole"):
        detector = AccessSampling(period=1000, sample_ns=1.0)
        started(machine, request_of, sensors=Sensors(detectors=(detector,)))
    with pytest.raises(CapabilityError, match="first touch where"):
        started(machine, replace(request_of, pages=PagePlacement("interleave")))
