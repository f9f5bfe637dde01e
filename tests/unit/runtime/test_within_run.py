"""Decided within the run: after the set-up, by as many looks as needed, over the same phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isnan
from pathlib import Path

import pytest
from made_up_machine import machine
from told_looks import at_phase

from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.answer_on_record import AnswerOnRecord, SeatOrder
from autofinity.model.counters import Behaviour, CounterSample
from autofinity.model.policy import (
    Condition,
    Decision,
    Rule,
    RulePolicy,
    SecondLook,
    Trial,
    looked_at,
)
from autofinity.model.ratios import GAINS, SPEED_GAIN
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.selector import decide
from autofinity.ports import Action, BindThreads, Interval, Outcome, ThreadEvent
from autofinity.runtime import sampler
from autofinity.runtime.answer import Answer
from autofinity.runtime.decider import ORDER_ON_RECORD, STILL_GROWING, LivePolicy
from autofinity.runtime.journal import Journal
from autofinity.runtime.live_state import LiveState, Settings
from autofinity.runtime.looking import SHARE
from autofinity.runtime.loop import Observer, run_loop
from autofinity.runtime.orders import Orders
from autofinity.runtime.run_header import RunHeader
from autofinity.runtime.sampler import ANOTHER_PHASE, WITHIN_SCATTER
from autofinity.runtime.sampling import Sampling
from autofinity.runtime.seat_order import SHOWN
from autofinity.runtime.trying import NEIGHBOURS, Trying
from autofinity.runtime.undecided import NOT_AT_WORK
from autofinity.store.behaviour_db import BehaviourDB

S = 1_000_000_000
LOOK_S = Settings().sample_ns / Settings().parts / S
SETTLE_S = Settings().settle_ns / S
MACHINE = machine(packages=2, llcs=2, cores=4)
SORTING, MERGING = at_phase(4, loads=0.135), at_phase(35, loads=0.118)
HEAVY = Condition("llc_requests", 2e7, float("inf"))
ONE_LOOK = RulePolicy(
    ("llc_requests",), {"llc_requests": (2e7,)}, (Rule((HEAVY,), PACKED),), SPREAD
)
"""Packed for whoever asks much of the LLC."""
GAIN = next(ratio for ratio in GAINS if ratio.name == SPEED_GAIN)
FASTER = RulePolicy(
    looked_at(("llc_requests", "instructions")),
    {SPEED_GAIN: (1.0,)},
    (Rule((Condition(SPEED_GAIN, 1.0, float("inf")),), PACKED),),
    SPREAD,
    ratios=(GAIN,),
)
TWO_LOOKS = replace(
    ONE_LOOK,
    counters=("llc_requests", "instructions"),
    second=SecondLook(PACKED, (PACKED,), FASTER),
)
"""And only where that made it faster."""

BETWEEN = Hint.parse("sLP")
THREE_LOOKS = replace(TWO_LOOKS, trial=Trial(BETWEEN, 1.01))
"""And a hint between the two, where both were about as fast."""

type Rates = Callable[[float, bool], Mapping[str, float]]
"""By seconds since the start, and whether the threads are packed: rates per thread."""


@dataclass
class Program:
    """Four threads."""

    rates: Rates
    seconds: float = 60.0
    setup_s: float = 0.0
    """For how long all memory that it touches is new."""
    rests: Callable[[int, float], bool] = lambda number, second: False
    """Whether a thread does not run at a time, in seconds."""
    progress_per_s: Callable[[bool], float] | None = None
    cpus: tuple[int, ...] = ()
    now: int = 0
    progress: float = 0.0
    packed: bool = False
    applied: list[tuple[float, bool, tuple[frozenset[OsIndex], ...]]] = field(default_factory=list)
    counted: frozenset[str] = frozenset()
    """Counters that the mechanism asks for: no others are measured."""
    ends: Mapping[int, float] = field(default_factory=dict)
    """Second in which a thread ends."""
    parts: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    """Work of each thread, by that of the mean one."""

    def advance(self, duration_ns: int) -> Interval:
        start, self.now = self.now, self.now + duration_ns
        rates = dict(self.rates(start / S, self.packed))
        rates["page_faults"] = 1e5 if start / S < self.setup_s else 0.0
        samples = tuple(
            CounterSample(
                100 + n,
                start,
                self.now,
                {
                    **{
                        name: round(rate * self.parts[n] * duration_ns / S)
                        for name, rate in rates.items()
                        if name in self.counted
                    },
                    "task_clock_ns": 0 if self.rests(n, start / S) else duration_ns,
                },
                duration_ns,
                duration_ns,
            )
            for n in range(4)
            if start / S < self.ends.get(n, self.seconds)
        )
        if self.progress_per_s:
            self.progress += self.progress_per_s(self.packed) * duration_ns / S
        events = [ThreadEvent("begin", n, 100 + n, 0) for n in range(4) if start == 0]
        for n, second in self.ends.items():
            if start <= second * S < self.now:
                events.append(ThreadEvent("end", n, 100 + n, round(second * S)))
        return Interval(
            start,
            self.now,
            samples,
            tuple(events),
            progress=self.progress if self.progress_per_s else float("nan"),
            ended=self.now >= self.seconds * S,
            cpus=tuple(map(OsIndex, self.cpus)),
        )

    def apply(self, actions: Sequence[Action]) -> Outcome:
        for action in actions:
            assert isinstance(action, BindThreads)
            masks = action.placement.masks
            self.packed = len({frozenset(cpu // 4 for cpu in mask) for mask in masks}) == 1
            self.applied.append((self.now / S, self.packed, masks))
        return Outcome(4, 0)

    @property
    def moves(self) -> list[bool]:
        """Whether they were packed, after each placement."""
        return [packed for _, packed, _ in self.applied]


def run(
    program: Program,
    policy: RulePolicy = ONE_LOOK,
    *observers: Observer[LiveState],
    known: Callable[[int], AnswerOnRecord | None] = lambda threads: None,
    available: Callable[[], frozenset[OsIndex]] | None = None,
    on: Topology = MACHINE,
    **settings: object,
) -> LiveState:
    mechanism = LivePolicy(
        on,
        policy,
        decide,
        available or (lambda: on.allowed),
        known,
        replace(Settings(threads=4), **settings),  # type: ignore[arg-type]
    )
    program.counted = frozenset(mechanism.sensors.counters)
    start = mechanism.begin(on, on.allowed, 4)
    return run_loop(program, mechanism, start, mechanism.period_ns, *observers)


def steadily(rates: Mapping[str, float]) -> Rates:
    return lambda second, packed: rates


@pytest.mark.parametrize("setup_s", [0.0, 0.5, 3.0, 20.0])
def test_nothing_is_decided_while_a_program_still_initialises(setup_s: float) -> None:
    """The sorter: what it does while it touches its memory would say spread."""
    program = Program(lambda s, packed: SORTING if s < setup_s else MERGING, setup_s=setup_s)
    state = run(program)
    assert state.placed.hint == PACKED
    first_s = program.applied[0][0]
    # Looks come a twentieth of what was waited so far apart.
    assert setup_s < first_s <= 1.15 * setup_s + 0.3


def test_a_program_that_grows_for_ever_is_sampled_all_the_same_and_that_is_said() -> None:
    program = Program(steadily(MERGING), setup_s=1e9)
    state = run(program)
    assert 30 <= program.applied[0][0] <= 32
    assert STILL_GROWING in state.notes
    assert state.placed.hint == PACKED


def test_a_set_up_that_was_longer_than_was_waited_for_is_sampled_again_at_its_end() -> None:
    program = Program(lambda s, packed: SORTING if s < 40 else MERGING, setup_s=40, seconds=80)
    state = run(program)
    assert state.placed.hint == PACKED
    assert program.moves[-1] and not any(program.moves[:-1])
    assert program.applied[-1][0] < 45
    assert "its memory no longer grows: sampled again" in state.notes


def test_a_clear_answer_comes_from_a_fifth_of_a_second() -> None:
    program = Program(steadily(MERGING))
    run(program)
    spread_s, packed_s = (at_s for at_s, _, _ in program.applied)
    sampled_s = packed_s - spread_s - SETTLE_S
    assert sampled_s == pytest.approx(0.2)
    assert sampled_s == pytest.approx(4 * LOOK_S)


def test_a_sample_is_repeated_while_its_margin_is_within_its_own_scatter() -> None:
    """Rates to both sides of the boundary, by turns: 15 % above it on the whole."""

    def noisy(second: float, packed: bool) -> Mapping[str, float]:
        high = int(second / LOOK_S) % 2
        return at_phase(23 * (1.3 if high else 0.7))

    program = Program(noisy)
    state = run(program)
    spread_s, packed_s = (at_s for at_s, _, _ in program.applied)
    assert packed_s - spread_s > 0.5
    assert state.placed.hint == PACKED


def test_a_tie_is_not_looked_at_for_ever_and_is_called_one() -> None:
    program = Program(lambda s, packed: at_phase(20 + (8 if int(s / LOOK_S) % 2 else -8)))
    state = run(program)
    assert WITHIN_SCATTER in state.notes
    assert state.phase == "placed"
    sampled_s = sum(at_s for at_s, _, _ in program.applied[1:2]) - program.applied[0][0]
    assert sampled_s <= 2.25


def phases(second: float, packed: bool) -> Mapping[str, float]:
    """Packing makes both phases a fifth faster; the second one is three times slower anyway."""
    gain = 1.2 if packed else 1.0
    if second < 0.44:
        return at_phase(25, loads=0.135, speed=3e9 * gain)
    return at_phase(35, loads=0.118, speed=1e9 * gain)


def test_a_second_look_at_another_phase_does_not_count_and_the_first_is_taken_again() -> None:
    program = Program(phases)
    state = run(program, TWO_LOOKS)
    assert state.placed.hint == PACKED
    assert program.moves == [False, True, False, True]  # sampled, looked twice, sampled, answer
    assert ANOTHER_PHASE not in state.notes
    assert state.samples.asked is not None
    start, probe = state.samples.asked
    assert probe is not None
    assert probe["instructions"] / start["instructions"] == pytest.approx(1.2, rel=0.01)


def trying(packed: float, apart: float, shared: float = 0.0) -> tuple[Program, LiveState]:
    """A program whose threads are so much faster packed, and on own caches of one socket, and get
    that share of their lines from each other.
    """

    def rates(second: float, is_packed: bool) -> Mapping[str, float]:
        del second
        masks = program.applied[-1][2] if program.applied else ()
        caches = {cpu // 4 for mask in masks for cpu in mask}
        speed = packed if is_packed else apart if caches == {0, 1} else 1.0
        lines = dict(zip(NEIGHBOURS, (shared * 1e7, 1e7), strict=True))
        return {"llc_requests": 4e7 * speed, "instructions": 1e9 * speed, **lines}

    program = Program(rates)
    return program, run(program, THREE_LOOKS)


@pytest.mark.parametrize(
    ("packed", "apart", "hint"),
    [
        *((1.2, 1.4, BETWEEN), (1.2, 1.1, PACKED), (0.9, 1.2, BETWEEN), (0.9, 1.005, SPREAD)),
        *((3.0, 9.0, BETWEEN), (0.5, 1.2, BETWEEN)),
    ],
)
def test_a_hint_between_is_tried_after_both_looks(packed: float, apart: float, hint: Hint) -> None:
    program, state = trying(packed, apart)
    assert state.placed.hint == hint
    assert program.moves[:3] == [False, True, False]
    assert any(note.startswith(f"{BETWEEN.shown} was tried") for note in state.notes)
    assert state.samples.asked is not None and state.samples.asked[1] is not None
    assert state.samples.asked[1]["instructions"] / state.samples.asked[0][
        "instructions"
    ] == pytest.approx(packed)


def test_threads_that_gain_by_the_lines_of_one_cache_are_not_parted_for_a_trial() -> None:
    for packed, shared, tried in ((1.6, 0.8, False), (1.4, 0.8, True), (1.6, 0.4, True)):
        program, state = trying(packed, apart=1.3, shared=shared)
        assert state.placed.hint == PACKED
        assert program.moves == [False, True, *([False] if tried else []), True]


def test_no_hint_is_tried_that_is_lost_with_all_that_it_gains_on_the_fullest_cache() -> None:
    """Four threads share a cache packed, and two in the hint between: twice as much for each."""
    for packed, tried in ((0.3, False), (0.32, True)):
        program, state = trying(packed, apart=1.2)
        assert state.placed.hint == (BETWEEN if tried else SPREAD)
        assert program.moves == [False, True, *([False] if tried else []), False]
        assert any(BETWEEN.shown in note for note in state.notes) is tried


UNSEEN = Hint.parse("SlP")
SAYS_UNSEEN = replace(
    TWO_LOOKS, second=SecondLook(PACKED, (PACKED,), replace(FASTER, rules=(), default=UNSEEN))
)
"""An answer in whose affinity no look was taken: two threads on a cache of each socket."""


@pytest.mark.parametrize(
    ("packed", "unseen", "hint"),
    [
        *((1.2, 1.1, PACKED), (1.2, 1.4, UNSEEN), (1.2, 1.205, PACKED)),
        *((0.9, 0.8, UNSEEN), (0.9, 1.1, UNSEEN)),
    ],
)
@pytest.mark.parametrize(
    "trial",
    [None, Trial(BETWEEN, 1.01), Trial(UNSEEN, 1.01)],
    ids=["alone", "after a trial", "for a trial"],
)
def test_an_answer_without_a_look_is_looked_at_and_not_kept_where_a_look_was_faster(
    packed: float, unseen: float, hint: Hint, trial: Trial | None
) -> None:
    program, state = saying_unseen(packed, lambda second: unseen, trial)
    assert state.placed.hint == hint
    looked_at = [False, True, *([False] if trial and trial.hint == BETWEEN else [])]
    checked = [] if packed < 1 else [False]
    assert program.moves == [*looked_at, *checked, hint == PACKED]
    tried = (
        f"{UNSEEN.shown}, the answer of the rules, was tried, and is no faster than {hint.shown}"
    )
    assert (tried in state.notes) == (hint != UNSEEN)


def saying_unseen(
    packed: float, unseen: Callable[[float], float], trial: Trial | None = None
) -> tuple[Program, LiveState]:
    """A program with these speeds, under the policy that says `UNSEEN`."""

    def rates(second: float, is_packed: bool) -> Mapping[str, float]:
        masks = program.applied[-1][2] if program.applied else ()
        caches = {cpu // 4 for mask in masks for cpu in mask}
        speed = packed if is_packed else unseen(second) if caches == {0, 2} else 1.0
        return {"llc_requests": 4e7 * speed, "instructions": 1e9 * speed}

    program = Program(rates)
    return program, run(program, replace(SAYS_UNSEEN, trial=trial))


def test_an_answer_without_a_look_stands_where_noise_hides_whether_it_is_faster() -> None:
    _, state = saying_unseen(1.2, lambda second: 1.6 if int(second / LOOK_S) % 2 else 0.9)
    assert state.placed.hint == UNSEEN
    tried = f"{UNSEEN.shown}, the answer of the rules, was tried: noise hides whether it is faster"
    assert tried in state.notes


def test_a_trial_whose_counters_vanish_has_measured_nothing_and_the_answer_stands() -> None:
    """As where another user takes the PMU once threads have moved for the trial."""

    def counted_until(moves: int, program: Program) -> Program:
        rates = program.rates
        program.rates = lambda second, packed: (
            rates(second, packed) if len(program.applied) < moves else {}
        )
        return program

    fast_packed: Rates = lambda second, packed: {  # noqa: E731
        "llc_requests": 4e7 * (1.2 if packed else 1.0),
        "instructions": 1e9 * (1.2 if packed else 1.0),
    }
    for program, policy, answer, what in (
        (Program(fast_packed), THREE_LOOKS, PACKED, BETWEEN.shown),
        (Program(fast_packed), SAYS_UNSEEN, UNSEEN, UNSEEN.shown),
        (sharing_by_socket(1.3), WITH_SPEED, SPREAD, SHOWN["by number"]),
    ):
        moves = 2 if policy is WITH_SPEED else 3
        state = run(counted_until(moves, program), policy, bind="core")
        assert state.placed.hint == answer
        assert state.notes == (f"{what} was tried, and its speed could not be measured",)
        assert state.order.now == "near home"


WITH_SPEED = replace(ONE_LOOK, counters=("llc_requests", "instructions"))
APART = (0, 8, 4, 12)
"""Where the system put four threads: each has a cache, and no neighbour by number on its socket."""


def spread_by_the_system(
    side_by_side: float, *observers: Observer[LiveState], shared: float = 0.9, **settings: object
) -> tuple[Program, LiveState]:
    """A program that is so much faster where threads 0 and 1, and 2 and 3, share a socket, and has
    such a share of its lines from other caches.
    """
    program = sharing_by_socket(side_by_side, shared)
    return program, run(program, WITH_SPEED, *observers, bind="core", **settings)


def sharing_by_socket(side_by_side: float, shared: float = 0.9) -> Program:
    """The program alone."""

    def rates(second: float, packed: bool) -> Mapping[str, float]:
        del second, packed
        masks = program.applied[-1][2] if program.applied else ()
        sockets = [min(mask) // 8 for mask in masks]
        speed = side_by_side if sockets == [0, 0, 1, 1] else 1.0
        return {
            "llc_requests": 1e6 * speed,
            "instructions": 1e9 * speed,
            "cache_to_cache_transfers_other_llc": 1e5 * shared * speed,
            "llc_misses": 1e5 * speed,
        }

    program = Program(rates, cpus=APART)
    return program


def test_threads_whose_neighbours_share_sit_in_the_order_of_their_numbers() -> None:
    program, state = spread_by_the_system(1.3)
    assert state.placed.hint == SPREAD
    assert [min(mask) for mask in program.applied[-1][2]] == [0, 4, 8, 12]
    assert "the order of threads by number was tried, and is faster: threads stay" in state.notes


@pytest.mark.parametrize("side_by_side", [0.7, 1.0, 1.005])
def test_threads_whose_neighbours_do_not_share_go_back_to_where_they_were(
    side_by_side: float,
) -> None:
    program, state = spread_by_the_system(side_by_side)
    assert tuple(min(mask) for mask in program.applied[-1][2]) == APART
    assert "the order of threads by number was tried, and is no faster" in state.notes


def test_an_order_that_is_kept_is_no_change_of_the_program() -> None:
    """In continuous mode; the sample near home is a third slower."""
    program, state = spread_by_the_system(1.5, every_ns=S)
    assert [min(mask) for mask in program.applied[-1][2]] == [0, 4, 8, 12]
    assert len(program.applied) == 3  # near home, by number, and there for good
    assert not any("has changed" in note for note in state.notes)


def test_an_order_that_the_guard_takes_back_is_not_tried_again_in_this_run() -> None:
    """Counters show more work by number; progress shows less."""

    def progress(packed: bool) -> float:
        del packed
        masks = program.applied[-1][2] if program.applied else ()
        return 0.8 if [min(mask) for mask in masks] == [0, 4, 8, 12] else 1.0

    shared = {"cache_to_cache_transfers_other_llc": 1e6, "llc_misses": 1e6}

    def rates(second: float, packed: bool) -> Mapping[str, float]:
        del packed
        ordered = program.applied and [min(m) for m in program.applied[-1][2]] == [0, 4, 8, 12]
        work = at_phase(1 if second < 30 else 25)
        return {name: rate * (1.3 if ordered else 1.0) for name, rate in work.items()} | shared

    program = Program(rates, cpus=APART, progress_per_s=progress)
    state = run(program, replace(WITH_SPEED, rules=()), bind="core", every_ns=S)
    assert tuple(min(mask) for mask in program.applied[-1][2]) == APART
    assert [note for note in state.notes if note.startswith("taken back")] == [
        "taken back: the order of threads by number was worse than before"
    ]
    orders = [tuple(min(mask) for mask in masks) for _, _, masks in program.applied]
    assert sum(a != (0, 4, 8, 12) == b for a, b in pairwise(orders)) == 1


@contextmanager
def closing_journal(folder: Path) -> Iterator[Journal]:
    """The record of a run of the program."""
    header = RunHeader("k" * 64, "/bin/app", 42, "hardware counters", 4, "d" * 64, "llc", "0-15")
    journal = Journal(folder / "db", header)
    yield journal
    journal.end({})


def on_record(folder: Path) -> AnswerOnRecord | None:
    with BehaviourDB.open(folder / "db") as database:
        return database.answer("k" * 64, 4, "d" * 64)


@pytest.mark.parametrize(
    ("side_by_side", "order"),
    [(1.3, "by number"), (1.0, "near home")],
)
def test_the_next_run_begins_with_the_order_that_was_faster(
    tmp_path: Path, side_by_side: float, order: SeatOrder
) -> None:
    with closing_journal(tmp_path) as journal:
        spread_by_the_system(side_by_side, journal)
    assert on_record(tmp_path) == AnswerOnRecord(SPREAD, order)
    program = sharing_by_socket(side_by_side)
    with closing_journal(tmp_path) as journal:
        state = run(program, WITH_SPEED, journal, known=journal.answer_on_record, bind="core")
    seats = [tuple(min(mask) for mask in masks) for _, _, masks in program.applied]
    assert seats == [(0, 4, 8, 12) if order == "by number" else APART]
    assert (ORDER_ON_RECORD["by number"] in state.notes) is (order == "by number")
    assert on_record(tmp_path) == AnswerOnRecord(SPREAD, order)


def test_an_order_that_the_guard_takes_back_is_taken_out_of_the_record(tmp_path: Path) -> None:
    """Instructions show a gain by number; progress shows a loss."""
    program = sharing_by_socket(1.3)

    def progress(packed: bool) -> float:
        del packed
        masks = program.applied[-1][2] if program.applied else ()
        return 0.8 if [min(mask) for mask in masks] == [0, 4, 8, 12] else 1.0

    program.progress_per_s = progress
    with closing_journal(tmp_path) as journal:
        state = run(program, WITH_SPEED, journal, bind="core")
    assert any(note.startswith("taken back") for note in state.notes)
    assert on_record(tmp_path) == AnswerOnRecord(SPREAD)


def test_threads_that_were_seated_as_they_were_created_are_sampled_where_they_are() -> None:
    """By number; so their order need not be tried."""
    program = sharing_by_socket(1.3)
    program.cpus = (0, 4, 8, 12)
    state = run(program, WITH_SPEED, bind="core", seated=True)
    assert {tuple(min(mask) for mask in masks) for *_, masks in program.applied} == {(0, 4, 8, 12)}
    assert not any("order of threads" in note for note in state.notes)


def test_threads_that_are_left_alone_leave_the_seats_that_they_were_created_on() -> None:
    program = Program(steadily({"task_clock_ns": 1}), cpus=(0, 4, 8, 12))
    state = run(program, ONE_LOOK, bind="core", seated=True, blind=True)
    assert state.phase == "left alone"
    assert program.applied[-1][2] == (MACHINE.allowed,) * 4


def test_fewer_cpus_amid_the_trial_of_an_order_are_kept_to() -> None:
    """The trial is answered all the same, and no thread gets a CPU that was taken away."""
    program = sharing_by_socket(1.3)
    fewer = frozenset(map(OsIndex, range(12)))

    def available() -> frozenset[OsIndex]:
        ordered = any([min(m) for m in masks] == [0, 4, 8, 12] for *_, masks in program.applied)
        return fewer if ordered else MACHINE.allowed

    state = run(program, WITH_SPEED, available=available, bind="core")
    assert state.phase == "placed"
    assert all(mask <= fewer for mask in program.applied[-1][2])
    assert state.trying is None


def test_a_thread_that_ends_amid_the_trial_of_an_order_begins_the_sample_again() -> None:
    program = sharing_by_socket(1.3)
    program.ends = {3: 0.45}
    state = run(program, WITH_SPEED, bind="core")
    began, tried, again = program.applied[:3]
    assert [min(mask) for mask in began[2]] == list(APART)
    assert [min(mask) for mask in tried[2]] == [0, 4, 8, 12] and tried[0] < 0.45
    assert [min(mask) for mask in again[2]] == list(APART[:3])
    assert "threads started or ended during the sample: it began again" in state.notes
    assert (state.phase, state.trying) == ("placed", None)


def test_an_order_on_trial_is_not_kept_where_sampling_begins_again() -> None:
    question = Trial(SPREAD, 1.01).against(SPREAD)
    answer = Answer(Decision(SPREAD, None, 1.0, None), True, Behaviour({}))
    trying = Trying(question, (), answer, order="exchanged", before="by number")
    left = LiveState(order=Orders("exchanged"), trying=trying).without_trial()
    assert (left.order.now, left.trying) == ("by number", None)
    assert LiveState(order=Orders("exchanged")).without_trial().order.now == "exchanged"


def test_the_guard_does_not_judge_threads_that_stayed_where_they_were_sampled() -> None:
    """Not even when there are fewer of them later."""
    rates = {"llc_requests": 1e6, "instructions": 1e9}
    program = Program(steadily(rates), progress_per_s=lambda packed: 1.0, ends={3: 20.0})
    state = run(program)
    assert state.placed.hint == SPREAD and SPREAD not in state.refuted
    assert len(program.applied) <= 4
    assert not any(note.startswith("taken back") for note in state.notes)


def test_the_order_is_not_tried_where_neighbours_sit_side_by_side_already() -> None:
    shared = {"cache_to_cache_transfers_other_llc": 1e6, "llc_misses": 1e6}
    rates = {"llc_requests": 2e6, "instructions": 1e9, **shared}
    program = Program(steadily(rates), cpus=(9, 13, 1, 5))
    state = run(program, WITH_SPEED, bind="core")
    assert [min(mask) for mask in program.applied[-1][2]] == [9, 13, 1, 5]
    assert not state.notes


@pytest.mark.parametrize(("shared", "by_sharing"), [(0.4, False), (0.9, True)])
def test_the_order_is_not_tried_where_memory_matters_more_or_sharing_is_seen(
    shared: float, by_sharing: bool
) -> None:
    program, state = spread_by_the_system(1.3, shared=shared, by_sharing=by_sharing)
    assert not any("order of threads" in note for note in state.notes)
    assert tuple(min(mask) for mask in program.applied[-1][2]) == APART


def test_the_order_is_not_tried_where_no_counter_shows_speed() -> None:
    shared = {"cache_to_cache_transfers_other_llc": 1e6, "llc_misses": 1e6}
    program = Program(steadily({"llc_requests": 2e6, "instructions": 1e9, **shared}), cpus=APART)
    state = run(program, ONE_LOOK, bind="core")
    assert not state.notes


TWO_CACHES = machine(packages=2, llcs=1, cores=2)
"""Threads 0 and 1 share a cache by number, and so do 2 and 3: all hints are one affinity."""
LARGER_FIRST = (4 / 3, 4 / 3, 2 / 3, 2 / 3)


def larger_parts_first(
    evened: float,
    *observers: Observer[LiveState],
    parts: tuple[float, ...] = LARGER_FIRST,
    **settings: object,
) -> tuple[Program, LiveState]:
    """A program whose first threads have more to do, and that is so much faster where each cache
    has one of them.
    """

    def rates(second: float, packed: bool) -> Mapping[str, float]:
        del second, packed
        masks = program.applied[-1][2] if program.applied else ()
        caches = [min(mask) // 2 for mask in masks]
        speed = evened if caches == [0, 1, 1, 0] else 1.0
        return {"llc_requests": 1e6 * speed, "instructions": 1e9 * speed}

    program = Program(rates, cpus=(0, 1, 2, 3), parts=parts)
    state = run(
        program, WITH_SPEED, *observers, on=TWO_CACHES, bind="core", seated=True, **settings
    )
    return program, state


@pytest.mark.parametrize(("evened", "kept"), [(1.3, True), (1.0, False), (0.6, False)])
def test_caches_with_uneven_work_exchange_threads_where_that_is_faster(
    evened: float, kept: bool
) -> None:
    program, state = larger_parts_first(evened, every_ns=S)
    orders = [tuple(min(mask) for mask in masks) for *_, masks in program.applied]
    assert list(dict.fromkeys(orders)) == [(0, 1, 2, 3), (0, 3, 2, 1)]
    assert orders[-1] == ((0, 3, 2, 1) if kept else (0, 1, 2, 3))
    came = "is faster: threads stay" if kept else "is no faster"
    assert state.notes == (f"{SHOWN['exchanged']} was tried, and {came}",)
    assert (state.order.slower == frozenset()) is kept


@pytest.mark.parametrize("parts", [(1.0,) * 4, (4 / 3, 2 / 3, 4 / 3, 2 / 3), (1.02, 1, 1, 0.98)])
def test_caches_with_even_work_exchange_no_threads(parts: tuple[float, ...]) -> None:
    program, state = larger_parts_first(1.3, parts=parts)
    assert {tuple(min(mask) for mask in masks) for *_, masks in program.applied} == {(0, 1, 2, 3)}
    assert not state.notes


def test_threads_exchange_no_caches_where_sharing_that_was_seen_seats_them() -> None:
    program, _ = larger_parts_first(1.3, by_sharing=True)
    assert {tuple(min(mask) for mask in masks) for *_, masks in program.applied} == {(0, 1, 2, 3)}


def test_after_the_order_by_number_an_exchange_may_follow() -> None:
    """The system mixed the threads; by number they are faster, and half of each cache faster
    still.
    """
    speeds = {(0, 1, 2, 3): 1.2, (0, 3, 2, 1): 1.5}

    def rates(second: float, packed: bool) -> Mapping[str, float]:
        del second, packed
        masks = program.applied[-1][2] if program.applied else ()
        speed = speeds.get(tuple(min(mask) for mask in masks), 1.0)
        shared = {"cache_to_cache_transfers_other_llc": 9e4 * speed, "llc_misses": 1e5 * speed}
        return {"llc_requests": 1e6 * speed, "instructions": 1e9 * speed} | shared

    program = Program(rates, cpus=(0, 2, 1, 3), parts=LARGER_FIRST)
    state = run(program, WITH_SPEED, on=TWO_CACHES, bind="core", every_ns=S)
    orders = [tuple(min(mask) for mask in masks) for *_, masks in program.applied]
    assert list(dict.fromkeys(orders)) == [(0, 2, 1, 3), (0, 1, 2, 3), (0, 3, 2, 1)]
    assert orders[-1] == (0, 3, 2, 1)
    assert state.order.now == "exchanged"
    assert [note for note in state.notes if "tried" in note] == [
        f"{SHOWN[order]} was tried, and is faster: threads stay"
        for order in ("by number", "exchanged")
    ]


def test_an_exchange_goes_on_record_for_all_runs_that_follow(tmp_path: Path) -> None:
    """Also those that are not sampled any more."""
    seen = []
    for _ in range(3):
        with closing_journal(tmp_path) as journal:
            if not seen:
                program, _ = larger_parts_first(1.3, journal)
            else:
                program = Program(steadily({"task_clock_ns": 1}), cpus=seen[-1])
                known = journal.answer_on_record
                run(program, WITH_SPEED, journal, known=known, on=TWO_CACHES, bind="core")
        assert on_record(tmp_path) == AnswerOnRecord(SPREAD, "exchanged")
        seen.append(tuple(min(mask) for mask in program.applied[-1][2]))
    assert seen == [(0, 3, 2, 1)] * 3


def test_counters_that_ran_for_unequal_times_show_no_uneven_work() -> None:
    """The kernel counts more events than the processor has counters for, in turns."""
    share = {0: 3, 1: 3, 2: 2, 3: 2}
    samples = tuple(
        CounterSample(100 + n, 0, S, {"instructions": 100 * ran}, S, S * ran // 4)
        for n, ran in share.items()
    )
    alive = tuple((n, 100 + n) for n in range(4))
    sampling = Sampling().worked(alive, Interval(0, S, samples))
    assert set(sampling.work.values()) == {400.0}
    sampling = sampling.worked(alive, Interval(0, S, samples[:3]))
    assert sampling.work[0] == 800.0 and isnan(sampling.work[3])


def test_a_program_that_is_sampled_again_begins_without_the_exchange() -> None:
    """In continuous mode, when its work has become even."""

    def rates(second: float, packed: bool) -> Mapping[str, float]:
        del packed
        masks = program.applied[-1][2] if program.applied else ()
        caches = [min(mask) // 2 for mask in masks]
        if second >= 30:
            program.parts = (1.0,) * 4
            return {"llc_requests": 3e6, "instructions": 3e9}
        speed = 1.3 if caches == [0, 1, 1, 0] else 1.0
        return {"llc_requests": 1e6 * speed, "instructions": 1e9 * speed}

    program = Program(rates, cpus=(0, 1, 2, 3), parts=LARGER_FIRST)
    state = run(program, WITH_SPEED, on=TWO_CACHES, bind="core", seated=True, every_ns=S)
    orders = [tuple(min(mask) for mask in masks) for *_, masks in program.applied]
    assert (0, 3, 2, 1) in orders and orders[-1] == (0, 1, 2, 3)
    assert state.order.now == "by number"


def test_phases_that_never_meet_are_given_up_and_that_is_said() -> None:
    """Each move is another phase."""
    program = Program(lambda s, packed: MERGING if packed else at_phase(25, loads=0.3))
    state = run(program, TWO_LOOKS)
    assert ANOTHER_PHASE in state.notes
    assert len(program.applied) <= Settings().visits + 1


def test_a_program_whose_threads_are_never_all_at_work_is_left_to_the_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Patience ends before the thread that idles is no worker any more."""
    monkeypatch.setattr(sampler, "_MOST_APART_NS", 2 * S)
    program = Program(
        steadily(MERGING), setup_s=1.2, rests=lambda n, s: n == 3 and s > 1, seconds=3.9
    )
    state = run(program)
    assert state.phase == "left alone"
    assert any(note.endswith(NOT_AT_WORK) for note in state.notes)
    assert set(program.applied[-1][2]) == {MACHINE.allowed}
    assert state.decision is None


