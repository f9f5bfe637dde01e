"""Figure 3, live: watched, started spread, sampled once, placed, followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from made_up_machine import machine

from autofinity.model.affinity import PACKED, SPREAD, Affinity, Hint
from autofinity.model.answer_on_record import AnswerOnRecord
from autofinity.model.counters import CounterSample
from autofinity.model.policy import (
    Condition,
    Decision,
    Instead,
    OtherCounts,
    Rule,
    RulePolicy,
    SecondLook,
    looked_at,
)
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, BindThreads, Interval, Outcome, ThreadEvent
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.evidence import ONE_LLC
from autofinity.runtime.live_state import LiveState, Settings
from autofinity.runtime.loop import run_loop
from autofinity.runtime.undecided import UNDECIDED

MS = 1_000_000


MACHINE = machine(packages=2, llcs=2, cores=4)
ONE_SOCKET = Hint.parse("sLP")
POLICY = RulePolicy(("data_cache_accesses",), {}, (), PACKED)


@dataclass
class FakeProcess:
    """A program whose threads compute as a script says; remembers what was applied."""

    appear: Mapping[int, int]
    """Thread number → turn in which it appears."""
    gone: Mapping[int, int] = field(default_factory=dict)
    idle: frozenset[int] = frozenset()
    stopped: range = range(0)
    """Turns in which nobody runs, so that nothing is counted."""
    turns: int = 60
    counters: Mapping[str, int] = field(default_factory=dict)
    sharing: Mapping[int, SharingMatrix] = field(default_factory=dict)
    """Turn → what page faults show in it."""
    work_per_s: Sequence[float] = ()
    """Progress per second of each turn; the last holds on. Empty: cannot be known."""
    turn: int = 0
    now: int = 0
    progress: float = 0.0
    applied: list[tuple[int, Sequence[Action]]] = field(default_factory=list)

    def advance(self, duration_ns: int) -> Interval:
        start, self.now = self.now, self.now + duration_ns
        begun = [n for n, turn in self.appear.items() if turn == self.turn]
        ended = [n for n, turn in self.gone.items() if turn == self.turn]
        events = [ThreadEvent("begin", n, 100 + n, start) for n in begun]
        events += [ThreadEvent("end", n, 100 + n, start) for n in ended]
        alive = [
            n
            for n, turn in self.appear.items()
            if turn <= self.turn < self.gone.get(n, self.turns + 1)
        ]
        samples = tuple(
            CounterSample(
                100 + n,
                start,
                self.now,
                {"task_clock_ns": 0}
                if self.turn in self.stopped
                else {"task_clock_ns": 0 if n in self.idle else duration_ns, **self.counters},
                duration_ns,
                duration_ns,
            )
            for n in alive
        )
        progress = float("nan")
        if self.work_per_s:
            rate = self.work_per_s[min(self.turn, len(self.work_per_s) - 1)]
            self.progress += rate * duration_ns / 1e9
            progress = self.progress
        self.turn += 1
        return Interval(
            start,
            self.now,
            samples,
            tuple(events),
            sharing=self.sharing.get(self.turn - 1),
            progress=progress,
            ended=self.turn >= self.turns,
        )

    def apply(self, actions: Sequence[Action]) -> Outcome:
        self.applied.append((self.turn, actions))
        return Outcome(1, 0)


def run(
    process: FakeProcess,
    *,
    settings: Settings | None = None,
    policy: RulePolicy | None = POLICY,
    known: Hint | None = None,
    available: frozenset[OsIndex] | Callable[[], frozenset[OsIndex]] | None = None,
    asked: list[Mapping[str, float]] | None = None,
    topology: Topology = MACHINE,
) -> LiveState:
    allowed = topology.allowed if available is None else available
    allowed_now = allowed if callable(allowed) else lambda: allowed

    def decide(chosen: RulePolicy, sample: Mapping[str, float]) -> Decision:
        if asked is not None:
            asked.append(sample)
        return Decision(chosen.default, None, float("inf"), None)

    mechanism = LivePolicy(
        topology,
        policy,
        decide,
        allowed_now,
        lambda threads: AnswerOnRecord(known) if known else None,
        settings or Settings(),
    )
    start = mechanism.begin(topology, allowed_now(), 0)
    return run_loop(process, mechanism, start, mechanism.period_ns)


def masks(process: FakeProcess, index: int = -1) -> list[list[int]]:
    action = process.applied[index][1][0]
    assert isinstance(action, BindThreads)
    return [sorted(mask) for mask in action.placement.masks]


def test_an_unknown_program_starts_spread_is_sampled_and_then_placed_by_the_policy() -> None:
    process = FakeProcess(dict.fromkeys(range(4), 0), counters={"data_cache_accesses": 5_000_000})
    asked: list[Mapping[str, float]] = []
    state = run(process, asked=asked)
    first, last = masks(process, 0), masks(process, -1)
    assert sorted(first) == [list(range(llc, llc + 4)) for llc in (0, 4, 8, 12)]
    assert last == [[0, 1, 2, 3]] * 4
    assert len(process.applied) == 2
    assert len(asked) == 1
    # Four looks of 50 ms with 5 M counts each, per thread and second.
    assert asked[0]["data_cache_accesses"] == 100_000_000
    assert state.phase == "placed"
    assert state.placed.hint == PACKED


@pytest.mark.parametrize("turns", [1, 2, 6])
def test_a_program_that_is_stopped_for_a_moment_is_placed_afterwards(turns: int) -> None:
    counted = Rule((Condition("data_cache_accesses", 0.0, 1e8),), ONE_SOCKET)
    policy = RulePolicy(("data_cache_accesses",), {}, (counted,), PACKED)
    for first in range(20):
        process = FakeProcess(
            dict.fromkeys(range(4), 0),
            counters={"data_cache_accesses": 5_000_000},
            stopped=range(first, first + turns),
        )
        state = run(process, policy=policy)
        assert state.phase == "placed", (first, state.notes)


def test_a_program_that_is_stopped_loses_nothing_by_looks_at_it() -> None:
    def spent_ns(stopped: range) -> float:
        counters = {"data_cache_accesses": 5_000_000}
        process = FakeProcess(dict.fromkeys(range(4), 0), counters=counters, stopped=stopped)
        process.turns = 200
        state = run(process)
        assert state.phase == "placed"
        return state.costs.spent_ns

    sampled_from = 8
    assert spent_ns(range(sampled_from, sampled_from + 60)) == spent_ns(range(0))


def two_looks(answer: Hint) -> RulePolicy:
    """Says packed, and looks again one socket wide before it says `answer`."""
    counters = ("data_cache_accesses",)
    again = RulePolicy(looked_at(counters), {}, (), answer)
    return RulePolicy(counters, {}, (), PACKED, second=SecondLook(ONE_SOCKET, (PACKED,), again))


def test_a_second_look_samples_again_elsewhere_and_has_the_last_word() -> None:
    process = FakeProcess(dict.fromkeys(range(4), 0), counters={"data_cache_accesses": 5_000_000})
    asked: list[Mapping[str, float]] = []
    state = run(process, policy=two_looks(PACKED), asked=asked)
    assert [list(sample) for sample in asked] == [
        ["data_cache_accesses"],
        ["data_cache_accesses", "start.data_cache_accesses"],
    ]
    assert len(process.applied) == 3
    assert sorted(map(tuple, masks(process, 1))) == [(0, 1, 2, 3)] * 2 + [(4, 5, 6, 7)] * 2
    assert masks(process, 2) == [[0, 1, 2, 3]] * 4
    assert (str(state.samples.start_in), str(state.samples.probe_in)) == ("{1,1}{1,1}", "{2,2}")
    assert state.samples.probe is not None
    assert state.placed.hint == PACKED
    back = run(
        FakeProcess(dict.fromkeys(range(4), 0), counters={"data_cache_accesses": 1}),
        policy=two_looks(SPREAD),
    )
    assert (back.placed.hint, back.phase) == (SPREAD, "placed")


@pytest.mark.parametrize(
    ("cores", "answer"), [("{4,4}{4,4}", ONE_SOCKET), ("{8}{8}", PACKED)], ids=["as here", "others"]
)
@pytest.mark.parametrize("policy", [POLICY, two_looks(PACKED)], ids=["one look", "two looks"])
def test_an_answer_means_another_hint_with_other_threads_on_the_machine_it_was_learned_for(
    policy: RulePolicy, cores: str, answer: Hint
) -> None:
    other = OtherCounts(Affinity.parse(cores), (Instead(PACKED, 4, 4, ONE_SOCKET),))
    process = FakeProcess(dict.fromkeys(range(4), 0), counters={"data_cache_accesses": 5_000_000})
    state = run(process, policy=replace(policy, other_counts=other))
    assert (state.placed.hint, state.phase) == (answer, "placed")
    fewer = FakeProcess(dict.fromkeys(range(3), 0), counters={"data_cache_accesses": 5_000_000})
    assert run(fewer, policy=replace(policy, other_counts=other)).placed.hint == PACKED


def test_a_second_look_that_could_show_nothing_new_is_not_taken() -> None:
    process = FakeProcess(dict.fromkeys(range(4), 0))
    asked: list[Mapping[str, float]] = []
    state = run(process, policy=two_looks(SPREAD), asked=asked, settings=Settings(bind="none"))
    assert len(asked) == 1
    assert state.placed.hint == PACKED


def test_threads_that_join_during_a_second_look_begin_the_first_one_anew() -> None:
    process = FakeProcess(
        dict.fromkeys(range(4), 0) | {4: 10}, counters={"data_cache_accesses": 5}, turns=80
    )
    asked: list[Mapping[str, float]] = []
    state = run(process, policy=two_looks(PACKED), asked=asked)
    assert [len(sample) for sample in asked] == [1, 1, 2]
    assert state.restarts == 1
    assert state.phase == "placed"


def test_the_chosen_affinity_is_sampled_too_once_its_threads_are_undisturbed() -> None:
    counters = {"data_cache_accesses": 5_000_000}
    calm = run(FakeProcess(dict.fromkeys(range(4), 0), counters=counters))
    assert (str(calm.samples.start_in), str(calm.placed.affinity)) == ("{1,1}{1,1}", "{4}")
    assert calm.samples.outcome is not None
    assert calm.samples.outcome["data_cache_accesses"] == 5_000_000
    # A thread that joins in the very look puts the sample off, and the program ends first.
    joined = FakeProcess(dict.fromkeys(range(4), 0) | {4: 10}, counters=counters, turns=13)
    disturbed = run(joined)
    assert disturbed.samples.start is not None
    assert disturbed.samples.outcome is None
    less = FakeProcess(dict.fromkeys(range(4), 0), counters=counters, turns=13)
    assert run(less).samples.outcome is not None
    # Looks at a program that waits show nothing of the affinity.
    waits = FakeProcess(dict.fromkeys(range(4), 0), counters=counters, stopped=range(10, 40))
    waited = run(waits).samples.outcome
    assert waited is not None
    assert waited["data_cache_accesses"] == 5_000_000
    # Nothing was bound: no affinity, nothing to compare.
    unbound = run(
        FakeProcess(dict.fromkeys(range(4), 0), counters=counters), settings=Settings(bind="none")
    )
    assert unbound.samples.start is not None
    assert (unbound.placed.affinity, unbound.samples.outcome) == (None, None)


def test_nothing_is_placed_while_threads_still_appear() -> None:
    process = FakeProcess({0: 0, 1: 3, 2: 5, 3: 7})
    run(process)
    assert process.applied[0][0] > 8


def test_promised_threads_are_placed_as_soon_as_all_compute_and_two_looks_are_alike() -> None:
    process = FakeProcess(dict.fromkeys(range(4), 0))
    run(process, settings=Settings(threads=4))
    assert process.applied[0][0] == 2


def test_fewer_threads_than_promised_are_placed_after_patience_and_noted() -> None:
    process = FakeProcess(dict.fromkeys(range(3), 0))
    state = run(process, settings=Settings(threads=8))
    assert process.applied
    assert "8 threads were promised and 3 compute" in state.notes


def test_an_idle_thread_of_a_complete_team_is_kept_beside_the_others_where_cores_are_left() -> None:
    """Not the first thread, whose mask a runtime counts; and no thread that was not promised."""

    def last_masks(threads: int, promised: int) -> list[list[int]]:
        idle = frozenset({0, threads - 1})
        process = FakeProcess(dict.fromkeys(range(threads), 0), idle=idle)
        run(process, settings=Settings(threads=promised), known=PACKED)
        return masks(process, -1)

    cache, anywhere = [0, 1, 2, 3], list(range(16))
    assert last_masks(5, 5) == [anywhere, cache, cache, cache, cache]
    assert last_masks(6, 6) == [anywhere, cache, cache, cache, cache, anywhere]
    assert last_masks(5, 4) == [anywhere, cache, cache, cache, anywhere]


def test_a_known_program_is_placed_at_once_and_not_sampled() -> None:
    process = FakeProcess(dict.fromkeys(range(4), 0))
    asked: list[Mapping[str, float]] = []
    state = run(process, known=PACKED, asked=asked)
    assert masks(process, 0) == [[0, 1, 2, 3]] * 4
    assert len(process.applied) == 1
    assert not asked
    assert state.samples.start is None


def test_a_hint_that_was_asked_for_and_puts_threads_on_siblings_is_noted() -> None:
    siblings = machine(packages=2, llcs=1, cores=2, smt=2)

    def notes(hint: Hint, policy: RulePolicy | None = None) -> list[str]:
        process = FakeProcess(dict.fromkeys(range(4), 0))
        state = run(process, known=hint, policy=policy, topology=siblings)
        return [note for note in state.notes if "several to a core" in note]

    assert notes(PACKED) == [
        "packed (slp) puts 4 threads on 2 cores, several to a core, and leaves 2 cores "
        "idle; spread (SLP) takes all cores first"
    ]
    assert notes(SPREAD) == []
    assert notes(PACKED, POLICY) == [], "the policy's own answer is nobody's wish"


def test_a_main_thread_that_only_waits_is_not_placed_but_let_go_anywhere() -> None:
    process = FakeProcess(dict.fromkeys(range(5), 0), idle=frozenset({0}))
    run(process, settings=Settings(bind="core"))
    placed = masks(process, 0)
    assert placed[0] == list(range(16))
    assert [len(mask) for mask in placed[1:]] == [1, 1, 1, 1]


def test_more_threads_than_cpus_leave_the_mask_and_name_both_numbers() -> None:
    process = FakeProcess(dict.fromkeys(range(4), 0))
    state = run(process, available=frozenset({OsIndex(0), OsIndex(1)}))
    assert not process.applied
    assert state.phase == "left alone"
    assert any("4 threads" in line and "2" in line for line in state.notes)


def test_only_cpus_allowed_now_are_used() -> None:
    process = FakeProcess(dict.fromkeys(range(4), 0))
    allowed = frozenset(OsIndex(cpu) for cpu in (1, 2, 5, 6, 9))
    run(process, available=allowed)
    for _, actions in process.applied:
        action = actions[0]
        assert isinstance(action, BindThreads)
        assert all(mask <= allowed and mask for mask in action.placement.masks)


def test_a_placed_program_is_placed_again_when_its_cgroup_allows_other_cpus() -> None:
    everywhere, first_cache, others = MACHINE.allowed, range(4), range(2, 16)

    def placed_within(before: Iterable[int], after: Iterable[int], hint: Hint) -> list[list[int]]:
        """Masks at first, which are checked, and after the CPUs have changed."""
        process = FakeProcess(dict.fromkeys(range(4), 0))
        cpus = [frozenset(map(OsIndex, each)) for each in (before, after)]
        state = run(process, known=hint, available=lambda: cpus[process.turn >= 20])
        assert {cpu for mask in masks(process, 0) for cpu in mask} <= set(before)
        assert (state.phase, state.placed.hint) == ("placed", hint)
        return masks(process, -1)

    assert placed_within(everywhere, others, PACKED) == [[4, 5, 6, 7]] * 4
    spread = [list(range(llc, llc + 4)) for llc in (0, 4, 8, 12)]
    assert sorted(placed_within(first_cache, everywhere, SPREAD)) == spread


def test_counters_that_were_not_measured_reach_the_policy_as_nan_and_are_noted() -> None:
    asked: list[Mapping[str, float]] = []
    state = run(FakeProcess(dict.fromkeys(range(4), 0)), asked=asked)
    assert asked[0]["data_cache_accesses"] != asked[0]["data_cache_accesses"]
    assert state.missing == ("data_cache_accesses",)


@pytest.mark.parametrize(
    ("threads", "options", "phase", "hint"),
    [
        (1, {}, "watching", None),
        (4, {"policy": None}, "left alone", None),
        (4, {"settings": Settings(bind="none")}, "placed", PACKED),
    ],
    ids=["one thread", "no policy", "no binding, but a decision"],
)
def test_nothing_is_applied_to(
    threads: int, options: dict[str, Any], phase: str, hint: Hint | None
) -> None:
    process = FakeProcess(dict.fromkeys(range(threads), 0))
    state = run(process, **options)
    assert not process.applied
    assert (state.phase, state.placed.hint) == (phase, hint)


def test_threads_that_come_later_are_followed() -> None:
    process = FakeProcess({0: 0, 1: 0, 2: 40, 3: 40})
    state = run(process, settings=Settings(threads=2))
    assert len(masks(process, -1)) == 4
    assert state.placed.threads == (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("work_per_s", "hint", "verdict"),
    [
        ([1.0] * 13 + [0.7], SPREAD, "worse"),
        ([1.0] * 13 + [1.4], PACKED, "better"),
        ([], PACKED, "undecided"),
    ],
    ids=["slows down", "speeds up", "moves at an unknown pace"],
)
def test_the_guard_takes_back_nothing_but_what(
    work_per_s: list[float], hint: Hint, verdict: str
) -> None:
    threads = dict.fromkeys(range(4), 0)
    state = run(FakeProcess(threads, work_per_s=work_per_s, turns=80 if work_per_s else 200))
    assert (state.placed.hint, state.guard.verdict) == (hint, verdict)
    assert any(line.startswith("taken back") for line in state.notes) == (verdict == "worse")


def test_newcomers_are_let_go_anywhere_until_they_compute() -> None:
    process = FakeProcess({0: 0, 1: 0, 2: 40}, idle=frozenset({2}))
    run(process, settings=Settings(threads=2))
    assert masks(process, -1) == [[], [], list(range(16))]


def test_a_program_that_grows_beyond_the_cpus_is_let_go() -> None:
    process = FakeProcess({0: 0, 1: 0, 2: 40})
    allowed = frozenset({OsIndex(0), OsIndex(4)})
    state = run(process, settings=Settings(threads=2), available=allowed)
    assert state.phase == "left alone"
    assert masks(process, -1) == [[0, 4]] * 3


def test_a_program_whose_workers_come_and_go_all_the_time_is_let_go() -> None:
    # From turn 30 on a new worker in every turn, for two turns.
    fleeting = {2 + n: 30 + n for n in range(30)}
    process = FakeProcess(
        {0: 0, 1: 0} | fleeting, gone={n: turn + 2 for n, turn in fleeting.items()}, turns=60
    )
    state = run(process, settings=Settings(threads=2))
    assert any(line.startswith("let go") for line in state.notes)
    assert state.phase in ("left alone", "watching")
    assert masks(process, -1)[:2] == [list(range(16))] * 2


def sharing(*pairs: tuple[int, int], threads: int = 4, count: float = 100.0) -> SharingMatrix:
    cells = [[0.0] * threads for _ in range(threads)]
    for i, j in pairs:
        cells[i][j] = cells[j][i] = count
    return SharingMatrix(tuple(map(tuple, cells)))


SEATED = Settings(bind="core", by_sharing=True)
FOUR = dict.fromkeys(range(4), 0)


def caches_at_the_end(process: FakeProcess) -> list[int]:
    """Cache of each of the four threads."""
    return [cpu // 4 for (cpu,) in masks(process)]


def test_without_counters_who_shares_sits_together_on_the_seats_that_the_hint_gave() -> None:
    policy = RulePolicy((), {}, (), SPREAD)
    two_caches = frozenset(OsIndex(cpu) for cpu in (0, 1, 4, 5))
    early = FakeProcess(FOUR, sharing={1: sharing((0, 2), (1, 3))})
    late = FakeProcess(FOUR, sharing={30: sharing((0, 2), (1, 3))})
    for process in (early, late):
        state = run(process, settings=SEATED, policy=policy, available=two_caches)
        assert state.placed.hint == SPREAD
        assert set(state.placed.seats) == two_caches
        a, b, c, d = caches_at_the_end(process)
        assert a == c != b == d
    assert "threads that share pages are placed together, by page faults" in state.notes


def test_little_sharing_or_sharing_that_is_as_good_as_it_gets_moves_nobody() -> None:
    policy = RulePolicy((), {}, (), SPREAD)
    for matrix in (
        sharing((0, 3), count=3.0),
        sharing(*[(i, j) for j in range(4) for i in range(j)]),
    ):
        quiet, shown = FakeProcess(FOUR), FakeProcess(FOUR, sharing={30: matrix})
        for process in (quiet, shown):
            run(process, settings=SEATED, policy=policy)
        assert quiet.applied == shown.applied


ASKING = RulePolicy(
    ("llc_misses",),
    {"llc_misses": (1e6,)},
    (Rule((Condition("llc_misses", 1e6, float("inf")),), SPREAD),),
    PACKED,
)
"""A policy that cannot be asked without a PMU."""
BLIND = Settings(blind=True)


def test_where_nothing_can_be_measured_threads_stay_where_the_system_puts_them() -> None:
    process = FakeProcess(FOUR)
    asked: list[Mapping[str, float]] = []
    state = run(process, settings=BLIND, policy=ASKING, asked=asked)
    assert process.applied == []
    assert asked == []
    assert (state.phase, state.samples.start, state.placed.cpus) == (
        "left alone",
        None,
        frozenset(),
    )
    (note,) = state.notes
    assert note.startswith(UNDECIDED + "no counter of the policy's rules can be measured")
    assert "(llc_misses)" in note
    assert "--fallback HINT" in note


def test_a_sample_that_shows_nothing_of_what_is_asked_binds_nobody_for_long() -> None:
    process = FakeProcess(FOUR, turns=120, counters={"page_faults": 1}, gone={3: 60})
    state = run(process, policy=ASKING)
    assert masks(process, -1) == [list(range(16))] * 4  # let go after the sample
    assert len(process.applied) == 2  # and not sampled again when threads have changed
    assert state.phase == "left alone"
    assert "no counter of the policy's rules" in "".join(state.notes)


ON_CYCLES = replace(
    ASKING,
    counters=("llc_misses", "cycles"),
    rules=(*ASKING.rules, Rule((Condition("cycles", 1.0, float("inf")),), SPREAD)),
)
"""Spread by either counter."""


def test_an_answer_that_no_unmeasured_counter_could_change_is_evidence() -> None:
    process = FakeProcess(FOUR, counters={"cycles": 2_000_000})
    state = run(process, policy=ON_CYCLES)
    assert (state.phase, state.placed.hint) == ("placed", PACKED)  # as the decider of `run` says
    assert state.missing == ("llc_misses",)


def test_an_answer_that_an_unmeasured_counter_could_change_binds_nobody() -> None:
    process = FakeProcess(FOUR, counters={"cycles": 0})
    state = run(process, policy=ON_CYCLES)
    assert (state.phase, state.decision) == ("left alone", None)
    assert masks(process, -1) == [list(range(16))] * 4
    (note,) = (line for line in state.notes if line.startswith(UNDECIDED))
    assert "the policy's answer depends on what cannot be measured here (llc_misses): " in note


def test_the_fallback_is_for_an_open_answer_too() -> None:
    process = FakeProcess(FOUR, counters={"cycles": 0})
    state = run(process, settings=Settings(fallback=PACKED), policy=ON_CYCLES)
    assert (state.phase, state.placed.hint, state.decision) == ("placed", PACKED, None)


@pytest.mark.parametrize("policy", [ASKING, None], ids=["blind", "no policy"])
@pytest.mark.parametrize("fallback", [PACKED, SPREAD], ids=str)
def test_the_fallback_places_where_nothing_else_can_decide(
    policy: RulePolicy | None, fallback: Hint
) -> None:
    process = FakeProcess(FOUR)
    settings = replace(BLIND, blind=policy is not None, fallback=fallback)
    state = run(process, settings=settings, policy=policy)
    assert (state.phase, state.placed.hint, state.unasked) == ("placed", fallback, True)
    assert len({tuple(mask) for mask in masks(process)}) == (1 if fallback == PACKED else 4)
    assert state.decision is None
    assert f"placed by the fallback, {fallback.shown}" in state.notes[0]


def test_the_fallback_is_for_a_sample_that_shows_nothing_too() -> None:
    process = FakeProcess(FOUR)
    state = run(process, settings=Settings(fallback=PACKED), policy=ASKING)
    assert (state.phase, state.placed.hint, state.unasked) == ("placed", PACKED, True)


def test_what_is_measured_comes_before_the_fallback() -> None:
    process = FakeProcess(FOUR, counters={"llc_misses": 1})
    state = run(process, settings=Settings(fallback=SPREAD), policy=ASKING)
    assert (state.placed.hint, state.unasked) == (PACKED, False)


def test_without_counters_nobody_is_bound_before_sharing_shows_who_belongs_together() -> None:
    settings = replace(SEATED, blind=True)
    policy = replace(ASKING, default=SPREAD)
    two_caches = frozenset(OsIndex(cpu) for cpu in (0, 1, 4, 5))
    nothing = FakeProcess(FOUR)
    little = FakeProcess(FOUR, sharing={30: sharing((0, 2), count=3.0)})
    all_alike = [(i, j) for j in range(4) for i in range(j)]
    alike = FakeProcess(FOUR, sharing={30: sharing(*all_alike)})
    for process in (nothing, little, alike):
        state = run(process, settings=settings, policy=policy, available=two_caches)
        assert process.applied == []
        assert state.phase == "left alone"
    for pairs in (((0, 2), (1, 3)), ((0, 1), (2, 3))):  # also as they happen to be numbered
        process = FakeProcess(FOUR, sharing={30: sharing(*pairs)})
        state = run(process, settings=settings, policy=policy, available=two_caches)
        assert all(turn > 30 for turn, _ in process.applied)
        caches = caches_at_the_end(process)
        assert all(caches[a] == caches[b] for a, b in pairs)
        assert len(set(caches)) == 2
        assert state.unasked
        assert "threads that share pages are placed together, by page faults" in state.notes


ONE_CACHE = frozenset(map(OsIndex, range(4)))


def test_in_one_cache_it_is_said_once_that_there_is_nothing_to_choose() -> None:
    def noted(process: FakeProcess, **options: Any) -> int:
        return run(process, **options).notes.count(ONE_LLC)

    changing = FakeProcess(FOUR, gone={3: 40}, turns=120)
    assert noted(changing, available=ONE_CACHE) == 1
    assert noted(FakeProcess(FOUR), available=ONE_CACHE, policy=None) == 1
    assert noted(FakeProcess(FOUR), available=ONE_CACHE, policy=ASKING, settings=BLIND) == 1
    assert noted(FakeProcess(FOUR), available=ONE_CACHE | {OsIndex(4)}) == 0
    # A core a thread is something to have in one cache, too.
    assert noted(FakeProcess(FOUR), available=ONE_CACHE, settings=Settings(bind="core")) == 0


def test_where_counters_decide_faults_are_not_looked_at() -> None:
    topology = MACHINE
    for by_sharing in (False, True):
        settings = Settings(by_sharing=by_sharing)
        policy = LivePolicy(
            topology, POLICY, unasked, lambda: topology.allowed, lambda threads: None, settings
        )
        assert bool(policy.sensors.detectors) == by_sharing


def unasked(policy: RulePolicy, sample: Mapping[str, float]) -> Decision:
    raise AssertionError("nothing ran")


def cpus_by_turn(
    process: FakeProcess, later: frozenset[OsIndex], turn: int, **options: Any
) -> LiveState:
    """A run that may use one CPU, and from a turn on these."""
    first = frozenset({OsIndex(0)})
    mechanism = LivePolicy(
        MACHINE,
        POLICY,
        lambda chosen, sample: Decision(chosen.default, None, float("inf"), None),
        lambda: later if process.turn >= turn else first,
        lambda threads: None,
        Settings(**options),
    )
    return run_loop(process, mechanism, mechanism.begin(MACHINE, first, 0), mechanism.period_ns)


def test_a_program_left_alone_for_want_of_cpus_is_looked_at_again_when_there_are_more() -> None:
    process = FakeProcess(dict.fromkeys(range(4), 0), turns=100)
    state = cpus_by_turn(process, MACHINE.allowed, 30)
    assert state.phase == "placed"
    assert all(turn > 30 for turn, _ in process.applied)
    assert sorted(masks(process)) == [[0, 1, 2, 3]] * 4  # packed, as the policy says


def test_a_program_left_alone_stays_so_while_its_cpus_are_the_same() -> None:
    process = FakeProcess(dict.fromkeys(range(4), 0), turns=100)
    state = cpus_by_turn(process, frozenset({OsIndex(0)}), 30)
    assert state.phase == "left alone"
    assert process.applied == []


@pytest.mark.parametrize("every_ns", [100 * MS, 0])
def test_a_placed_program_follows_its_cpus_in_continuous_mode_and_without(every_ns: int) -> None:
    process = FakeProcess(dict.fromkeys(range(4), 0), turns=200)
    allowed = frozenset(map(OsIndex, range(8)))
    first = frozenset(map(OsIndex, range(8, 16)))
    mechanism = LivePolicy(
        MACHINE,
        POLICY,
        lambda chosen, sample: Decision(chosen.default, None, float("inf"), None),
        lambda: allowed if process.turn >= 100 else first,
        lambda threads: None,
        Settings(every_ns=every_ns),
    )
    state = run_loop(process, mechanism, mechanism.begin(MACHINE, first, 0), mechanism.period_ns)
    assert state.phase == "placed"
    assert state.placed.cpus <= allowed


BUSY = {"data_cache_accesses": 5_000_000}


@dataclass
class Generations(FakeProcess):
    """Four threads; others take their place, with the same numbers, at some turns."""

    renewals: frozenset[int] = frozenset()
    at_once: bool = True
    """Whether threads compute in the turn in which they begin."""
    born: int = 0

    def advance(self, duration_ns: int) -> Interval:
        start, self.now = self.now, self.now + duration_ns
        events, begins = [], self.turn == 0 or self.turn in self.renewals
        if begins and self.turn:
            events += [ThreadEvent("end", n, self.born + n, start) for n in range(4)]
        if begins:
            self.born += 100
            events += [ThreadEvent("begin", n, self.born + n, start) for n in range(4)]
        counts = {"task_clock_ns": 0 if begins and not self.at_once else duration_ns}
        samples = tuple(
            CounterSample(
                *(self.born + n, start, self.now),
                {**counts, **self.counters},
                *(duration_ns, duration_ns),
            )
            for n in range(4)
        )
        self.turn += 1
        over = self.turn >= self.turns
        return Interval(start, self.now, samples, tuple(events), ended=over)


@pytest.mark.parametrize("at_once", [True, False])
def test_threads_that_take_the_place_of_others_are_placed_like_them(at_once: bool) -> None:
    """A program that starts threads for each of its phases."""
    phases = frozenset({60, 90})
    process = Generations({}, counters=BUSY, turns=120, renewals=phases, at_once=at_once)
    state = run(process)
    assert (state.phase, state.placed.hint, state.placed.renewed) == ("placed", PACKED, frozenset())
    for phase in phases:
        after = [at for at, (turn, _) in enumerate(process.applied) if 1 <= turn - phase <= 3]
        assert masks(process, after[-1])[:4] == [[0, 1, 2, 3]] * 4


def test_a_sample_begins_again_with_threads_that_take_the_place_of_others() -> None:
    process = Generations({}, counters=BUSY, turns=9, renewals=frozenset({6}))
    state = run(process)
    assert state.restarts == 1
    assert state.notes == ("threads started or ended during the sample: it began again",)


def test_threads_that_others_replace_all_the_time_are_let_go() -> None:
    process = Generations({}, counters=BUSY, turns=60, renewals=frozenset(range(30, 60)))
    state = run(process)
    assert any(note.startswith("let go") for note in state.notes)
    assert masks(process, -1)[:4] == [list(range(16))] * 4
