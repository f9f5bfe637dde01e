"""SAMMU to the letter: what its unit does to memory, and what that costs.

Cruz, Diener, Pilla & Navaux, A Sharing-Aware Memory Management Unit for Online Mapping in
Multi-core Architectures, Euro-Par 2016. Rows of the matrix, thresholds and counters are in
tests/unit/detect/test_tables.py.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from sim_programs import kept, round_pages

from autofinity.evaluation.mechanism_run import run_mechanism
from autofinity.mechanisms.recipe import NS_PER_S, Setting
from autofinity.mechanisms.sammu import counter_bits, sammu
from autofinity.model.detection import TlbAccessCounters
from autofinity.model.placement import Placement
from autofinity.ports import BindThreads, RunRequest, Sensors
from autofinity.sim.machine import SimMachine

PAGES, TURNS = 700, 20  # the second TLB holds 512
COUNTED = ("page_walks", "page_walk_misses", "l2_misses", "llc_requests", "data_cache_accesses")
SAMMU, LAPT = TlbAccessCounters(), TlbAccessCounters(held_in="page table")


@pytest.fixture(scope="module")
def machine() -> SimMachine:
    """Machine of the paper."""
    return SimMachine.preset("xeon-x7550")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A thread that goes round more pages than its TLBs hold."""
    return kept(round_pages(PAGES, TURNS), tmp_path_factory.mktemp("trace") / "alone")


@dataclass(frozen=True)
class Seen:
    ns: int
    accesses: int
    overhead_ns: Counter[str]
    counts: Counter[str]
    told: int


def on_node(machine: SimMachine, node: int) -> Placement:
    return Placement(
        (frozenset({min(pu.os_index for pu in machine.topology.pus if pu.node == node)}),)
    )


def watched(machine: SimMachine, trace: str, *detectors: TlbAccessCounters, moves: bool) -> Seen:
    """`moves`: to another node, once half of the pages' turns are over."""
    request = RunRequest(trace, threads=1)
    process = machine.start(request, on_node(machine, 0), Sensors(COUNTED, detectors), 1)
    overhead, counts = Counter[str](), Counter[str]()
    accesses = told = 0
    interval = process.advance(400_000)
    while True:
        accesses += interval.detection_accesses
        overhead.update(interval.overhead_ns)
        told += len(interval.pages.pages) if interval.pages is not None else 0
        for sample in interval.samples:
            counts.update(sample.counts)
        if interval.ended:
            return Seen(interval.end_ns, accesses, overhead, counts, told)
        if moves:
            process.apply([BindThreads(on_node(machine, 2))])
            moves = False
        interval = process.advance(10**12)


def test_section_4_4_each_update_is_accesses_to_memory_that_take_time(
    machine: SimMachine, alone: str
) -> None:
    """Each eviction reads and writes the page's entry; from its threshold on the thread counts with
    those that are in the vector, itself twice at most: 2 to 6 accesses.
    """
    free = watched(machine, alone, moves=False)
    seen = watched(machine, alone, SAMMU, moves=False)
    assert free.accesses == 0 and not free.overhead_ns
    evictions = seen.counts["page_walks"] - 512
    assert 2 * evictions <= seen.accesses <= 6 * evictions
    assert set(seen.overhead_ns) == {"update"}
    lost_ns = seen.ns - free.ns
    assert lost_ns == pytest.approx(seen.overhead_ns["update"], rel=0.15)


def test_section_4_4_the_accesses_go_through_the_caches_of_the_core(
    machine: SimMachine, alone: str
) -> None:
    """Entries of 8 bytes a page and rows of 4 bytes a thread: the first access to each line leaves
    the core, and they are no page walks of the program.
    """
    free = watched(machine, alone, moves=False)
    seen = watched(machine, alone, SAMMU, moves=False)
    lines = PAGES // 8
    assert seen.counts["llc_requests"] - free.counts["llc_requests"] >= lines
    assert seen.counts["page_walks"] == free.counts["page_walks"]
    assert seen.counts["data_cache_accesses"] == free.counts["data_cache_accesses"]


def test_section_3_3_the_operating_system_is_notified_by_an_interrupt_a_page(
    machine: SimMachine, alone: str
) -> None:
    seen = watched(machine, alone, SAMMU, moves=True)
    assert seen.told > PAGES / 2
    interrupt_ns = machine.spec.system.interrupt_us * 1000
    assert seen.overhead_ns["interrupt"] == pytest.approx(seen.told * interrupt_ns, rel=0.01)


def test_table_1_counters_have_32_bits_in_a_run_of_the_papers_length(machine: SimMachine) -> None:
    """A run that stands for one 1,024 times as long fills them as often with 10 bits fewer."""
    whole = Setting(machine.topology, 8, machine.clock_hz, paper_second_ns=NS_PER_S)
    assert counter_bits(whole) == 32
    short = Setting(machine.topology, 8, machine.clock_hz, paper_second_ns=NS_PER_S >> 10)
    assert counter_bits(short) == 22
    (detector,) = sammu(short).detectors
    assert detector == TlbAccessCounters(access_counter_bits=22)


def test_section_4_4_what_detection_added_is_measured_in_the_run(
    machine: SimMachine, alone: str
) -> None:
    """As a share of the program's accesses, beside the share of its time."""
    setting = Setting(machine.topology, 1, machine.clock_hz, paper_second_ns=1_000_000)
    run = run_mechanism(machine, RunRequest(alone, threads=1), sammu(setting), seed=1)
    assert run.accesses == PAGES * TURNS
    assert run.transactions_added == run.detection_accesses / run.accesses > 0
    assert run.overhead_of("update") > 0


def test_lapt_writes_an_entry_back_when_it_leaves_the_tlb(machine: SimMachine, alone: str) -> None:
    """Ours: what is known of LAPT (kMAF'16, section 2.1.3) does not say when."""
    seen = watched(machine, alone, LAPT, moves=False)
    evictions = seen.counts["page_walks"] - 512
    assert seen.accesses == pytest.approx(2 * evictions, rel=0.05)
    assert set(seen.overhead_ns) == {"update"}
