"""Continuous mode: a program that changes is sampled again, one that does not is left in peace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from made_up_machine import machine

from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.counters import Behaviour, CounterSample
from autofinity.model.policy import Decision, RulePolicy
from autofinity.model.topology import Cache
from autofinity.ports import Action, BindThreads, Interval, Outcome, ThreadEvent
from autofinity.runtime.continuous import Watch, decisive, look_cost_ns
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.live_state import LiveState, Settings
from autofinity.runtime.loop import run_loop

S = 1_000_000_000
MISSES = "llc_misses"
POLICY = RulePolicy((MISSES,), {}, (), PACKED)


MACHINE = machine(packages=2, caches=(Cache(3, 10_000_000, 64, 16, 4),))


@dataclass
class Changing:
    """Two threads whose misses a second are a function of the time in seconds."""

    misses_per_s: Callable[[float], float]
    seconds: int = 60
    counter: str = MISSES
    waits_s: tuple[float, float] = (0.0, 0.0)
    """When the threads begin and end to wait for input."""
    now: int = 0
    applied: list[tuple[int, Sequence[Action]]] = field(default_factory=list)

    def advance(self, duration_ns: int) -> Interval:
        start, self.now = self.now, self.now + duration_ns
        events = [ThreadEvent("begin", n, 100 + n, 0) for n in (0, 1) if start == 0]
        count = round(self.misses_per_s(start / S) * duration_ns / S)
        counts = {"task_clock_ns": duration_ns, self.counter: count}
        begin_s, end_s = self.waits_s
        if begin_s <= start / S < end_s:
            counts = dict.fromkeys(counts, 0)
        samples = tuple(
            CounterSample(100 + n, start, self.now, counts, duration_ns, duration_ns)
            for n in (0, 1)
        )
        return Interval(start, self.now, samples, tuple(events), ended=self.now > self.seconds * S)

    def apply(self, actions: Sequence[Action]) -> Outcome:
        self.applied.append((self.now, actions))
        return Outcome(2, 0)

    def spread_at_s(self) -> list[float]:
        """When the two threads were put into two caches."""
        found = []
        for now, actions in self.applied:
            for action in actions:
                assert isinstance(action, BindThreads)
                if len(set(action.placement.masks)) == 2:
                    found.append(now / S)
        return found


def watched(program: Changing, *, margin: float = float("inf"), every_s: int = 1) -> LiveState:
    """Packed where there are many misses, spread where there are few."""

    def decide(policy: RulePolicy, sample: Mapping[str, float]) -> Decision:
        del policy
        return Decision(PACKED if sample[MISSES] > 1e6 else SPREAD, None, margin, None)

    topology = MACHINE
    mechanism = LivePolicy(
        topology,
        POLICY,
        decide,
        lambda: topology.allowed,
        lambda threads: None,
        Settings(every_ns=every_s * S),
    )
    start = mechanism.begin(topology, topology.allowed, 2)
    return run_loop(program, mechanism, start, mechanism.period_ns)


def test_a_program_that_changes_is_sampled_anew_and_placed_by_the_new_answer() -> None:
    program = Changing(lambda second: 5e6 if second < 30 else 2e5)
    state = watched(program)
    assert state.placed.hint == SPREAD
    first, *later = program.spread_at_s()
    assert first < 2
    assert 31 <= later[0] <= 36
    assert any(note.startswith("the program has changed (llc_misses -96%)") for note in state.notes)


def test_an_event_that_begins_or_ends_is_a_change_and_a_rare_one_is_none() -> None:
    for before, after, changes in ((0.0, 5e6, 1), (5e6, 0.0, 1), (0.0, 5e3, 0)):
        program = Changing(lambda second, a=before, b=after: a if second < 30 else b)
        notes = [note for note in watched(program).notes if "the program has changed" in note]
        assert len(notes) == changes


def test_a_steady_program_is_sampled_once() -> None:
    for noise in (0.0, 0.2):
        program = Changing(lambda second, noise=noise: 5e6 * (1 + noise * (int(second) % 2)))
        state = watched(program)
        assert state.placed.hint == PACKED
        assert len(program.spread_at_s()) == 1


def test_without_continuous_mode_a_change_changes_nothing() -> None:
    program = Changing(lambda second: 5e6 if second < 30 else 2e5)
    assert watched(program, every_s=0).placed.hint == PACKED
    assert len(program.spread_at_s()) == 1


def test_an_answer_that_is_nearly_a_tie_moves_nobody() -> None:
    program = Changing(lambda second: 5e6 if second < 30 else 2e5)
    state = watched(program, margin=0.01)
    assert state.placed.hint == PACKED
    assert "spread (SLP) is nearly a tie: packed (slp) stays" in state.notes


def test_a_program_that_waits_has_not_changed() -> None:
    program = Changing(lambda second: 5e6, waits_s=(20.0, 50.0))
    state = watched(program)
    assert (state.phase, state.placed.hint) == ("placed", PACKED)
    assert len(program.spread_at_s()) == 1


def test_a_change_while_a_program_waits_is_seen_afterwards() -> None:
    program = Changing(lambda second: 5e6 if second < 30 else 2e5, waits_s=(20.0, 40.0))
    assert watched(program).placed.hint == SPREAD
    _, again, *_ = program.spread_at_s()
    assert 40 < again < 46


def test_a_program_that_waits_while_it_is_sampled_again_gets_its_former_placement_back() -> None:
    program = Changing(lambda second: 5e6 if second < 30 else 2e5, waits_s=(32.7, 50.0), seconds=49)
    state = watched(program)
    assert (state.phase, state.placed.hint) == ("placed", PACKED)
    note = "its threads were not all at work when it was sampled again: packed (slp), as before"
    assert note in state.notes


def test_a_program_that_flickers_is_not_followed_for_more_than_it_costs() -> None:
    program = Changing(lambda second: 5e6 if int(second) % 6 < 3 else 2e5, seconds=120)
    watched(program)
    cost_s = look_cost_ns(MACHINE, 2, S) / 1e9
    spread = program.spread_at_s()
    assert len(spread) * cost_s <= 0.05 * 120 + cost_s


def test_what_nothing_can_be_told_of_is_followed_only() -> None:
    program = Changing(lambda second: 5e6 if second < 30 else 2e5, counter="context_switches")
    state = watched(program)
    assert max(program.spread_at_s()) < 2
    assert any("only its threads are watched" in note for note in state.notes)


def test_a_look_again_costs_two_refills_and_a_slower_sample() -> None:
    two_refills_ns = 2 * 5_000_000 / 5e9 * 1e9  # half a cache for each of two threads
    assert look_cost_ns(MACHINE, 2, 0) == pytest.approx(two_refills_ns)
    assert look_cost_ns(MACHINE, 2, S) == pytest.approx(two_refills_ns + 0.2 * S)


def test_rare_events_and_what_was_not_measured_are_no_change() -> None:
    watch = Watch()
    for rate in (1.0, 10.0, 9_000.0, float("nan")):
        watch = watch.after(Behaviour({MISSES: rate}), S, [MISSES])
    assert watch.deviating == 0
    assert decisive(float("nan")) and decisive(0.05) and not decisive(0.04)