@pytest.mark.parametrize(("policy", "hint"), [(ONE_LOOK, PACKED), (TWO_LOOKS, SPREAD)])
def test_a_program_that_is_stopped_while_it_is_sampled_is_sampled_when_it_goes_on(
    policy: RulePolicy, hint: Hint
) -> None:
    for tenths in range(2, 26):
        program = Program(
            steadily(MERGING), rests=lambda n, s, at=tenths / 10: at < s < 25, seconds=40.0
        )
        state = run(program, policy)
        assert (state.phase, state.placed.hint) == ("placed", hint), (tenths, state.notes)


@dataclass
class Looks:
    """Ends of all looks, in seconds."""

    at_s: list[float] = field(default_factory=list)

    def saw(
        self, before: LiveState, after: LiveState, interval: Interval, outcome: Outcome | None
    ) -> None:
        del before, after, outcome
        self.at_s.append(interval.end_ns / S)


@pytest.mark.parametrize("busy_s", [0.0, 0.3])
def test_a_server_that_waits_is_let_go_and_seldom_looked_at(busy_s: float) -> None:
    """Also where requests come every twenty seconds."""
    looks = Looks()
    program = Program(
        steadily(MERGING), rests=lambda n, s: s > 0.3 and not s % 20 < busy_s, seconds=600.0
    )
    state = run(program, ONE_LOOK, looks)
    assert set(program.applied[-1][2]) == {MACHINE.allowed}
    assert state.decision is None
    assert sum(second > 300 for second in looks.at_s) <= 301
    assert len(program.applied) <= 2 * (1 + Settings().restarts)


