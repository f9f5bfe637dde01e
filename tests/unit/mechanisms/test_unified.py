"""Unified: a core set from the policy, seats in it from sharing, pages after the threads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_sharing import FakeSharing, pairs

from autofinity.affinity.hints import get_affinity
from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.better_seats import on_their_nodes
from autofinity.mechanisms.page_evidence import PAGE_MOVE_NS, REMOTE_READ_NS, PageEvidence
from autofinity.mechanisms.recipe import Setting, WholeTrace
from autofinity.mechanisms.restarted import restarted
from autofinity.mechanisms.seat_trial import SeatTrial
from autofinity.mechanisms.sharing_aware import nothing
from autofinity.mechanisms.sharing_evidence import AGEING, SharingEvidence
from autofinity.mechanisms.unified import Unified, by_faults
from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.counters import CounterSample
from autofinity.model.detection import AccessSampling, FaultSampling, RemoteAccesses
from autofinity.model.errors import UsageError
from autofinity.model.placement import Placement
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.topology import OsIndex
from autofinity.ports import BindThreads, Interval
from autofinity.profiling.placements import bound
from autofinity.runtime.loop import run_loop
from autofinity.sim.preset import load_preset

TOPOLOGY = load_preset("xeon-e5-2650").topology
THREADS = 8
FAST = Condition("instructions", 1e6, float("inf"))
POLICY = RulePolicy(("instructions",), {}, (Rule((FAST,), PACKED),), SPREAD)
SETTING = Setting(
    TOPOLOGY,
    THREADS,
    clock_hz=1e9,
    paper_second_ns=1_000_000,
    policy=POLICY,
    whole_trace=lambda: WholeTrace(nothing(THREADS), dict.fromkeys(range(100), (1,) * THREADS)),
)


def run(setting: Setting, sharing: SharingMatrix, *, gains: bool = True) -> FakeSharing:
    recipe = Unified(setting)
    assert recipe.start.placement is not None
    process = FakeSharing(
        THREADS,
        recipe.sensors.counters,
        sharing,
        {7: (0, 1)},
        gains=gains,
        cpus=tuple(min(mask) for mask in recipe.start.placement.masks),
    )
    state = recipe.begin(TOPOLOGY, TOPOLOGY.allowed, THREADS)
    run_loop(process, recipe, state, recipe.period_ns)
    return process


def cpus_of(masks: tuple[frozenset[int], ...]) -> list[int]:
    return [min(mask) for mask in masks]


def of_hint(hint: Hint) -> list[int]:
    return list(get_affinity(TOPOLOGY, THREADS, hint).cpus)


@pytest.mark.parametrize("hint", [SPREAD, PACKED])
def test_the_policy_says_which_cores_and_sharing_says_who_sits_beside_whom(hint: Hint) -> None:
    policy = replace(POLICY, rules=(), default=hint)
    last = run(replace(SETTING, policy=policy), pairs(THREADS)).cpus
    assert set(last) == set(of_hint(hint))
    package = [TOPOLOGY.by_os_index[cpu].package for cpu in last]
    assert package[:4] == package[4:]


def test_threads_begin_spread_and_stay_where_the_policy_would_put_them() -> None:
    policy = replace(POLICY, rules=(), default=SPREAD)
    process = run(replace(SETTING, policy=policy), nothing(THREADS))
    assert {tuple(cpus_of(masks)) for masks in process.bindings} == {tuple(of_hint(SPREAD))}


def test_a_core_set_is_entered_by_as_few_moves_as_possible() -> None:
    before, after = of_hint(SPREAD), run(SETTING, nothing(THREADS)).cpus
    assert set(after) == set(of_hint(PACKED))
    assert sum(a == b for a, b in zip(before, after, strict=True)) == 4


def test_the_guard_takes_a_core_set_back_that_does_not_pay() -> None:
    assert set(run(SETTING, nothing(THREADS), gains=False).cpus) == set(of_hint(SPREAD))


def test_an_equal_pattern_moves_nobody_within_the_set() -> None:
    everyone = SharingMatrix(
        tuple(tuple(float(i != j) * 9 for j in range(THREADS)) for i in range(THREADS))
    )
    assert run(SETTING, everyone).bindings == run(SETTING, nothing(THREADS)).bindings


def test_a_change_of_seats_that_made_the_program_slower_is_taken_back_for_good() -> None:
    before, now = (OsIndex(0),), (OsIndex(1),)
    trial = SeatTrial(rates=(1.0, 1.01, 1.0, 1.01)).begun(before)
    for rate in (0.5, 0.51, 0.5):
        trial, cpus = replace(trial, rates=(rate,)).judged(now)
        assert cpus == now and trial.guard is not None
    trial, cpus = replace(trial, rates=(0.51,)).judged(now)
    assert cpus == before
    assert trial.final and trial.guard is None


def test_a_change_of_seats_that_has_not_proved_better_in_the_end_is_taken_back() -> None:
    before, now = (OsIndex(0),), (OsIndex(1),)
    trial, looks = SeatTrial(rates=(1.0, 1.01, 1.0, 1.01)).begun(before), 0
    cpus = now
    while cpus == now:
        looks += 1
        trial, cpus = replace(trial, rates=((1.0, 1.01)[looks % 2],)).judged(now)
    assert looks == 13  # four rates, then ten looks
    assert cpus == before
    assert trial.final and trial.guard is None


def test_where_progress_is_unknown_a_change_is_judged_by_instructions() -> None:
    def look(number: int, instructions: int) -> Interval:
        sample = CounterSample(0, number, number + 1, {"instructions": instructions}, 1, 1)
        return Interval(number, number + 1, (sample,))  # its progress is NaN

    before, now = (OsIndex(0),), (OsIndex(1),)
    trial = SeatTrial()
    for number in range(6):
        trial = trial.seeing(look(number, 1000 + number % 2))
    trial, cpus = trial.begun(before), now
    for number in range(4):
        trial, cpus = trial.seeing(look(number, 900 + number % 2)).judged(now)
    assert cpus == before and trial.final


def test_rates_of_other_seats_are_no_baseline_of_a_change() -> None:
    """The decider has moved the threads to where they are faster."""
    state = Unified(SETTING).begin(TOPOLOGY, TOPOLOGY.allowed, THREADS)
    slower = SeatTrial(rates=(1.0, 1.01, 1.0, 1.01))
    moved = replace(state, trial=slower).bound([BindThreads(bound(of_hint(PACKED)))]).trial
    assert moved.rates == () and moved.guard is None
    for rates, may_begin in (((), True), ((2.0,), False), ((2.0, 2.01, 2.0, 2.01), True)):
        assert replace(moved, rates=rates).may_begin is may_begin
    assert not replace(moved, final=True).may_begin


def test_where_nothing_is_counted_a_change_stands() -> None:
    sample = CounterSample(0, 0, 1, {"task_clock_ns": 1}, 1, 1)
    trial = SeatTrial()
    for number in range(6):
        trial = trial.seeing(Interval(number, number + 1, (sample,)))
    assert trial.begun((OsIndex(0),)).guard is None


def test_looks_are_short_while_an_order_is_on_trial() -> None:
    recipe = Unified(SETTING)
    state = recipe.begin(TOPOLOGY, TOPOLOGY.allowed, THREADS)
    placed = replace(state, live=replace(state.live, phase="placed"))
    on_trial = SeatTrial(rates=(1.0,)).begun(state.cpus)
    assert recipe.period_ns(replace(placed, trial=on_trial)) == SETTING.ns(50)
    assert recipe.period_ns(placed) > 10 * SETTING.ns(50)


def test_threads_that_share_cores_are_not_dealt_seats() -> None:
    state = Unified(SETTING).begin(TOPOLOGY, TOPOLOGY.allowed, THREADS)
    assert state.cpus == tuple(of_hint(SPREAD))
    two = frozenset({OsIndex(0), OsIndex(1)})
    assert state.bound([BindThreads(Placement((two, two)))]).cpus == ()
    one = (frozenset({OsIndex(0)}), frozenset({OsIndex(0)}))
    assert state.bound([BindThreads(Placement(one))]).cpus == ()
    assert state.bound([]) is state


def test_a_change_of_seats_that_paid_stands_and_others_may_follow() -> None:
    trial = SeatTrial(rates=(1.0, 1.01, 1.0, 1.01)).begun((OsIndex(0),))
    for rate in (2.0, 2.01, 2.0, 2.01):
        trial, cpus = replace(trial, rates=(rate,)).judged((OsIndex(1),))
        assert cpus == (OsIndex(1),)
    assert trial.guard is None and not trial.final


def test_pages_follow_the_threads_once_they_are_placed() -> None:
    assert run(SETTING, nothing(THREADS)).nodes == {7: 1}


def test_pages_move_only_as_far_as_remote_reads_have_paid_for_it() -> None:
    paid = PAGE_MOVE_NS // REMOTE_READ_NS
    sample = CounterSample(0, 0, 1, {"dram_reads_remote": paid}, 1, 1)
    pages = NumaVectors({1: (0, 8), 2: (0, 9)}, nodes={1: 0, 2: 0})
    evidence = PageEvidence().seeing(Interval(0, 1, (sample,), pages=pages), 1.0)
    assert evidence.budget == 1.0
    evidence, chosen = evidence.affordable(pages)
    assert chosen == ((2, 1),)  # with most faults
    assert evidence.affordable(pages)[1] == ()


def test_of_many_pages_those_seen_last_are_remembered() -> None:
    evidence = PageEvidence()
    for seen in ((1, 2), (3,), (1,), (4, 5), (6, 7, 8, 9)):
        pages = NumaVectors(dict.fromkeys(seen, (0, 9)), nodes=dict.fromkeys(seen, 0))
        evidence = evidence.seeing(Interval(0, 1, (), pages=pages), most=3)
        if seen == (4, 5):
            assert [*evidence.since] == [*evidence.vectors] == [*evidence.nodes] == [1, 4, 5]
    _, moves = replace(evidence, budget=9.0).affordable(pages)
    assert {page for page, _ in moves} == {7, 8, 9}


def test_faults_from_before_a_move_do_not_count() -> None:
    def with_pages(evidence: PageEvidence, pages: dict[int, tuple[int, ...]]) -> PageEvidence:
        return evidence.seeing(Interval(0, 1, (), pages=NumaVectors(pages)), 0.5)

    evidence = replace(with_pages(PageEvidence(), {1: (5, 0)}), since={})  # the threads moved
    evidence = with_pages(evidence, {1: (5, 2)})
    assert evidence.since == {1: (0, 2)}
    assert evidence.sampled == 0.5 * 5 + 2
    evidence = with_pages(evidence, {1: (2, 1), 2: (0, 1)})  # halved
    assert evidence.since == {1: (0, 2), 2: (0, 1)}


def test_all_faults_count_after_the_counters_began_again() -> None:
    """As those of a running program do when its threads go to other nodes."""
    before = Interval(0, 1, (), pages=NumaVectors({1: (30, 0), 2: (9, 0)}))
    after = Interval(0, 1, (), pages=NumaVectors({1: (10, 3)}, restarts=1))
    evidence = replace(PageEvidence().seeing(before), since={}).seeing(after)
    assert evidence.since == {1: (10, 3)}
    again = Interval(0, 1, (), pages=NumaVectors({1: (10, 4), 2: (1, 0)}, restarts=1))
    assert evidence.seeing(again).since == {1: (10, 4), 2: (1, 0)}


def test_private_pages_of_threads_that_leave_their_node_are_left_behind() -> None:
    evidence = PageEvidence(since={1: (8, 0), 2: (4, 4)}, nodes={1: 0, 2: 0})
    here = get_affinity(TOPOLOGY, THREADS, PACKED).cpus
    there = tuple(OsIndex(cpu) for cpu in (8, 9, 10, 11, 4, 5, 6, 7))
    assert evidence.left_behind(TOPOLOGY, here, here) == 0
    assert evidence.left_behind(TOPOLOGY, here, there) == 8 * 0.5 / 16


def test_the_same_groups_go_to_the_nodes_where_most_of_them_are() -> None:
    now = [OsIndex(cpu) for cpu in (0, 1, 8, 9)]
    exchanged = [OsIndex(cpu) for cpu in (8, 9, 0, 1)]
    assert list(on_their_nodes(TOPOLOGY, now, exchanged)) == now


def test_what_is_sampled_are_events_that_cost_time_themselves() -> None:
    """A sample of a microsecond for every 1,000 lines of some 100 ns: 1 % of what they cost."""
    remote, loads = Unified(SETTING).sensors.detectors
    assert isinstance(remote, RemoteAccesses) and isinstance(loads, AccessSampling)
    assert remote.sample_ns <= 0.01 * 100 * remote.period
    assert loads.sample_ns <= 0.002 * loads.least_latency_ns * loads.period
    (faults,) = by_faults(SETTING).sensors.detectors
    assert isinstance(faults, FaultSampling)


def test_a_mapping_that_only_suits_the_sharing_it_was_made_from_moves_nobody() -> None:
    """Looks show one half of the threads' pairs and the other half by turns, as chance would."""

    class Turning(FakeSharing):
        def advance(self, duration_ns: int) -> Interval:
            some = pairs(THREADS) if self.seen % 2 else ring(THREADS)
            return replace(super().advance(duration_ns), sharing=some)

    def seats(kind: type[FakeSharing]) -> tuple[OsIndex, ...]:
        policy = replace(POLICY, rules=(), default=SPREAD)
        recipe = Unified(replace(SETTING, policy=policy))
        process = kind(THREADS, recipe.sensors.counters, pairs(THREADS), gains=True)
        process.cpus = tuple(get_affinity(TOPOLOGY, THREADS, SPREAD).cpus)
        state = recipe.begin(TOPOLOGY, TOPOLOGY.allowed, THREADS)
        run_loop(process, recipe, state, recipe.period_ns)
        return process.cpus

    def ring(threads: int) -> SharingMatrix:
        """Neighbours by number, who sit together already."""
        return SharingMatrix(
            tuple(
                tuple(float(10 * (j in (i ^ 1, i ^ 2))) for j in range(threads))
                for i in range(threads)
            )
        )

    before = get_affinity(TOPOLOGY, THREADS, SPREAD).cpus
    assert seats(FakeSharing) != before
    assert seats(Turning) == before


