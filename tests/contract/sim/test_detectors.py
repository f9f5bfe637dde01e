"""Detectors attached to programs on the simulated machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from captured_training import captured_training
from sim_programs import BASE, LINES_PER_PAGE, kept, round_pages

from autofinity.detect.whole_trace import whole_trace
from autofinity.model.detection import (
    AccessSampling,
    Detector,
    FaultSampling,
    HintingFaults,
    RemoteAccesses,
    TlbAccessCounters,
    TlbMatching,
)
from autofinity.model.errors import CapabilityError
from autofinity.model.placement import Placement
from autofinity.model.sharing import NumaVectors
from autofinity.model.topology import OsIndex
from autofinity.ports import (
    BindThreads,
    Interval,
    MovePages,
    Process,
    RunRequest,
    Sensors,
    SpendTime,
)
from autofinity.sim.machine import SimMachine
from autofinity.sim.replay import load_program, workers_of

MACHINE = "xeon-x7550"  # of SAMMU, kMAF'14 and kMAF'16: 4 nodes of 8 cores, 2 hardware threads each
THREADS = 8
PAGES = 700  # more than its second TLB of 512 entries holds
FIRST_PAGE = BASE // LINES_PER_PAGE

FAULTS = FaultSampling(share_per_s=5000, round_ns=10_000)
SUB_BLOCKS = FaultSampling(5000, 10_000, table="sub-blocks", block_bytes=1024)
SAMMU = TlbAccessCounters(access_counter_bits=8)
LAPT = TlbAccessCounters(held_in="page table")


@pytest.fixture(scope="module")
def machine() -> SimMachine:
    return SimMachine.preset(MACHINE)


def spread(machine: SimMachine, threads: int) -> Placement:
    """Thread i on node i % 4, each on a core of its own."""
    nodes: dict[int, list[OsIndex]] = {}
    taken = set()
    for pu in machine.topology.pus:
        if pu.core not in taken:
            taken.add(pu.core)
            nodes.setdefault(pu.node, []).append(pu.os_index)
    return Placement(tuple(frozenset({nodes[i % 4][i // 4]}) for i in range(threads)))


@dataclass(frozen=True)
class Seen:
    """A whole run, its intervals put together."""

    roi_ns: int
    sharing: npt.NDArray[np.float64] | None
    pages: Mapping[int, tuple[int, ...]]
    nodes: Mapping[int, int]
    triggers: int
    overhead_ns: Mapping[str, int]
    cycles: int

    @property
    def cost_ns(self) -> int:
        return sum(self.overhead_ns.values())


def run_to_end(process: Process, step_ns: int = 10**12) -> list[Interval]:
    found = [process.advance(step_ns)]
    while not found[-1].ended:
        found.append(process.advance(step_ns))
    return found


def together(intervals: Sequence[Interval]) -> Seen:
    matrices = [np.array(each.sharing.cells) for each in intervals if each.sharing is not None]
    pages: dict[int, tuple[int, ...]] = {}
    nodes: dict[int, int] = {}
    overhead: dict[str, int] = {}
    for each in intervals:
        vectors = each.pages or NumaVectors({})
        pages |= vectors.pages
        nodes |= vectors.nodes
        for kind, time_ns in each.overhead_ns.items():
            overhead[kind] = overhead.get(kind, 0) + time_ns
    return Seen(
        intervals[-1].end_ns,
        sum(matrices) if matrices else None,
        pages,
        nodes,
        sum(each.triggers for each in intervals),
        overhead,
        sum(s.counts.get("cycles", 0) for each in intervals for s in each.samples),
    )


def watched(
    machine: SimMachine, trace: Path, *detectors: Detector, threads: int = THREADS, repeats: int = 1
) -> Seen:
    request = RunRequest(str(trace), threads=threads, repeats=repeats)
    sensors = Sensors(("cycles",), detectors)
    return together(run_to_end(machine.start(request, spread(machine, threads), sensors)))


# Patterns of captured programs.


@dataclass(frozen=True)
class Captured:
    trace: Path
    whole: npt.NDArray[np.float64]


def captured(name: str, arguments: str, out: Path) -> Captured:
    captured_training(name, arguments, THREADS, out)
    (index,) = out.rglob("index.aft")
    trace = index.parent
    sharing, _ = whole_trace(load_program(trace), workers_of(trace, THREADS))
    return Captured(trace, np.array(sharing.cells))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    """Producers and consumers: one period, thread 2i with 2i + 1."""
    return captured("prodcons", "64 1 8192", tmp_path_factory.mktemp("pairs"))


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    """A grid in strips, each of which needs its neighbours' edges."""
    return captured("stencil", "48 4", tmp_path_factory.mktemp("neighbours"))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    """One small grid that all threads add to."""
    return captured("pic", "24 4000 5", tmp_path_factory.mktemp("table"))