def test_a_thread_that_idles_keeps_the_others_from_being_placed_for_seconds_only() -> None:
    program = Program(
        steadily(MERGING), setup_s=1.2, rests=lambda n, s: n == 3 and s > 1, seconds=15.0
    )
    state = run(program)
    assert state.placed.hint == PACKED
    assert not any(note.endswith(NOT_AT_WORK) for note in state.notes)
    assert 3.0 < program.applied[-1][0] < 10.0
    first_cache = frozenset(pu.os_index for pu in MACHINE.pus if pu.llc == 0)
    assert program.applied[-1][2] == (first_cache,) * 4


def test_a_trial_that_got_worse_is_undone_and_not_tried_again_in_this_run() -> None:
    """In continuous mode it is sampled again when it changes; the policy's answer is the same."""
    program = Program(
        lambda s, packed: at_phase(35 if s < 40 else 60),
        progress_per_s=lambda packed: 0.8 if packed else 1.0,
        seconds=90,
    )
    state = run(program, every_ns=S)
    assert PACKED in state.refuted
    assert program.moves.count(True) == 1
    assert any(note.startswith("the program has changed") for note in state.notes)
    assert "packed (slp) was tried and taken back: not tried again" in state.notes
    assert state.placed.hint == SPREAD


def test_a_trial_that_got_worse_is_remembered_for_the_next_run(tmp_path: Path) -> None:
    program = Program(steadily(MERGING), progress_per_s=lambda packed: 0.8 if packed else 1.0)
    with closing_journal(tmp_path) as journal:
        run(program, ONE_LOOK, journal)
    assert on_record(tmp_path) == AnswerOnRecord(SPREAD)


