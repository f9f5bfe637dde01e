"""A second look at remote pages: when they come along, and what happens to them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_up_machine import machine
from program_with_pages import MACHINE, PAGE_BYTES, POLICY, Program, S

from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.memory import MemoryByNode
from autofinity.model.policy import RulePolicy, Trial
from autofinity.policy.selector import decide
from autofinity.runtime import sampler
from autofinity.runtime.before_after import OF_INSTRUCTIONS, BeforeAfter
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.live_state import LiveState, Settings
from autofinity.runtime.loop import run_loop
from autofinity.runtime.page_rate import TODAYS
from autofinity.runtime.pages_along import FarPages, PagesAlong
from autofinity.runtime.pages_follow import PagesFollow
from autofinity.runtime.phases import Phase


def run(
    program: Program, *, policy: RulePolicy = POLICY, follows: bool = True, **settings: object
) -> LiveState:
    mechanism = LivePolicy(
        MACHINE,
        policy,
        decide,
        lambda: MACHINE.allowed,
        lambda threads: None,
        replace(Settings(threads=4), **settings),  # type: ignore[arg-type]
    )
    mechanism.sees_memory(program.memory)
    start = mechanism.begin(MACHINE, MACHINE.allowed, 4)
    observers = (PagesFollow(program, MACHINE, lambda line: None),) if follows else ()
    return run_loop(program, mechanism, start, mechanism.period_ns, *observers)


def at_home(program: Program) -> bool:
    return program.on == Program(1, 1, pages=program.pages).on


def test_pages_that_turn_the_second_look_round_come_along_a_part_first() -> None:
    program = Program(near=1.25, far=0.75)
    assert Program(near=1.25, far=0.75).speed == 1
    state = run(program)
    assert state.placed.hint == PACKED
    assert set(program.on) == {program.packed_on}
    sizes = [size for _, size in program.moved]
    first_s = program.moved[0][0]
    part = sum(size for at_s, size in program.moved if at_s < first_s + 0.2)
    assert 0.5 * TODAYS.few_bytes < part <= 1.1 * TODAYS.few_bytes
    assert sum(sizes) == program.pages // 2 * PAGE_BYTES
    (note,) = (note for note in state.notes if "in the second look" in note)
    assert note.startswith("1.0 GiB of its memory is on other nodes")


def test_the_second_look_is_taken_with_all_pages_near() -> None:
    state = run(Program(near=1.25, far=0.75))
    assert state.samples.asked is not None
    start, probe = state.samples.asked
    assert probe is not None
    assert probe["instructions"] / start["instructions"] == pytest.approx(1.25, rel=0.01)


def test_pages_that_change_nothing_go_home_after_a_part_of_them() -> None:
    program = Program(near=0.96, far=0.96)
    state = run(program)
    assert state.placed.hint == SPREAD
    assert at_home(program)
    assert 0 < sum(size for _, size in program.moved) <= 2.2 * TODAYS.few_bytes


@pytest.mark.parametrize(
    ("near", "far", "misses_per_s"),
    [
        (0.6, 0.55, 1e7),  # too slow for what twice the latency can make up for
        (1.25, 0.75, 1e4),  # too few misses
    ],
)
def test_no_page_moves_where_that_cannot_turn_the_answer(
    near: float, far: float, misses_per_s: float
) -> None:
    program = Program(near, far, misses_per_s=misses_per_s)
    assert run(program).placed.hint == SPREAD
    assert program.moved == []


def test_pages_stay_where_a_minute_does_not_pay_for_their_move() -> None:
    """Half of 40 GiB moves in 21 s, and a third of the rest is gained at most."""
    program = Program(near=1.3, far=0.75, pages=20 << 10)
    assert run(program).placed.hint == SPREAD
    assert at_home(program)


@pytest.mark.parametrize(("setup_s", "hint"), [(1.0, PACKED), (25.0, SPREAD)])
def test_pages_come_along_only_as_long_as_the_rest_of_a_minute_pays(
    setup_s: float, hint: Hint
) -> None:
    """10 GiB move in 10.5 s, and 40 % more is done in the rest."""
    program = Program(near=1.4, far=0.75, pages=10 << 10, setup_s=setup_s)
    assert run(program).placed.hint == hint
    assert at_home(program) is (hint == SPREAD)


def test_pages_that_may_not_move_change_nothing() -> None:
    program = Program(near=1.25, far=0.75, refuses=True)
    assert run(program).placed.hint == SPREAD
    assert at_home(program)


def test_where_nothing_moves_pages_the_answer_stands() -> None:
    program = Program(near=1.25, far=0.75)
    assert run(program, follows=False).placed.hint == SPREAD


def test_where_the_user_keeps_pages_none_are_asked_for() -> None:
    asked, kept = (
        run(Program(near=1.25, far=0.75), follows=False, keep_pages=keep) for keep in (False, True)
    )
    assert kept.placed.hint == SPREAD
    assert asked.along.tried and not kept.along.tried


@pytest.mark.parametrize("ends_s", [0.6, 0.9, 1.5, 3.0])
def test_a_thread_that_ends_on_the_way_begins_the_sample_again(ends_s: float) -> None:
    program = Program(near=1.25, far=0.75, ends_s=ends_s)
    state = run(program)
    assert state.phase == "placed"
    assert state.placed.hint in (PACKED, SPREAD)
    assert state.along.asked == "none"


def test_phases_that_take_turns_hide_no_gain() -> None:
    program = Program(near=1.25, far=0.75, phases=True)
    state = run(program)
    assert state.phase == "placed"
    assert state.placed.hint == PACKED
    assert set(program.on) == {program.packed_on}


@pytest.mark.parametrize("second_s", [0.7, 0.75, 0.8])
def test_faster_phases_in_the_second_look_hide_no_gain_in_the_one_that_is_compared(
    second_s: float,
) -> None:
    """The first look is over with its phase, and the second sees the end of the next."""
    program = Program(near=1.4, far=0.75, phase_ends_s=(0.4, second_s))
    assert run(program).placed.hint == PACKED
    assert set(program.on) == {program.packed_on}


def test_threads_that_are_not_bound_bring_no_pages() -> None:
    program = Program(near=1.25, far=0.75)
    run(program, bind="none")
    assert program.moved == []


def test_pages_stay_during_a_trial_of_a_hint_that_is_near_them() -> None:
    """Once all have come along: to the hint between packed and spread, on the same socket."""
    trial = replace(POLICY, trial=Trial(Hint.parse("sLP"), 1.01))
    program = Program(near=1.25, far=0.75)
    state = run(program, policy=trial)
    assert any("was tried" in note for note in state.notes)
    assert state.placed.hint == PACKED
    assert sum(size for _, size in program.moved) == program.pages // 2 * PAGE_BYTES


def test_a_trial_sees_near_pages_where_these_will_be_near_anyway() -> None:
    """With half of the pages remote threads are faster with more cache each, with none packed."""
    trial = replace(POLICY, trial=Trial(Hint.parse("sLP"), 1.01))
    program = Program(near=1.6, far=0.9)
    program.own_caches = lambda far: 1.4 if far < 0.1 else 1.3
    assert program.speeds(0.5) is None
    state = run(program, policy=trial)
    assert any("was tried, and is no faster" in note for note in state.notes)
    assert state.placed.hint == PACKED
    assert set(program.on) == {program.packed_on}


def test_pages_that_gain_nothing_come_along_to_no_trial() -> None:
    trial = replace(POLICY, trial=Trial(Hint.parse("sLP"), 1.01))
    program = Program(near=1.2, far=1.2)
    program.own_caches = lambda far: 1.3
    state = run(program, policy=trial, follows=True)
    assert state.placed.hint == Hint.parse("sLP")
    assert sum(size for _, size in program.moved) <= 4 * TODAYS.few_bytes


def test_all_pages_go_home_where_the_look_at_near_pages_says_no() -> None:
    """The part gains what it promises, and all pages gain nothing."""
    program = Program(near=1.25, far=0.75, pages=2048)
    program.speeds = lambda far: 0.94 if far < 0.3 else None
    state = run(program)
    assert state.placed.hint == SPREAD
    assert at_home(program)


@pytest.mark.parametrize(("idles_s", "seconds"), [(0.75, 2.25), (1.8, 5.0)])
def test_pages_go_home_where_the_program_is_let_go(
    idles_s: float, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """During the trial of a part, and after all have come along."""
    monkeypatch.setattr(sampler, "_MOST_APART_NS", S // 2)
    program = Program(near=1.25, far=0.75, idles_s=idles_s, seconds=seconds)
    state = run(program)
    assert state.phase == "left alone"
    assert state.along.asked == "none"
    assert program.moved
    assert at_home(program)


def test_pages_that_the_program_frees_are_none_that_came() -> None:
    program = Program(near=1.25, far=0.75, refuses=True, frees_s=0.8)
    state = run(program)
    assert state.placed.hint == SPREAD
    assert not any("in the second look" in note for note in state.notes)


def test_a_program_without_memory_is_asked_for_none() -> None:
    program = Program(near=1.25, far=0.75, pages=0)
    assert run(program).placed.hint is not None


def test_after_the_first_minute_pages_come_along_to_no_look() -> None:
    """A program that begins to compute after two minutes."""
    program = Program(near=1.25, far=0.75, starts_s=120, seconds=180)
    assert run(program).placed.hint == SPREAD
    assert program.moved == []


def test_memory_is_not_looked_at_where_there_is_one_node() -> None:
    program = Program(near=0.96, far=0.96)
    one = machine(packages=1, llcs=4, cores=4)
    mechanism = LivePolicy(
        one, POLICY, decide, lambda: one.allowed, lambda threads: None, Settings(threads=4)
    )

    def memory() -> MemoryByNode:
        raise AssertionError("looked at")

    mechanism.sees_memory(memory)
    start = mechanism.begin(one, one.allowed, 4)
    assert run_loop(program, mechanism, start, mechanism.period_ns).phase == "placed"


def along(rates: BeforeAfter, came: FarPages) -> PagesAlong:
    """A trial of a part of 2 GiB of 4, after which far pages are those of `came`."""
    return PagesAlong("part", True, None, FarPages(2 << 30, 4 << 30), rates=rates).came(came)


def rated(*phases: Phase, looks: int = 8) -> BeforeAfter:
    rates = OF_INSTRUCTIONS
    for look in range(looks):
        rates = rates.saw_before(1e9, phases[look % len(phases)])
    for look in range(looks):
        rates = rates.saw_after(1.01e9, phases[look % len(phases)])
    return rates


def test_memory_that_the_program_touches_meanwhile_is_no_part_that_came() -> None:
    grown_bytes = 300 << 20
    far_bytes = (2 << 30) - TODAYS.few_bytes
    usual, grown = (
        along(rated(Phase({})), FarPages(far_bytes, total)).gain
        for total in (4 << 30, (4 << 30) + grown_bytes)
    )
    assert usual == grown


def test_a_gain_is_never_without_boundaries() -> None:
    """Four looks at four phases: nothing is known of how rates vary."""
    phases = tuple(Phase({"data_cache_loads": 100.0 * 2**n}) for n in range(4))
    gain = along(rated(*phases, looks=4), FarPages((2 << 30) - TODAYS.few_bytes, 4 << 30)).gain
    assert gain is not None
    assert gain.least <= gain.likely <= gain.most
