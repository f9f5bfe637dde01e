"""The published mechanisms' own rules, by their papers' numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fake_machine import TOPOLOGY
from fake_sharing import FakeSharing, pairs

from autofinity.mechanisms import (
    communication_filter,
    kmaf14,
    kmaf16,
    marathe,
    numa_balancing,
    spcd,
    static,
    tlb_matching,
    trials,
)
from autofinity.mechanisms.mapping_time import bipartition_ns, eagermap_ns
from autofinity.mechanisms.oracle import homes, impact
from autofinity.mechanisms.recipe import NS_PER_S, Setting, WholeTrace
from autofinity.mechanisms.sharing_aware import SharingAware, nothing
from autofinity.model.detection import FaultSampling
from autofinity.model.errors import UsageError
from autofinity.model.placement import FIRST_TOUCH
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.topology import OsIndex
from autofinity.ports import BindThreads, Interval, MovePages, SpendTime
from autofinity.runtime.loop import run_loop

SETTING = Setting(TOPOLOGY, 4, clock_hz=1e9, paper_second_ns=1_000_000, mapping_ns=eagermap_ns)


LONG = replace(SETTING, paper_second_ns=NS_PER_S)
"""A run as long as the papers'."""


def interval(
    sharing: SharingMatrix | None = None,
    pages: dict[int, tuple[int, ...]] | None = None,
    nodes: dict[int, int] | None = None,
) -> Interval:
    vectors = None if pages is None else NumaVectors(pages, nodes=nodes or {})
    return Interval(0, 1000, (), sharing=sharing, pages=vectors)


def begun(recipe: Any) -> Any:
    """Its state before the first look."""
    return recipe.begin(TOPOLOGY, TOPOLOGY.allowed, 4)


def test_periods_and_rates_are_scaled_and_costs_are_not() -> None:
    """A run of 60 ms that stands for a minute: 100 ms are 100 us, 10 % a second 10 % a ms."""
    recipe = kmaf16.kmaf16(SETTING)
    (detector,) = recipe.detectors
    assert isinstance(detector, FaultSampling)
    assert detector.share_per_s == pytest.approx(0.1 * 1000)
    assert detector.fault_ns == FaultSampling().fault_ns
    assert recipe.period_ns(begun(recipe)) == 100_000


def test_mapping_takes_what_kmaf_measured() -> None:
    """Table 5: 130 ms for 3,487 mappings of 64 threads; SCOTCH ten times as long (section 4.4)."""
    assert eagermap_ns(64) == pytest.approx(130e6 / 3487, rel=0.01)
    assert bipartition_ns(64) == 10 * eagermap_ns(64)


def test_threads_that_share_end_on_one_cache_and_the_mapper_is_charged() -> None:
    recipe = kmaf16.kmaf16(LONG, pages=False)
    state, actions = recipe.step(begun(recipe), interval(pairs(4)))
    spent, bind = actions
    assert isinstance(spent, SpendTime)
    assert spent.kind == "mapping" and spent.duration_ns == eagermap_ns(4)
    assert isinstance(bind, BindThreads)
    package = [TOPOLOGY.by_os_index[min(mask)].package for mask in bind.placement.masks]
    assert package[0] == package[2] != package[1] == package[3]
    _, again = recipe.step(state, interval(pairs(4)))
    assert [type(action) for action in again] == [SpendTime]  # nobody has to move


def test_nothing_is_mapped_before_anything_was_shared() -> None:
    recipe = kmaf16.kmaf16(SETTING)
    state = begun(recipe)
    assert recipe.step(state, interval(nothing(4), {})) == (state, [])


def test_an_exclusive_page_follows_its_node_and_each_thread_copies_its_share() -> None:
    """kMAF'16, equations 4 to 6."""
    recipe = kmaf16.kmaf16(SETTING, threads=False)
    pages = {page: (0, 4) if page < 6 else (1, 1) for page in range(8)}
    _, moves = recipe.step(
        begun(recipe),
        interval(pages=pages, nodes=dict.fromkeys(pages, 0)),
    )
    assert [action.thread for action in moves if isinstance(action, MovePages)] == [0, 1, 2, 3]
    moved = sorted(p for a in moves if isinstance(a, MovePages) for p in a.pages)
    assert moved == [0, 1, 2, 3, 4, 5]