def test_a_policy_that_asks_for_nothing_places_without_a_sample() -> None:
    program = Program(steadily(MERGING), setup_s=30)
    state = run(program, RulePolicy((), {}, (), PACKED))
    assert program.moves == [True]
    assert program.applied[0][0] <= 0.2
    assert state.decision == Decision(PACKED, None, float("inf"), None)
    assert state.samples.start is None


def test_threads_stay_where_they_are_when_that_is_what_is_wanted() -> None:
    """One in each cache already, though not on the first core of it."""
    program = Program(steadily(SORTING), cpus=(13, 2, 9, 6))
    run(program, bind="core")
    assert [sorted(mask) for mask in program.applied[-1][2]] == [[13], [2], [9], [6]]


def test_threads_that_are_where_they_are_sampled_are_sampled_at_once() -> None:
    """Nothing is cold: there is nothing to wait for."""
    home, away = (Program(steadily(MERGING), cpus=cpus) for cpus in ((13, 2, 9, 6), (12, 13, 9, 6)))
    for program in (home, away):
        run(program, bind="core")
    spent = [program.applied[1][0] - program.applied[0][0] for program in (home, away)]
    assert spent == pytest.approx([4 * LOOK_S, SETTLE_S + 4 * LOOK_S])


def cold_at_first(second: float, packed: bool) -> Mapping[str, float]:
    """Packed it is a fifth faster, once its caches are full; until then it is four times slower."""
    return at_phase(35, speed=1e9 if not packed else 0.25e9 if second < 0.57 else 1.2e9)