def correlation(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """Correlation of the cells beside the diagonal."""
    beside = ~np.eye(len(a), dtype=bool)
    return float(np.corrcoef(a[beside], b[beside])[0, 1])


SENSING_SHARING = [
    pytest.param(FAULTS, id="faults"),
    pytest.param(SUB_BLOCKS, id="sub-blocks"),
    pytest.param(SAMMU, id="sammu"),
    pytest.param(LAPT, id="lapt"),
    pytest.param(TlbMatching(misses=10), id="tlb-local-misses"),
    pytest.param(TlbMatching(trigger="global misses", misses=40), id="tlb-global-misses"),
    pytest.param(TlbMatching(trigger="time", period_ns=20_000), id="tlb-time"),
    pytest.param(TlbMatching(trigger="shared pages"), id="tlb-shared-pages"),
    pytest.param(RemoteAccesses(period=5), id="remote"),
]


# The TLB of thread 0, the main thread, still has the pages that it filled before the region.
MAIN = 1


@pytest.mark.parametrize("detector", SENSING_SHARING)
def test_pairs_are_recovered_as_the_whole_trace_has_them(
    machine: SimMachine, pairs: Captured, detector: Detector
) -> None:
    seen = watched(machine, pairs.trace, detector, repeats=4)
    assert seen.sharing is not None
    others = seen.sharing[MAIN + 1 :, MAIN:]
    assert [int(row.argmax()) + MAIN for row in others] == [3, 2, 5, 4, 7, 6]
    assert correlation(seen.sharing[MAIN:, MAIN:], pairs.whole[MAIN:, MAIN:]) > 0.6


def unevenness(seen: Seen) -> float:
    """Standard deviation over mean of the pairs without the main thread."""
    assert seen.sharing is not None
    others = seen.sharing[MAIN:, MAIN:]
    beside = others[~np.eye(len(others), dtype=bool)]
    return float(beside.std() / beside.mean())


# Prefetchers bring the neighbours' edges, so that hardly an access finds them remote; and counted
# by accesses the few pages that all threads use outweigh the edges.
@pytest.mark.parametrize(
    "detector", [one for one in SENSING_SHARING if one.id not in {"lapt", "remote"}]
)
def test_neighbours_are_recovered_and_told_from_a_shared_table(
    machine: SimMachine, neighbours: Captured, table: Captured, detector: Detector
) -> None:
    seen = watched(machine, neighbours.trace, detector, repeats=5)
    assert seen.sharing is not None
    assert correlation(seen.sharing[MAIN:, MAIN:], neighbours.whole[MAIN:, MAIN:]) > 0.5
    assert unevenness(watched(machine, table.trace, detector, repeats=5)) < unevenness(seen)


# Cost of a detector, on a single thread whose accesses wait for each other.


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One thread that goes round more pages than its TLBs hold."""
    return kept(round_pages(PAGES, turns=20), tmp_path_factory.mktemp("trace") / "alone")


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same, hardly begun."""
    return kept(round_pages(PAGES, turns=1), tmp_path_factory.mktemp("trace") / "short")


COSTLY = [
    pytest.param(FaultSampling(share_per_s=100, round_ns=20_000), {"fault", "update"}, id="faults"),
    pytest.param(
        HintingFaults(scan_period_ns=200_000, scan_bytes=20 * 4096), {"fault"}, id="hinting"
    ),
    pytest.param(TlbAccessCounters(), {"update"}, id="sammu"),
    pytest.param(TlbAccessCounters(held_in="page table"), {"update"}, id="lapt"),
    pytest.param(TlbMatching(misses=500), {"tlb read"}, id="tlb-local-misses"),
    pytest.param(
        TlbMatching(trigger="global misses", misses=500), {"tlb read"}, id="tlb-global-misses"
    ),
    pytest.param(TlbMatching(trigger="time", period_ns=50_000), {"tlb read"}, id="tlb-time"),
    pytest.param(AccessSampling(period=100), {"sample"}, id="accesses"),
    pytest.param(
        AccessSampling("long-latency loads", period=30, least_latency_ns=60), {"sample"}, id="loads"
    ),
]


@pytest.mark.parametrize(("detector", "kinds"), COSTLY)
def test_what_a_detector_is_said_to_cost_is_what_the_clock_has_lost(
    machine: SimMachine, alone: Path, detector: Detector, kinds: set[str]
) -> None:
    free = watched(machine, alone, threads=1)
    seen = watched(machine, alone, detector, threads=1)
    assert kinds <= set(seen.overhead_ns)
    assert free.cost_ns == 0
    lost_ns = seen.roi_ns - free.roi_ns
    # Translations that were shot down are walked for again, and faults keep misses apart.
    assert 0.99 * seen.cost_ns - 100 <= lost_ns <= 1.15 * seen.cost_ns + 100
    assert lost_ns > 0.002 * free.roi_ns


@pytest.mark.parametrize(
    "detector",
    [
        TlbMatching(trigger="time", period_ns=10, entry_cycles=1000),
        FaultSampling(share_per_s=1e9, round_ns=10),
        HintingFaults(scan_period_ns=10),
    ],
)
def test_a_detector_that_wants_all_of_the_time_leaves_the_program_some(
    machine: SimMachine, short: Path, detector: Detector
) -> None:
    free = watched(machine, short, threads=1)
    assert watched(machine, short, detector, threads=1).roi_ns > 2 * free.roi_ns


@pytest.mark.parametrize(
    "detector",
    [
        FaultSampling(share_per_s=0, update_ns=0),
        TlbMatching(misses=10, entry_cycles=0, compare_cycles=0),
        RemoteAccesses(sample_ns=0),
        AccessSampling(sample_ns=0),
    ],
)
def test_a_detector_that_costs_nothing_changes_nothing(
    machine: SimMachine, pairs: Captured, detector: Detector
) -> None:
    free, seen = watched(machine, pairs.trace), watched(machine, pairs.trace, detector)
    assert (seen.roi_ns, seen.cycles) == (free.roi_ns, free.cycles)
    assert seen.overhead_ns == {}


def test_tlb_section_4_4_a_scaled_trigger_takes_so_much_fewer_misses(
    machine: SimMachine, pairs: Captured
) -> None:
    """TLB paper, section 4.4; and never fewer than threads."""
    entries = machine.spec.tlb.l2_entries
    for scale, misses in ((0.5, THREADS * entries // 2), (1e-6, THREADS)):
        scaled = watched(machine, pairs.trace, TlbMatching(misses_scale=scale), repeats=8)
        said = watched(machine, pairs.trace, TlbMatching(misses=misses), repeats=8)
        assert scaled.triggers == said.triggers
        assert np.array_equal(scaled.sharing, said.sharing)
    whole = watched(machine, pairs.trace, TlbMatching(), repeats=8)
    assert scaled.triggers > 2 * whole.triggers


def test_readings_of_the_tlb_take_no_more_of_the_time_than_they_may(
    machine: SimMachine, alone: Path
) -> None:
    """But for the first one, after which the core rests."""
    free = watched(machine, alone, TlbMatching(misses=10), threads=1)
    bound = watched(machine, alone, TlbMatching(misses=10, most_share=0.02), threads=1)
    assert free.cost_ns > 0.2 * free.roi_ns
    one_reading_ns = bound.cost_ns / bound.triggers
    assert 0.01 * bound.roi_ns < bound.cost_ns <= 0.02 * bound.roi_ns + 2 * one_reading_ns
    assert bound.triggers > 10


# Pages.


@pytest.mark.parametrize(
    "detector",
    [
        FaultSampling(share_per_s=500, round_ns=20_000, table="none"),
        HintingFaults(scan_period_ns=100_000, scan_bytes=100 * 4096),
        TlbAccessCounters(held_in="page table"),
        AccessSampling(period=53),
        AccessSampling("long-latency loads", period=5, least_latency_ns=60),
    ],
)
def test_pages_are_seen_by_their_numbers_with_their_nodes(
    machine: SimMachine, alone: Path, detector: Detector
) -> None:
    seen = watched(machine, alone, detector, threads=1)
    assert seen.sharing is None or not seen.sharing.any()
    assert set(seen.pages) <= set(range(FIRST_PAGE, FIRST_PAGE + PAGES))
    assert len(seen.pages) > PAGES / 10
    # The only thread runs on node 0, where it touched every page first.
    assert all(vector[0] > 0 and not any(vector[1:]) for vector in seen.pages.values())
    assert set(seen.nodes) == set(seen.pages)
    assert set(seen.nodes.values()) == {0}


def test_sammu_section_3_3_a_page_is_told_of_after_five_updates_from_another_node(
    machine: SimMachine, alone: Path
) -> None:
    sensors = Sensors(detectors=(TlbAccessCounters(),))
    process = machine.start(RunRequest(str(alone), threads=1), spread(machine, 1), sensors)
    first = process.advance(400_000)
    assert first.pages is not None
    assert not first.pages.pages
    node = 2
    elsewhere = min(pu.os_index for pu in machine.topology.pus if pu.node == node)
    process.apply([BindThreads(Placement((frozenset({elsewhere}),)))])
    rest = together(run_to_end(process))
    assert len(rest.pages) > PAGES / 2
    assert all(vector[node] - vector[0] >= 10 for vector in rest.pages.values())


# Actions.


def test_time_that_a_mechanism_spends_is_lost_by_the_thread_it_names(
    machine: SimMachine, alone: Path
) -> None:
    request = RunRequest(str(alone), threads=1)
    free = watched(machine, alone, threads=1)
    process = machine.start(request, spread(machine, 1), Sensors())
    process.advance(100_000)
    process.apply([SpendTime("mapping", 50_000), SpendTime("mapping", 7_000)])
    seen = together(run_to_end(process))
    assert seen.overhead_ns == {"mapping": 57_000}
    assert seen.roi_ns - free.roi_ns == pytest.approx(57_000, abs=2)


def test_a_thread_that_copies_pages_pays_for_them(machine: SimMachine, alone: Path) -> None:
    pages = tuple(range(FIRST_PAGE, FIRST_PAGE + 50))
    queues = ("memory_queue_clocks", "link_queue_clocks")

    def moved(thread: int | None) -> tuple[int, Seen, float]:
        """Cost of moving, the rest of the run, and how long of it the thread stood in queues."""
        placed = spread(machine, 1)
        process = machine.start(RunRequest(str(alone), threads=1), placed, Sensors(queues))
        process.advance(500_000)
        outcome = process.apply([MovePages(pages, (1,) * 50, thread=thread)])
        assert outcome.done == 50
        rest = run_to_end(process)
        clocks = sum(s.counts[name] for each in rest for s in each.samples for name in queues)
        return outcome.cost_ns, together(rest), clocks / machine.spec.ghz

    cost_ns, outside, outside_wait_ns = moved(None)
    same_ns, inside, inside_wait_ns = moved(0)
    assert same_ns == cost_ns
    assert "page copy" not in outside.overhead_ns
    assert inside.overhead_ns["page copy"] == cost_ns
    # Who does not copy goes on at once, and waits behind the copies.
    longer_ns = inside.roi_ns - outside.roi_ns + outside_wait_ns - inside_wait_ns
    assert longer_ns == pytest.approx(cost_ns, rel=0.05)


def test_threads_that_are_bound_anew_are_in_the_overhead(machine: SimMachine, alone: Path) -> None:
    process = machine.start(RunRequest(str(alone), threads=1), spread(machine, 1), Sensors())
    process.advance(100_000)
    elsewhere = machine.topology.pus[-1].os_index
    process.apply([BindThreads(Placement((frozenset({elsewhere}),)))])
    migration_ns = round(machine.spec.system.migration_us * 1000)
    assert process.advance(10_000).overhead_ns == {"thread migration": migration_ns}


def test_what_was_seen_is_handed_out_once(machine: SimMachine, pairs: Captured) -> None:
    sensors = Sensors(detectors=(SAMMU,))
    request = RunRequest(str(pairs.trace), threads=THREADS)
    pieces = run_to_end(machine.start(request, spread(machine, THREADS), sensors), 200_000)
    whole = watched(machine, pairs.trace, SAMMU)
    assert len(pieces) > 3
    assert whole.sharing is not None
    total = together(pieces).sharing
    assert total is not None
    assert correlation(total, whole.sharing) > 0.99
    assert total.sum() == pytest.approx(whole.sharing.sum(), rel=0.05)


def test_two_detectors_that_sense_the_same_are_refused(machine: SimMachine, alone: Path) -> None:
    request = RunRequest(str(alone), threads=1)
    for detectors, what in (
        ((FaultSampling(), TlbMatching()), "sharing"),
        ((HintingFaults(), AccessSampling()), "pages"),
    ):
        with pytest.raises(CapabilityError, match=what):
            machine.start(request, spread(machine, 1), Sensors(detectors=detectors))


def test_a_detector_of_sharing_goes_with_one_of_pages(machine: SimMachine, pairs: Captured) -> None:
    seen = watched(machine, pairs.trace, TlbMatching(misses=10), AccessSampling(period=1000))
    assert seen.sharing is not None
    assert seen.sharing.any()
    assert seen.pages
    assert {"sample", "tlb read"} <= set(seen.overhead_ns)
