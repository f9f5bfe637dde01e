"""A second look at remote pages: when they come along, and what happens to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pytest
from made_up_machine import machine

from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.counters import CounterSample
from autofinity.model.memory import FAR_READS, MOVED_BYTES_PER_S, MemoryByNode
from autofinity.model.policy import Condition, Rule, RulePolicy, SecondLook, Trial, looked_at
from autofinity.model.ratios import GAINS, SPEED_GAIN
from autofinity.model.topology import OsIndex
from autofinity.policy.selector import decide
from autofinity.ports import Action, BindThreads, Interval, MovePages, Outcome, ThreadEvent
from autofinity.runtime import sampler
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.live_state import LiveState, Settings
from autofinity.runtime.loop import run_loop
from autofinity.runtime.pages_along import COME_ALONG_BYTES
from autofinity.runtime.pages_follow import PagesFollow

S = 1_000_000_000
MIB = 1 << 20
PAGE_BYTES = 2 * MIB
MACHINE = machine(packages=2, llcs=2, cores=4)
GAIN = next(ratio for ratio in GAINS if ratio.name == SPEED_GAIN)
FASTER = RulePolicy(
    looked_at(("instructions",)),
    {SPEED_GAIN: (1.0,)},
    (Rule((Condition(SPEED_GAIN, 1.0, float("inf")),), PACKED),),
    SPREAD,
    ratios=(GAIN,),
)
POLICY = RulePolicy(("instructions",), {}, (), SPREAD, second=SecondLook(PACKED, (SPREAD,), FASTER))
"""Packed where that is faster."""


@dataclass
class Program:
    """Four threads, two on each socket, and as much memory on each socket, in large pages."""

    near: float
    """Speed packed, with all pages near, by that in the spread affinity."""
    far: float
    """The same with all pages on the other socket."""
    pages: int = 1024
    seconds: float = 60.0
    misses_per_s: float = 1e7
    refuses: bool = False
    ends_s: float = float("inf")
    """When the last thread ends."""
    phases: bool = False
    """Whether each second half of a second is another phase."""
    idles_s: float = float("inf")
    """When the last thread stops to compute."""
    frees_s: float = float("inf")
    """From when on it frees a remote page each look."""
    starts_s: float = 0.0
    """When it begins to compute."""
    speeds: Callable[[float], float | None] = lambda far: None
    """Speed packed by the share of remote pages, in place of `near` and `far`."""
    own_caches: Callable[[float], float | None] = lambda far: None
    """The same with the threads on all caches of one socket."""
    setup_s: float = 0.0
    """For how long all memory that it touches is new."""
    now_ns: int = 0
    packed_on: int | None = None
    caches: int = 4
    """Caches that have threads."""
    moved: list[tuple[float, int]] = field(default_factory=list)
    """Seconds and bytes of moves of pages."""
    on: list[int] = field(default_factory=list)
    """Node of each page."""

    def __post_init__(self) -> None:
        self.on = [0] * (self.pages // 2) + [1] * (self.pages // 2)

    def advance(self, duration_ns: int) -> Interval:
        start, self.now_ns = self.now_ns, self.now_ns + duration_ns
        speed = self.speed
        if start >= self.frees_s * S and 1 in self.on:
            self.on.remove(1)
        other = self.phases and start * 2 // S % 2
        rates = {
            "instructions": speed * (0.5e9 if other else 1e9),
            "data_cache_loads": speed * 2e8,
            FAR_READS: speed * self.misses_per_s,
            "page_faults": 1e5 if start < self.setup_s * S else 0.0,
        }
        threads = range(4 if start < self.ends_s * S else 3)
        samples = tuple(
            CounterSample(
                100 + n,
                start,
                self.now_ns,
                {
                    **{name: round(rate * duration_ns / S) for name, rate in rates.items()},
                    "task_clock_ns": 0 if self.rests(n, start) else duration_ns,
                },
                duration_ns,
                duration_ns,
            )
            for n in threads
        )
        events = [ThreadEvent("begin", n, 100 + n, 0) for n in threads if start == 0]
        if start < self.ends_s * S <= self.now_ns:
            events.append(ThreadEvent("end", 3, 103, round(self.ends_s * S)))
        return Interval(
            start,
            self.now_ns,
            samples,
            tuple(events),
            progress=float("nan"),
            ended=self.now_ns >= self.seconds * S,
            cpus=tuple(map(OsIndex, (0, 4, 8, 12))),
        )

    def rests(self, number: int, at_ns: int) -> bool:
        return at_ns < self.starts_s * S or (number == 3 and at_ns >= self.idles_s * S)

    @property
    def speed(self) -> float:
        """Reads take as much longer as pages are remote."""
        if self.packed_on is None:
            return 1.0
        far = 1 - self.on.count(self.packed_on) / max(1, len(self.on))
        known = self.speeds(far) if self.caches == 1 else self.own_caches(far)
        if known is None:
            known = self.speeds(far)
        if known is not None:
            return known
        return 1 / (far / self.far + (1 - far) / self.near)

    def apply(self, actions: Sequence[Action]) -> Outcome:
        (action,) = actions
        if isinstance(action, BindThreads):
            cpus = {cpu for mask in action.placement.masks for cpu in mask}
            self.caches = len({cpu // 4 for cpu in cpus})
            nodes = {cpu // 8 for cpu in cpus}
            self.packed_on = nodes.pop() if len(nodes) == 1 else None
            return Outcome(4, 0)
        assert isinstance(action, MovePages)
        if self.refuses:
            return Outcome(0, len(action.pages), ("EPERM",))
        for page, node in zip(action.pages, action.nodes, strict=True):
            self.on[page] = node
        moved_bytes = len(action.pages) * PAGE_BYTES
        self.moved.append((self.now_ns / S, moved_bytes))
        self.now_ns += round(moved_bytes / MOVED_BYTES_PER_S * S)
        return Outcome(len(action.pages), 0)

    def memory(self) -> MemoryByNode:
        return MemoryByNode((PAGE_BYTES * self.on.count(0), PAGE_BYTES * self.on.count(1)))

    def pages_on(self, node: int) -> Iterator[Sequence[int]]:
        found = [page for page, on in enumerate(self.on) if on == node]
        for at in range(0, len(found), 2):
            yield found[at : at + 2]


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
    assert state.hint == PACKED
    assert set(program.on) == {program.packed_on}
    sizes = [size for _, size in program.moved]
    first_s = program.moved[0][0]
    part = sum(size for at_s, size in program.moved if at_s < first_s + 0.2)
    assert 0.5 * COME_ALONG_BYTES < part <= 1.1 * COME_ALONG_BYTES
    assert sum(sizes) == program.pages // 2 * PAGE_BYTES
    (note,) = (note for note in state.notes if "in the second look" in note)
    assert note.startswith("1.0 GiB of its memory is on other nodes")


def test_the_second_look_is_taken_with_all_pages_near() -> None:
    state = run(Program(near=1.25, far=0.75))
    assert state.asked is not None
    start, probe = state.asked
    assert probe is not None
    assert probe["instructions"] / start["instructions"] == pytest.approx(1.25, rel=0.01)


def test_pages_that_change_nothing_go_home_after_a_part_of_them() -> None:
    program = Program(near=0.96, far=0.96)
    state = run(program)
    assert state.hint == SPREAD
    assert at_home(program)
    assert 0 < sum(size for _, size in program.moved) <= 2.2 * COME_ALONG_BYTES


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
    assert run(program).hint == SPREAD
    assert program.moved == []


def test_pages_stay_where_a_minute_does_not_pay_for_their_move() -> None:
    """Half of 16 GiB moves in 21 s, and a third of the rest is gained at most."""
    program = Program(near=1.3, far=0.75, pages=8 << 10)
    assert run(program).hint == SPREAD
    assert at_home(program)


@pytest.mark.parametrize(("setup_s", "hint"), [(1.0, PACKED), (25.0, SPREAD)])
def test_pages_come_along_only_as_long_as_the_rest_of_a_minute_pays(
    setup_s: float, hint: Hint
) -> None:
    """4 GiB move in 10.5 s, and 40 % more is done in the rest."""
    program = Program(near=1.4, far=0.75, pages=4 << 10, setup_s=setup_s)
    assert run(program).hint == hint
    assert at_home(program) is (hint == SPREAD)


def test_pages_that_may_not_move_change_nothing() -> None:
    program = Program(near=1.25, far=0.75, refuses=True)
    assert run(program).hint == SPREAD
    assert at_home(program)


def test_where_nothing_moves_pages_the_answer_stands() -> None:
    program = Program(near=1.25, far=0.75)
    assert run(program, follows=False).hint == SPREAD


@pytest.mark.parametrize("ends_s", [0.6, 0.9, 1.5, 3.0])
def test_a_thread_that_ends_on_the_way_begins_the_sample_again(ends_s: float) -> None:
    program = Program(near=1.25, far=0.75, ends_s=ends_s)
    state = run(program)
    assert state.phase == "placed"
    assert state.hint in (PACKED, SPREAD)
    assert state.along.asked == "none"


def test_phases_that_take_turns_hide_no_gain() -> None:
    program = Program(near=1.25, far=0.75, phases=True)
    state = run(program)
    assert state.phase == "placed"
    assert state.hint == PACKED
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
    assert state.hint == PACKED
    assert sum(size for _, size in program.moved) == program.pages // 2 * PAGE_BYTES


def test_a_trial_sees_near_pages_where_these_will_be_near_anyway() -> None:
    """With half of the pages remote threads are faster with more cache each, with none packed."""
    trial = replace(POLICY, trial=Trial(Hint.parse("sLP"), 1.01))
    program = Program(near=1.6, far=0.9)
    program.own_caches = lambda far: 1.4 if far < 0.1 else 1.3
    assert program.speeds(0.5) is None
    state = run(program, policy=trial)
    assert any("was tried, and is no faster" in note for note in state.notes)
    assert state.hint == PACKED
    assert set(program.on) == {program.packed_on}


def test_pages_that_gain_nothing_come_along_to_no_trial() -> None:
    trial = replace(POLICY, trial=Trial(Hint.parse("sLP"), 1.01))
    program = Program(near=1.2, far=1.2)
    program.own_caches = lambda far: 1.3
    state = run(program, policy=trial, follows=True)
    assert state.hint == Hint.parse("sLP")
    assert sum(size for _, size in program.moved) <= 4 * COME_ALONG_BYTES


def test_all_pages_go_home_where_the_look_at_near_pages_says_no() -> None:
    """The part gains what it promises, and all pages gain nothing."""
    program = Program(near=1.25, far=0.75, pages=2048)
    program.speeds = lambda far: 0.94 if far < 0.3 else None
    state = run(program)
    assert state.hint == SPREAD
    assert at_home(program)


@pytest.mark.parametrize(("idles_s", "seconds"), [(0.75, 2.25), (3.3, 8.0)])
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
    assert state.hint == SPREAD
    assert not any("in the second look" in note for note in state.notes)


def test_a_program_without_memory_is_asked_for_none() -> None:
    program = Program(near=1.25, far=0.75, pages=0)
    assert run(program).hint is not None


def test_after_the_first_minute_pages_come_along_to_no_look() -> None:
    """A program that begins to compute after two minutes."""
    program = Program(near=1.25, far=0.75, starts_s=120, seconds=180)
    assert run(program).hint == SPREAD
    assert program.moved == []
