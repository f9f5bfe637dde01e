"""Placed are the threads that want to run at a time, not those that were promised."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from made_up_machine import machine
from two_looks import two_looks

from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.answer_on_record import AnswerOnRecord
from autofinity.model.counters import CounterSample
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.policy.selector import decide
from autofinity.ports import Action, BindThreads, Interval, Outcome, ThreadEvent
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.demand import Demand
from autofinity.runtime.live_state import LiveState, Settings
from autofinity.runtime.loop import run_loop
from autofinity.runtime.workers import Workers

S = 1_000_000_000
PACKED_UNSEEN = RulePolicy((), {}, (), PACKED)
MACHINE = machine(packages=4, llcs=2, cores=6)
"""48 cores."""


@dataclass
class Program:
    """Threads that want a share of a CPU each; on too few of them they wait in turn."""

    threads: int
    share: Callable[[int, float], float]
    """By thread and seconds since the start."""
    seconds: float = 30.0
    glance: Callable[[float], int] = lambda now_s: 0
    """Threads that can run at this moment; 0: nobody looks."""
    speed: Callable[[frozenset[OsIndex]], float] = lambda cpus: 1.0
    """Instructions a nanosecond of CPU time, by the CPUs that all threads together may use."""
    now: int = 0
    masks: Sequence[frozenset[OsIndex]] = ()
    applied: list[tuple[float, Sequence[frozenset[OsIndex]]]] = field(default_factory=list)

    def advance(self, duration_ns: int) -> Interval:
        start, self.now = self.now, self.now + duration_ns
        wanted = [self.share(n, start / S) * duration_ns for n in range(self.threads)]
        allowed = frozenset().union(*self.masks) if self.masks else MACHINE.allowed
        cpus, speed = len(allowed), self.speed(allowed)
        had = min(1.0, cpus * duration_ns / max(1.0, sum(wanted)))
        samples = tuple(
            CounterSample(
                100 + n,
                start,
                self.now,
                {
                    "task_clock_ns": round(each * had),
                    "run_delay_ns": round(each * (1 - had)),
                    "instructions": round(each * had * speed),
                },
                duration_ns,
                duration_ns,
            )
            for n, each in enumerate(wanted)
        )
        begun = tuple(
            ThreadEvent("begin", n, 100 + n, 0) for n in range(self.threads) if start == 0
        )
        return Interval(
            start,
            self.now,
            samples,
            begun,
            runnable=self.glance(self.now / S),
            ended=self.now >= self.seconds * S,
        )

    def apply(self, actions: Sequence[Action]) -> Outcome:
        for action in actions:
            assert isinstance(action, BindThreads)
            self.masks = action.placement.masks
            self.applied.append((self.now / S, self.masks))
        return Outcome(self.threads, 0)


def run(
    program: Program,
    hint: Hint | None,
    settings: Settings,
    allowed: frozenset[OsIndex] = MACHINE.allowed,
    rules: RulePolicy = PACKED_UNSEEN,
) -> LiveState:
    """With a hint that is known, or under a policy, by default one that says packed without
    looking.
    """
    policy = LivePolicy(
        MACHINE,
        rules,
        decide,
        lambda: allowed,
        lambda threads: AnswerOnRecord(hint) if hint else None,
        settings,
    )
    start = policy.begin(MACHINE, allowed, 0)
    return run_loop(program, policy, start, policy.period_ns)


def cpus_of(program: Program) -> frozenset[OsIndex]:
    return frozenset().union(*program.masks)


def caches_of(cpus: Sequence[OsIndex]) -> frozenset[OsIndex]:
    """All CPUs of the last-level caches that these use."""
    llcs = {MACHINE.by_os_index[cpu].llc for cpu in cpus}
    return frozenset(pu.os_index for pu in MACHINE.pus if pu.llc in llcs)


EIGHT = Settings(threads=8, bind="core")


@pytest.mark.parametrize("hint", [PACKED, SPREAD, None], ids=str)
def test_a_pipeline_of_27_threads_gets_a_core_for_each_that_runs_at_a_time(
    hint: Hint | None,
) -> None:
    pipeline = Program(27, lambda n, now: 0.45)
    state = run(pipeline, hint, EIGHT)  # "with 8 threads": so many were promised
    assert state.phase == "placed"
    assert len(state.placed.threads) == 27
    assert (
        len(state.placed.seats) == state.placed.room == 17
    )  # 27 × 0.45 = 12.15, so 13, and a quarter
    # Nobody has a core of his own, and the caches of the affinity have cores to spare.
    assert set(pipeline.masks) == {caches_of(state.placed.seats)}
    assert state.placed.affinity is not None
    assert state.placed.affinity.threads == 17


def test_a_pipeline_that_always_runs_gets_a_core_for_each_thread() -> None:
    pipeline = Program(27, lambda n, now: 0.97)
    state = run(pipeline, PACKED, EIGHT)
    assert state.placed.room == 27
    assert sorted(map(len, pipeline.masks)) == [1] * 27
    assert len(cpus_of(pipeline)) == 27


def test_of_a_compressor_with_11_threads_8_compute_on_a_core_each_and_helpers_in_their_caches() -> (
    None
):
    compressor = Program(11, lambda n, now: 1.0 if n < 8 else 0.15)
    state = run(compressor, PACKED, EIGHT)
    assert state.placed.room == 10  # 8, and for 3 × 0.15 one, and one to spare
    own, helpers = compressor.masks[:8], compressor.masks[8:]
    assert [len(mask) for mask in own] == [1] * 8
    assert len(frozenset().union(*own)) == 8
    assert set(helpers) == {caches_of(state.placed.seats)}
    assert len(cpus_of(compressor)) == 12


def test_workers_that_nearly_all_run_at_a_time_have_a_core_each() -> None:
    """Two of eight always run, and four to five of the six others."""
    compressor = Program(8, lambda n, now: 1.0 if n < 2 else 0.65)
    assert run(compressor, PACKED, EIGHT).placed.room == 8
    compressor = Program(8, lambda n, now: 1.0 if n < 2 else 0.3)
    assert run(compressor, PACKED, EIGHT).placed.room == 5


def test_on_fewer_cpus_than_take_turns_nobody_has_one_alone() -> None:
    """As many CPUs are not there: seats of some would be taken by the others."""
    two = frozenset(map(OsIndex, (0, 6)))
    pool = Program(4, lambda n, now: 0.45)
    run(pool, PACKED, Settings(bind="core"), two)
    assert set(pool.masks) == {two}


def test_helpers_that_hardly_run_are_not_placed() -> None:
    compressor = Program(11, lambda n, now: 1.0 if n < 8 else 0.01)
    state = run(compressor, PACKED, EIGHT)
    assert state.placed.room == 8
    assert [len(mask) for mask in compressor.masks[:8]] == [1] * 8
    assert set(compressor.masks[8:]) == {MACHINE.allowed}


def test_a_team_that_waits_at_barriers_has_a_core_for_each_thread() -> None:
    team = Program(8, lambda n, now: 0.6)
    assert run(team, PACKED, EIGHT).placed.room == 8
    # Shorter ones: a glance sees them all at it.
    team = Program(8, lambda n, now: 0.3, glance=lambda now: 8 if round(now * 10) % 3 else 1)
    assert run(team, PACKED, EIGHT).placed.room == 8


def test_a_count_that_swings_is_left_room() -> None:
    def share(n: int, now: float) -> float:
        return 0.9 if n < (20 if round(now) // 3 % 2 else 8) else 0.15

    swinging = Program(24, share, seconds=60)
    state = run(swinging, PACKED, EIGHT)
    assert state.placed.room >= 20
    later = [frozenset().union(*masks) for at, masks in swinging.applied if at > 5]
    assert all(len(cpus) >= 20 for cpus in later)
    assert len(swinging.applied) <= 4  # and not moved for each swing


def test_more_threads_that_want_to_run_get_more_cpus_while_cores_are_free() -> None:
    grows = Program(27, lambda n, now: 0.3 if now < 10 else 0.9, seconds=40)
    state = run(grows, PACKED, EIGHT)
    rooms = [len(frozenset().union(*masks)) for _, masks in grows.applied]
    assert rooms[0] == 12  # 27 × 0.3 = 8.1
    assert rooms[-1] == state.placed.room == 27


def test_a_pool_that_needs_few_of_its_threads_gets_less_room_once_that_lasts() -> None:
    shrinks = Program(24, lambda n, now: 0.9 if now < 8 else 0.3, seconds=40)
    state = run(shrinks, PACKED, EIGHT)
    rooms = [len(frozenset().union(*masks)) for _, masks in shrinks.applied]
    assert rooms == [24, 12]  # 24 × 0.3 = 7.2: 10 seats, in the two caches that they need
    assert state.placed.room == 10


def test_fewer_threads_than_are_promised_are_waited_for_and_placed_as_they_are() -> None:
    few = Program(5, lambda n, now: 0.95)
    state = run(few, PACKED, EIGHT)
    assert few.applied[0][0] >= EIGHT.patience_ns / S
    assert (state.placed.room, len(cpus_of(few))) == (5, 5)


def test_more_threads_than_cpus_are_placed_where_no_more_than_there_are_run_at_a_time() -> None:
    many = Program(96, lambda n, now: 0.4)
    state = run(many, PACKED, Settings(bind="core"))
    assert (state.phase, state.placed.room) == ("placed", 48)


def test_looks_are_remembered_for_some_seconds() -> None:
    demand = Demand()
    for count in (9, 3, 3, 3):
        demand = demand.after(dict.fromkeys(range(count), 1.0), 0, S)
    assert demand.most == 9  # four looks are remembered in any case
    demand = demand.after(dict.fromkeys(range(3), 1.0), 0, S)
    assert demand.most == 3
    for _ in range(25):
        demand = demand.after({0: 1.0}, 0, S // 10)
    assert demand.most == 3


def test_ends_of_looks_are_remembered_for_longer_since_many_of_them_find_the_peak() -> None:
    demand = Demand().after(dict.fromkeys(range(9), 0.3), 9, S)
    for _ in range(31):
        demand = demand.after(dict.fromkeys(range(9), 0.3), 2, S)
    assert demand.most == 9
    assert demand.after(dict.fromkeys(range(9), 0.3), 2, S).most == 3  # their mean


def test_threads_are_not_believed_to_take_turns_before_some_looks_are_over() -> None:
    workers, tids = Workers(), range(100, 108)
    rooms = []
    for look in range(10):
        begun = tuple(ThreadEvent("begin", n, t, 0) for n, t in enumerate(tids) if look == 0)
        samples = tuple(
            CounterSample(t, look * S, (look + 1) * S, {"task_clock_ns": 3 * S // 10}, S, S)
            for t in tids
        )
        workers = workers.after(Interval(look * S, (look + 1) * S, samples, begun, runnable=1))
        rooms.append(workers.room)
    assert rooms == [8] * 7 + [4] * 3  # a mean of 2.4 threads, and a quarter to spare


def test_looks_come_faster_where_a_sample_waits_for_ends_of_looks_alone() -> None:
    """Eight ends show who takes turns. The first looks find the end of the set-up, too."""

    def sampled_s(share: float) -> float:
        threads = Program(8, lambda n, now: share, glance=lambda now_s: round(8 * share))
        run(threads, None, EIGHT, rules=two_looks())
        return threads.applied[0][0]

    assert sampled_s(1.0) == pytest.approx(0.2)
    assert sampled_s(0.45) == pytest.approx(0.2 + 6 * 0.05)


@pytest.mark.parametrize("share", [0.2, 0.3])
def test_threads_that_hardly_run_in_a_short_look_are_sampled_all_the_same(share: float) -> None:
    threads = Program(8, lambda n, now: share, glance=lambda now_s: 3)
    assert run(threads, None, EIGHT, rules=two_looks()).phase == "placed"
    assert threads.applied[0][0] < 2.0


def test_looks_at_a_program_that_waits_before_it_is_sampled_get_rare() -> None:
    mechanism = LivePolicy(
        MACHINE, two_looks(), decide, lambda: MACHINE.allowed, lambda threads: None, EIGHT
    )
    state = mechanism.begin(MACHINE, MACHINE.allowed, 0)
    program = Program(8, lambda n, now: 0.45 if now < 0.35 else 0.0, glance=lambda now_s: 3)
    while program.now < 30 * S:
        length_ns = mechanism.period_ns(state)
        state, _ = mechanism.step(state, program.advance(length_ns))
    assert state.phase == "watching"
    assert length_ns == EIGHT.follow_ns


def test_threads_that_take_turns_on_fewer_cpus_are_placed_before_enough_was_seen() -> None:
    cpus = frozenset(list(MACHINE.allowed)[:2])
    turns = Program(4, lambda n, now: 0.25, glance=lambda now_s: 1, seconds=2)
    state = run(turns, PACKED, Settings(threads=4, bind="core"), cpus)
    assert (state.phase, state.placed.room) == ("placed", 2)


def test_a_team_that_meets_at_barriers_keeps_a_core_for_each_thread() -> None:
    """All run at once for an eighth of the time, one by one for the rest; on half of the cores the
    eighth would take twice as long.
    """

    def glance(now_s: float) -> int:
        return 8 if random.Random(round(1e6 * now_s)).random() < 1 / 8 else 1

    team = Program(8, lambda n, now: 0.24, seconds=120, glance=glance)
    assert run(team, PACKED, EIGHT).placed.room == 8
    assert all(len(frozenset().union(*masks)) >= 8 for _, masks in team.applied)


def test_a_glance_counts_no_more_threads_than_compute() -> None:
    assert Demand().after({0: 0.2, 1: 0.2}, 7, S).most == 2
    assert Demand().most == 0


@pytest.mark.parametrize("threads", [0, 16], ids=["seen to appear", "promised"])
@pytest.mark.parametrize("share", [0.42, 0.45, 0.48])
def test_packed_that_is_slower_is_not_chosen_because_fewer_cores_are_known_to_do(
    share: float, threads: int
) -> None:
    """Rates a core rise by 1.6 when 16 threads are known to take turns on 10 cores: within a
    sample such a program looked faster in the second look, whose affinity is packed.
    """

    def speed(cpus: frozenset[OsIndex]) -> float:
        return 0.8 if len({MACHINE.by_os_index[cpu].package for cpu in cpus}) == 1 else 1.0

    pool = Program(16, lambda n, now: share, glance=lambda now: 8, speed=speed)
    state = run(pool, None, Settings(threads=threads), rules=two_looks())
    assert state.phase == "placed"
    assert state.placed.hint == SPREAD
    assert state.samples.asked is not None
    first, second = state.samples.asked
    assert second is not None
    assert second["instructions"] == pytest.approx(0.8 * first["instructions"], rel=1e-3)


def test_rates_of_one_placement_are_for_one_number_of_cores() -> None:
    """Continuous mode: threads that swing between eight and twelve at a time are no other program,
    since they do as much in the same time.
    """
    pool = Program(
        16,
        lambda n, now: 0.45,
        glance=lambda now: 12 if int(now) % 8 < 4 else 8,
    )
    state = run(pool, None, Settings(every_ns=S), rules=two_looks())
    assert not [note for note in state.notes if "has changed" in note]