def test_threads_that_share_a_cache_are_remembered_to_share() -> None:
    known, more = pairs(4, 8.0), pairs(4, 0.0)
    news = SharingMatrix(((0, 1, 0, 0), (1, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)))
    evidence = SharingEvidence(known, known)
    assert evidence.seeing(more, (0, 1, 0, 1)).judged is known
    seen = evidence.seeing(news, ()).judged
    assert seen.cells[0] == (0, 1, AGEING * 8, 0)
    seen = evidence.seeing(news, (0, 1, 0, 2)).judged
    assert seen.cells[0] == (0, 1, 8, 0)
    assert seen.cells[1] == (1, 0, 0, AGEING * 8)


def test_autofinity_run_again_looks_at_a_sample_and_where_the_policy_says_so_at_a_second() -> None:
    asked: list[Hint] = []

    def sample(hint: Hint) -> dict[str, float]:
        asked.append(hint)
        return {"instructions": 2e6}

    chosen = restarted(replace(SETTING, sample=sample)).start.placement
    assert chosen is not None
    assert cpus_of(chosen.masks) == of_hint(PACKED)
    assert asked == [SPREAD]
    with pytest.raises(UsageError, match="expected one to be possible"):
        restarted(SETTING)
    with pytest.raises(UsageError, match="name one with --policy"):
        InRun(replace(SETTING, policy=None))


def test_the_decider_sees_a_longer_run_at_the_same_rates() -> None:
    """1 ms of the run stands for 1 s: a sample of 1 s takes 1 ms."""
    recipe = InRun(SETTING)
    process = FakeSharing(THREADS, recipe.sensors.counters, intervals=60)
    state = run_loop(
        process, recipe, recipe.begin(TOPOLOGY, TOPOLOGY.allowed, THREADS), recipe.period_ns
    )
    assert state.samples.start is not None
    assert state.samples.start["instructions"] == pytest.approx(1e9)  # COUNTED a microsecond