def test_kmaf14_section_3_3_no_page_moves_before_the_threads_where_threads_come_first() -> None:
    """kMAF'14, section 3.3."""
    recipe = replace(kmaf16.kmaf16(LONG), threads_first=True)
    pages = {7: (0, 9)}
    state, actions = recipe.step(begun(recipe), interval(nothing(4), pages))
    assert not actions
    _, actions = recipe.step(state, interval(pairs(4), pages))
    assert [type(action) for action in actions] == [SpendTime, BindThreads, MovePages]


def test_balancing_without_history_moves_on_one_fault_and_with_it_on_the_second() -> None:
    trace = WholeTrace(nothing(4), dict.fromkeys(range(240), (1, 1, 1, 1)))
    setting = replace(SETTING, whole_trace=lambda: trace)
    seen = interval(pages={5: (0, 1)}, nodes={5: 0})
    eager = numa_balancing.numa_balancing(setting)
    _, moves = eager.step(begun(eager), seen)
    assert moves == [MovePages((5,), (1,), 0)]
    patient = numa_balancing.two_faults(setting)
    state, first = patient.step(begun(patient), seen)
    _, second = patient.step(state, seen)
    assert not first and second == moves
    once = numa_balancing.next_touch(setting)
    state, first = once.step(begun(once), seen)
    _, second = once.step(state, interval(pages={5: (1, 0)}, nodes={5: 1}))
    assert first == moves and not second


def test_kmaf16_section_5_2_a_scan_takes_the_share_that_linux_takes_of_the_papers_programs() -> (
    None
):
    trace = WholeTrace(nothing(4), dict.fromkeys(range(2400), (1, 1, 1, 1)))
    detector = numa_balancing.scanning(replace(SETTING, whole_trace=lambda: trace))
    assert detector.scan_bytes == pytest.approx(2400 * 4096 / 24.4, rel=0.01)
    assert detector.scan_period_ns == 1_000_000


def test_sammu_section_4_3_marathe_places_pages_once_after_its_profile() -> None:
    recipe = marathe.Marathe(SETTING)
    seen = interval(pages={3: (2, 1), 4: (1, 2)}, nodes={3: 0, 4: 0})
    placed, moves = recipe.step(begun(recipe), seen)
    assert moves == [MovePages((4,), (1,), 0)]
    assert recipe.step(placed, seen) == (True, ())


def test_tlb_section_6_7_autopin_keeps_the_mapping_with_most_instructions_per_clock() -> None:
    """Section 6.7 of the TLB paper: five mappings, warmed up for 500 ms, 150 ms each."""
    recipe = trials.autopin(replace(SETTING, whole_trace=lambda: WholeTrace(pairs(4), {})))
    process = FakeSharing(4, recipe.sensors.counters, intervals=12)
    state = begun(recipe)
    assert recipe.period_ns(state) == 500_000
    state = run_loop(process, recipe, state, recipe.period_ns)
    assert recipe.period_ns(state) == 150_000
    assert len(process.bindings) == 5 + 1
    assert process.bindings[-1] == process.bindings[0]  # all alike: the first, the oracle's


def test_kmaf16_section_5_3_the_oracle_deals_out_what_is_not_exclusive() -> None:
    cpus = tuple(OsIndex(cpu) for cpu in (0, 1, 6, 7))
    trace = WholeTrace(pairs(4), {8: (9, 0, 1, 0), 9: (1, 0, 9, 9), 11: (5, 0, 5, 0)})
    assert homes(trace, cpus, TOPOLOGY) == {8: 0, 9: 1, 11: 1}