def test_a_second_look_at_cold_caches_does_not_decide() -> None:
    program = Program(cold_at_first)
    state = run(program, TWO_LOOKS)
    assert program.moves[1]
    assert program.applied[1][0] + SETTLE_S < 0.57 - 2 * LOOK_S  # two looks at least are cold
    assert state.placed.hint == PACKED
    assert state.samples.asked is not None and state.samples.asked[1] is not None
    assert state.samples.asked[1]["instructions"] == pytest.approx(1.2e9, rel=0.1)


def drifting(second: float, packed: bool) -> Mapping[str, float]:
    """A phase that goes over into another one, slowly; packed it is three times as fast."""
    part = 1 - min(second, 4) / 40
    return at_phase(37, loads=0.24 * part, stores=0.02 * part, speed=3e9 if packed else 1e9)


def test_a_clear_gain_at_a_phase_nearby_needs_no_second_visit() -> None:
    program = Program(drifting)
    state = run(program, TWO_LOOKS)
    assert state.placed.hint == PACKED
    assert program.moves == [False, True, True]  # sampled, looked twice, the answer
    assert ANOTHER_PHASE not in state.notes


@pytest.mark.parametrize("policy", [ONE_LOOK, TWO_LOOKS], ids=["one look", "two looks"])
@pytest.mark.parametrize("turn_s", [0.07, 0.2, 1.0, 7.0])
def test_what_looking_costs_is_bounded_whatever_the_program_does(
    policy: RulePolicy, turn_s: float
) -> None:
    """Phases by turns, on both sides of the rule's boundary."""

    def turning(second: float, packed: bool) -> Mapping[str, float]:
        high = int(second / turn_s) % 2
        return at_phase(22 if high else 18, loads=0.3 if high else 0.1)

    state = run(Program(turning), policy)
    assert state.phase == "placed"
    one_look = 0.08 * LOOK_S * S
    assert state.costs.spent_ns <= SHARE * 60 * S + 5 * one_look