def test_kmaf16_section_3_1_remote_mappings_are_the_opposite_of_local_ones() -> None:
    """kMAF'16, section 3.1."""
    accesses = (9, 1, 8, 0)
    trace = WholeTrace(pairs(4), {8: accesses})
    setting = replace(SETTING, whole_trace=lambda: trace)

    def nodes(**local: bool) -> tuple[list[int], int]:
        recipe = impact(setting, **local)
        assert recipe.start.placement is not None
        cpus = [min(mask) for mask in recipe.start.placement.masks]
        return [TOPOLOGY.by_os_index[cpu].node for cpu in cpus], recipe.start.pages.nodes[8]

    threads, page = nodes(local_threads=True, local_pages=True)
    assert threads[0] == threads[2] != threads[1] == threads[3]
    by_node = [sum(accesses[i] for i in range(4) if threads[i] == node) for node in (0, 1)]
    assert by_node[page] == max(by_node)
    threads, page = nodes(local_threads=False, local_pages=False)
    assert threads[0] != threads[2] and threads[1] != threads[3]
    by_node = [sum(accesses[i] for i in range(4) if threads[i] == node) for node in (0, 1)]
    assert by_node[page] == min(by_node)


def test_a_larger_page_is_placed_whole_and_dealt_out_by_its_own_number() -> None:
    """Its number is that of its first 4 KiB: by these, all would go to one node."""
    cpus = tuple(OsIndex(cpu) for cpu in (0, 1, 6, 7))
    shared = {4 * page: (1, 1, 1, 1) for page in range(4)}
    trace = WholeTrace(pairs(4), shared, page_size_bytes=16384)
    nodes = homes(trace, cpus, TOPOLOGY)
    assert nodes == {0: 0, 4: 1, 8: 0, 12: 1}
    assert trace.placed(nodes).nodes == {page: page // 4 % 2 for page in range(16)}
    assert replace(SETTING, whole_trace=lambda: trace).memory_bytes == 4 * 16384


def test_faults_are_sampled_at_the_rate_asked_for() -> None:
    often = replace(SETTING, fault_share_per_s=2 * SETTING.fault_share_per_s)
    for make in (kmaf14.kmaf14, kmaf16.kmaf16, spcd.spcd):
        (before,), (after,) = make(SETTING).detectors, make(often).detectors
        assert isinstance(before, FaultSampling) and isinstance(after, FaultSampling)
        assert after.share_per_s == pytest.approx(2 * before.share_per_s)


def test_random_mappings_are_those_of_their_seed() -> None:
    trace = WholeTrace(nothing(4), dict.fromkeys(range(100), (1, 1, 1, 1)))
    one, other = (
        static.random_mapping(replace(SETTING, seed=seed, whole_trace=lambda: trace)).start
        for seed in (1, 2)
    )
    assert one != other
    assert one == static.random_mapping(replace(SETTING, seed=1, whole_trace=lambda: trace)).start
    assert set(one.pages.nodes.values()) == {0, 1}


def test_random_threads_are_those_of_the_random_mapping_and_leave_pages_alone() -> None:
    trace = WholeTrace(nothing(4), dict.fromkeys(range(100), (1, 1, 1, 1)))
    both = static.random_mapping(replace(SETTING, whole_trace=lambda: trace)).start
    alone = static.random_threads(SETTING).start
    assert alone.placement == both.placement
    assert alone.pages == FIRST_TOUCH


def test_what_needs_a_trace_says_so_where_there_is_none() -> None:
    with pytest.raises(UsageError, match="expected a trace"):
        static.random_mapping(SETTING)


def test_the_shortest_look_is_a_microsecond() -> None:
    assert replace(SETTING, paper_second_ns=10).ns(1) == 1000
    assert replace(SETTING, paper_second_ns=NS_PER_S).ns(100) == 100_000_000


def test_a_skeleton_without_parts_does_nothing() -> None:
    recipe = SharingAware("empty", SETTING, ())
    process = FakeSharing(4, (), pairs(4), {1: (0, 9)}, intervals=3)
    run_loop(process, recipe, begun(recipe), recipe.period_ns)
    assert not process.bindings and not process.nodes


def test_kmaf14_differs_from_kmaf16_as_its_paper_says() -> None:
    """Sections 3.2, 3.3, 3.4.2 and table 2."""
    recipe = kmaf14.kmaf14(SETTING)
    (detector,) = recipe.detectors
    assert isinstance(detector, FaultSampling)
    assert (detector.table, detector.block_bytes) == ("sub-blocks", 1024)
    assert detector.halve_on_move and recipe.threads_first
    assert recipe.age is kmaf14.aged


def matched(*amounts: tuple[int, int, float]) -> SharingMatrix:
    cells = [[0.0] * 4 for _ in range(4)]
    for a, b, amount in amounts:
        cells[a][b] = cells[b][a] = amount
    return SharingMatrix(tuple(map(tuple, cells)))


def test_tlb_section_5_1_partners_are_those_of_figure_4() -> None:
    """The TLB paper's matrix: (1,2) = 1, (0,1) = 2, (0,3) = 1, (1,3) = 1."""
    figure_4 = matched((1, 2, 1), (0, 1, 2), (0, 3, 1), (1, 3, 1))
    assert communication_filter.partners(figure_4) == (1, 0, 1, 0)
    assert communication_filter.partners(nothing(4)) == (-1, -1, -1, -1)


def test_tlb_section_5_1_the_filter_passes_when_two_threads_have_changed_partner() -> None:
    assert not communication_filter.passes((1, 0, 3, 2), (1, 0, 3, 2))
    assert not communication_filter.passes((1, 0, 3, 2), (2, 0, 3, 2))
    assert communication_filter.passes((1, 0, 3, 2), (2, 3, 3, 2))
    assert communication_filter.passes((), (1, 0, -1, -1))


def test_tlb_section_5_1_partners_are_those_a_thread_communicates_more_with() -> None:
    """One of several that are as good is kept, and so is one that nothing was seen of lately."""
    before = (1, 0, 3, 2)
    assert communication_filter.partners(nothing(4), before) == before
    even = matched((0, 1, 5), (0, 2, 9), (2, 3, 5))
    assert communication_filter.partners(even, before) == before
    far = matched((0, 1, 4), (0, 2, 9), (2, 3, 4))
    assert communication_filter.partners(far, before) == (2, 0, 0, 2)


def test_tlb_section_5_the_gate_opens_after_more_triggers_than_threads_and_the_filter_wants_2() -> (
    None
):
    """Figure 6, and section 5.1: a new matrix each time, and 2 threads with another partner."""
    recipe = tlb_matching.tlb(SETTING)
    state = begun(recipe)
    near, far = matched((0, 1, 400), (2, 3, 400)), matched((0, 2, 600), (1, 3, 600))

    def look(seen: SharingMatrix, triggers: int) -> list[type]:
        nonlocal state
        state, actions = recipe.step(state, replace(interval(seen), triggers=triggers))
        return [type(action) for action in actions]

    assert look(near, 4) == []  # as many triggers as threads are not enough
    assert look(near, 1) == [SpendTime, BindThreads]
    assert state.matrix == nothing(4) and state.triggers == 0
    assert look(near, 5) == []  # nobody has another partner
    one = SharingMatrix(((0, 350, 800, 0), (350, 0, 0, 0), (0, 0, 0, 350), (0, 0, 350, 0)))
    assert look(one, 5) == []
    few = matched((0, 3, 340), (1, 2, 340))
    assert look(few, 5) == [] and state.matrix == few  # not enough to choose partners by
    assert look(far, 5) == [SpendTime, BindThreads]


def test_azimi_has_no_gate() -> None:
    recipe = tlb_matching.azimi(SETTING)
    _, actions = recipe.step(begun(recipe), interval(pairs(4)))
    assert [type(action) for action in actions] == [SpendTime, BindThreads]
