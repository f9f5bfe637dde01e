"""When pages follow, by looks that are made up: what changes on the way, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from live_states import placed_as, sampled_as
from made_up_machine import machine

from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.counters import Behaviour, CounterSample
from autofinity.model.memory import ONE_BY_ONE_BYTES_PER_S, MemoryByNode
from autofinity.model.policy import Decision
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, Interval, MovePages, Outcome, ThreadEvent
from autofinity.runtime.guard import Guard
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.page_rate import PageRate
from autofinity.runtime.pages_follow import PagesFollow
from autofinity.runtime.pages_pay import ASSUMED_LOSS, most_loss
from autofinity.runtime.part_first import LOOK_NS, ONE_IN
from autofinity.runtime.samples import Samples
from autofinity.runtime.sampling import Sampling
from autofinity.runtime.workers import Workers

TOPOLOGY: Topology = machine(packages=2, llcs=1, cores=2)
S = 1_000_000_000
PAGE = 4096
BATCH = 100


def counted(tid: int, begin_ns: int, end_ns: int, rate: float) -> CounterSample:
    """A thread's instructions, so many a second."""
    length_ns = end_ns - begin_ns
    at_work_ns = length_ns if rate else 0
    counts = {"instructions": round(rate * length_ns / S), "task_clock_ns": at_work_ns}
    return CounterSample(tid, begin_ns, end_ns, counts, length_ns, length_ns)


RATE = PageRate(ONE_BY_ONE_BYTES_PER_S)


class Program:
    """Two threads that began on nodes 0 and 1, with so many pages on each, look by look."""

    def __init__(
        self,
        pages: tuple[int, int] = (500, 500),
        *,
        refuses: bool = False,
        lasts_s: float = 0,
        topology: Topology = TOPOLOGY,
    ) -> None:
        self.nodes = dict(enumerate([0] * pages[0] + [1] * pages[1], 1))
        self.refuses = refuses
        self.copy_ns = 0
        """Time to copy a page; 0: not measured."""
        self.moved: list[MovePages] = []
        self.looks = 0
        self.told: list[str] = []
        self.follow = PagesFollow(self, topology, self.told.append, lasts_s * S, RATE)
        self.at_ns = 0
        self.state = LiveState(phase="watching", workers=Workers(((0, 10), (1, 11)), (0, 1)))

    def advance(self, duration_ns: int) -> Interval:
        raise AssertionError("the loop's to call")

    def apply(self, actions: Sequence[Action]) -> Outcome:
        (action,) = actions
        assert isinstance(action, MovePages)
        self.moved.append(action)
        if self.refuses:
            return Outcome(0, len(action.pages), ("EPERM",))
        self.nodes.update(zip(action.pages, action.nodes, strict=True))
        return Outcome(len(action.pages), 0, cost_ns=len(action.pages) * self.copy_ns)

    def memory(self) -> MemoryByNode | None:
        self.looks += 1
        on = list(self.nodes.values())
        return MemoryByNode((PAGE * on.count(0), PAGE * on.count(1)))

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        found = [page for page, on in self.nodes.items() if on == node]
        for start in range(0, len(found), BATCH * one_in):
            yield found[start : start + BATCH]

    def look(
        self,
        state: LiveState,
        cpus: tuple[int, ...],
        s: float = 1.0,
        outcome: Outcome | None = None,
        rates: Sequence[float] = (),
    ) -> None:
        begin = self.at_ns
        self.at_ns += round(s * S)
        events = () if begin else tuple(ThreadEvent("begin", n, 10 + n, 0) for n in (0, 1))
        at = tuple(map(OsIndex, cpus))
        samples = tuple(
            counted(tid, begin, self.at_ns, rate)
            for tid, rate in zip((10, 11), rates, strict=False)
        )
        interval = Interval(begin, self.at_ns, samples, events, cpus=at)
        self.follow.saw(self.state, state, interval, outcome)
        self.state = state

    def placed(self, *seats: int) -> LiveState:
        cpus = tuple(map(OsIndex, seats))
        changes = {"threads": (0, 1), "seats": cpus, "cpus": frozenset(cpus)}
        return placed_as(replace(self.state, phase="placed"), **changes)


def pays_after_s(pages: int, share: float) -> float:
    return pages * PAGE / RATE.bytes_per_s / (ASSUMED_LOSS * share)


def test_pages_follow_after_the_time_in_which_they_have_cost_as_much_as_moving_them() -> None:
    program = Program()
    program.look(program.state, (0, 2))
    packed = program.placed(0, 1)
    program.look(packed, (0, 2))
    assert program.told == []  # threads go there only now
    wait_s = pays_after_s(500, 0.5)
    program.look(packed, (0, 1), wait_s / 4)
    assert program.told == ["left behind is 50% of its memory (3.9 MiB): 2.0 MiB on node 1"]
    program.look(packed, (0, 1), wait_s / 2)
    assert program.moved == []
    program.look(packed, (0, 1), wait_s / 2)
    assert set(program.nodes.values()) == {0}
    assert program.told[1:] == ["500 pages were moved to their threads"]
    program.look(packed, (0, 1), 100 * wait_s)
    assert len(program.told) == 2


def test_pages_follow_at_once_where_a_minute_of_remote_reads_costs_more_than_moving_them() -> None:
    program = Program(lasts_s=60)
    program.look(program.state, (0, 2))
    packed = program.placed(0, 1)
    program.look(packed, (0, 2))
    program.look(packed, (0, 1), 0.1)
    assert set(program.nodes.values()) == {0}
    assert program.told[-1] == "500 pages were moved to their threads"


def test_pages_that_the_rest_of_a_minute_does_not_pay_for_stay_until_they_have_cost_as_much() -> (
    None
):
    """In 59 s remote reads cost as much as moving all pages takes, in 30 s half of that."""
    pages = round(59 * ASSUMED_LOSS * 0.5 * RATE.bytes_per_s / PAGE)
    early, late = Program((pages, pages), lasts_s=60), Program((pages, pages), lasts_s=60)
    for program, begin_s in ((early, 0.5), (late, 30)):
        program.look(program.state, (0, 2), begin_s)
        packed = program.placed(0, 1)
        program.look(packed, (0, 2), 0.1)
        program.look(packed, (0, 1), 0.1)
    assert early.moved
    assert not late.moved
    late.look(late.placed(0, 1), (0, 1), 70)
    assert late.moved


def test_pages_are_looked_at_ever_less_often_while_moving_does_not_pay() -> None:
    program = Program((500_000, 500_000))
    program.look(program.state, (0, 2))
    packed = program.placed(0, 1)
    for _ in range(30):
        program.look(packed, (0, 1))
    assert program.moved == []
    assert program.looks == 5  # after 1, 2, 4, 8 and 16 s


def test_threads_that_are_placed_anew_while_pages_move_are_weighed_anew() -> None:
    program = Program((20_000, 20_000))
    program.look(program.state, (0, 2))
    packed = program.placed(0, 1)
    program.look(packed, (0, 2))
    program.look(packed, (0, 1), 100)
    assert 0 < sum(len(action.pages) for action in program.moved) < 20_000
    before = len(program.moved)
    back = program.placed(0, 2)
    program.look(back, (0, 1))
    assert len(program.moved) == before
    program.look(back, (0, 2), 0.001)
    assert program.told[-1].startswith("left behind is 0% of its memory")
    assert len(program.moved) == before


def looked_at_packed(pages: tuple[int, int], topology: Topology = TOPOLOGY) -> Program:
    """Whose threads have been packed for a second look."""
    program = Program(pages, topology=topology)
    program.look(program.state, (0, 2))
    packed = replace(program.placed(0, 1), phase="settling", sampling=Sampling(again=True))
    program.look(packed, (0, 2), 0.1, Outcome(2, 0))
    return program


def test_pages_come_along_to_a_second_look_and_stay_where_it_was_right() -> None:
    program = looked_at_packed((500, 500))
    assert set(program.nodes.values()) == {0}
    for _ in range(5):
        program.look(replace(program.state, phase="placed"), (0, 1))
    assert set(program.nodes.values()) == {0}
    assert program.told == ["left behind is 0% of its memory (3.9 MiB)"]


def test_pages_of_the_next_node_of_a_socket_come_along_where_they_are_few() -> None:
    next_nodes = machine(packages=1, nodes=2, llcs=1, cores=2, near=12)
    assert set(looked_at_packed((500, 500), next_nodes).nodes.values()) == {0}
    many = 1 + RATE.few_bytes // PAGE
    program = looked_at_packed((500, many), next_nodes)
    for _ in range(20):
        program.look(replace(program.state, phase="placed"), (0, 1))
    assert program.moved == []


def test_pages_go_back_where_they_came_from_when_the_answer_is_another_one() -> None:
    program = looked_at_packed((500, 500))
    program.look(program.placed(0, 2), (0, 1), 0.1, Outcome(2, 0))
    assert [page for page, node in program.nodes.items() if node == 1] == list(range(501, 1001))
    program.look(program.state, (0, 2))
    assert program.told == ["left behind is 0% of its memory (3.9 MiB)"]


def test_pages_go_back_as_far_as_the_threads_do_after_a_trial() -> None:
    for answer, on_node_1 in (((0, 1), 0), ((0, 2), 500), ((2, 3), 1000)):
        program = looked_at_packed((500, 500))
        tried = replace(program.placed(2, 3), phase="settling", sampling=Sampling(again=True))
        program.look(tried, (0, 1), 0.1, Outcome(2, 0))
        assert set(program.nodes.values()) == {1}
        program.look(program.placed(*answer), (2, 3), 0.1, Outcome(2, 0))
        assert list(program.nodes.values()).count(1) == on_node_1
        program.look(program.state, answer)
        assert program.told == ["left behind is 0% of its memory (3.9 MiB)"]


def test_pages_go_to_a_trial_from_home_where_those_of_several_threads_are_on_one_node() -> None:
    """Thread 1 leaves node 0, to which both threads' pages came along: only at home are its own
    pages known.
    """
    program = looked_at_packed((500, 500))
    tried = replace(program.placed(0, 2), phase="settling", sampling=Sampling(again=True))
    program.look(tried, (0, 1), 0.1, Outcome(2, 0))
    assert [page for page, node in program.nodes.items() if node == 1] == list(range(501, 1001))
    program.look(program.placed(0, 1), (0, 2), 0.1, Outcome(2, 0))
    assert set(program.nodes.values()) == {0}
    assert sum(len(action.pages) for action in program.moved) == 3 * 500
    program.look(program.state, (0, 1), 60)
    assert program.told == ["left behind is 0% of its memory (3.9 MiB)"]


def test_pages_go_back_when_a_trial_is_taken_back() -> None:
    program = looked_at_packed((500, 500))
    decided = Decision(PACKED, None, math.inf, None)
    trial = replace(placed_as(program.state, hint=PACKED), phase="placed", decision=decided)
    trial = replace(trial, guard=Guard().saw_before(1.0))
    for _ in range(3):
        program.look(trial, (0, 1))
    undone = placed_as(trial, hint=SPREAD, seats=program.placed(0, 2).placed.seats)
    program.look(undone, (0, 1), 0.1, Outcome(2, 0))
    assert list(program.nodes.values()).count(1) == 500


def test_pages_that_followed_twice_are_back_where_they_were_first_and_so_are_homes() -> None:
    program = looked_at_packed((500, 500))
    decided = Decision(PACKED, None, math.inf, None)
    trial = replace(placed_as(program.state, hint=PACKED), phase="placed", decision=decided)
    trial = replace(trial, guard=Guard().saw_before(1.0))
    program.look(trial, (0, 1))
    program.nodes |= dict.fromkeys(range(2001, 2301), 1)
    for _ in range(3):
        program.look(trial, (0, 1), 100)
    assert set(program.nodes.values()) == {0}
    undone = placed_as(trial, hint=SPREAD, seats=program.placed(0, 2).placed.seats)
    program.look(undone, (0, 1), 0.1, Outcome(2, 0))
    assert [page for page, node in program.nodes.items() if node] == [
        *range(501, 1001),
        *range(2001, 2301),
    ]
    for _ in range(3):
        program.look(undone, (0, 2))
    assert program.told[-1].startswith("left behind is 0% of its memory")


def test_more_than_looking_may_cost_does_not_come_along() -> None:
    pages = RATE.few_bytes // PAGE + 1
    assert looked_at_packed((500, pages)).moved == []


class Streaming(Program):
    """A program that seems to lose half of its time to remote pages, and loses `cost` of it."""

    def __init__(
        self, cost: float, *, refuses: bool = False, lacks: str = "", lasts_s: float = 60
    ) -> None:
        """`lacks`: "counts" or "work" of a thread."""
        self.lacks = lacks
        half = RATE.few_bytes // PAGE
        super().__init__((half, 2 * half), refuses=refuses, lasts_s=lasts_s)
        self.cost = cost
        self.look(self.state, (0, 2))
        packed = replace(self.placed(0, 1), samples=Samples(Behaviour({"llc_misses": 5e6})))
        self.look(packed, (0, 2))

    def run(self, looks: int) -> None:
        for _ in range(looks):
            asked = self.follow.next_look_ns
            remote = list(self.nodes.values()).count(1) / len(self.nodes)
            rate = 1e9 * (1 - self.cost * remote)
            rates = () if self.lacks == "counts" else (rate, 0 if self.lacks == "work" else rate)
            self.look(self.state, (0, 1), (asked or S) / S, rates=rates)

    @property
    def pages_moved(self) -> int:
        return sum(len(action.pages) for action in self.moved)


def test_of_much_memory_a_part_moves_first_and_the_rest_if_the_program_is_so_much_faster() -> None:
    program = Streaming(cost=0.2)
    program.run(4)
    assert program.pages_moved == 0
    program.run(1)
    part = program.pages_moved
    assert part == pytest.approx(2 * RATE.few_bytes // PAGE / ONE_IN, rel=0.1)
    program.run(20)
    assert set(program.nodes.values()) == {0}
    assert program.told[1:] == [f"{len(program.nodes) * 2 // 3} pages were moved to their threads"]


def test_the_rest_stays_where_the_part_did_not_pay() -> None:
    program = Streaming(cost=0.003)
    program.run(40)
    assert program.pages_moved < 0.15 * len(program.nodes)
    assert program.told[1:] == [
        f"one in {ONE_IN} of these pages was moved to its threads: all would make the program "
        "0.2% faster, 0.0% less the error of the looks, which does not pay for moving them"
    ]


@pytest.mark.parametrize(("copy_ns", "moves"), [(2_000, True), (20_000, False)])
def test_the_time_that_the_part_took_decides_what_moving_the_rest_costs(
    copy_ns: int, moves: bool
) -> None:
    """10 us are assumed for a page, with which all pages pay from a loss of some 4 % on."""
    program = Streaming(cost=0.03 if moves else 0.06, lasts_s=20)
    program.copy_ns = copy_ns
    program.run(24)
    assert (set(program.nodes.values()) == {0}) is moves


def test_the_rest_follows_once_it_may_have_cost_as_much_as_moving_it() -> None:
    program = Streaming(cost=0.005)
    program.run(30)
    assert program.pages_moved < 0.15 * len(program.nodes)
    program.run(300)
    assert set(program.nodes.values()) == {0}


def test_where_the_effect_of_a_part_cannot_be_measured_the_bound_stands() -> None:
    for lacking in ("counts", "work"):
        program = Streaming(cost=0.2, lacks=lacking)
        program.run(100)
        assert set(program.nodes.values()) == {0}
        assert len(program.told) == 2


def test_a_part_goes_back_with_threads_that_leave_while_it_is_on_trial() -> None:
    program = Streaming(cost=0.2)
    at_home = dict(program.nodes)
    program.run(6)
    assert program.nodes != at_home
    program.look(program.placed(0, 2), (0, 1), 0.25, Outcome(2, 0))
    assert program.nodes == at_home


def test_a_loss_is_measured_once_though_threads_are_placed_again_and_again() -> None:
    program = Streaming(cost=0.003)
    program.run(20)
    moved = program.pages_moved
    for seats in ((1, 0), (0, 1)) * 3:
        program.look(program.placed(*seats), (0, 1), 0.1)
        program.run(3)
    assert program.pages_moved == moved
    assert len([line for line in program.told if "does not pay" in line]) == 1


def test_looks_are_short_only_while_the_threads_of_the_placement_compute() -> None:
    program = Streaming(cost=0.2)
    program.run(2)
    program.state = replace(program.state, workers=Workers(((0, 10),), (0,)))
    program.run(1)
    assert program.follow.next_look_ns is None


def test_looks_are_short_while_a_part_is_on_trial() -> None:
    program = Streaming(cost=0.2)
    assert program.follow.next_look_ns is None
    program.run(1)
    assert program.follow.next_look_ns == LOOK_NS
    program.run(30)
    assert program.follow.next_look_ns is None


def test_looks_are_short_while_pages_are_under_way() -> None:
    program = Program((500, 65 * BATCH), lasts_s=1e6)
    program.look(program.state, (0, 2))
    packed = program.placed(0, 1)
    program.look(packed, (0, 2))
    assert program.follow.next_look_ns is None
    program.look(packed, (0, 1), 0.1)
    assert 0 < list(program.nodes.values()).count(1) <= BATCH
    assert program.follow.next_look_ns == LOOK_NS
    program.look(packed, (0, 1), 0.1)
    assert set(program.nodes.values()) == {0}
    assert program.follow.next_look_ns is None


def test_a_part_that_may_not_be_moved_is_no_trial() -> None:
    program = Streaming(cost=0.2, refuses=True)
    program.run(30)
    assert program.told[-1].startswith("0 pages were moved to their threads; ")
    assert program.follow.next_look_ns is None


def test_what_may_not_be_moved_is_said_and_not_tried_for_ever() -> None:
    program = Program((10_000, 10_000), refuses=True)
    program.look(program.state, (0, 2))
    packed = program.placed(0, 1)
    program.look(packed, (0, 2))
    for _ in range(9):
        program.look(packed, (0, 1), 100)
    assert program.told[-1].startswith("0 pages were moved to their threads; ")
    assert program.told[-1].endswith(" could not be moved")
    assert len(program.moved) == 64


def test_threads_that_are_not_bound_or_not_seen_move_no_page() -> None:
    program = Program()
    program.look(program.state, (0, 2))
    left = replace(placed_as(program.placed(0, 1), cpus=frozenset()), phase="left alone")
    unseen = program.placed(0, 1)
    for state, cpus in ((left, (0, 1)), (unseen, (0,)), (unseen, (0, -1)), (unseen, (0, 99))):
        for _ in range(3):
            program.look(state, cpus, 100)
    assert (program.moved, program.told) == ([], [])


def test_the_last_look_at_a_program_that_has_ended_is_none() -> None:
    program = Program()
    packed = program.placed(0, 1)
    for _ in range(3):
        program.follow.saw(packed, packed, Interval(0, 9 * S, (), ended=True), None)
    assert (program.looks, program.told) == (0, [])


def test_what_remote_reads_cost_goes_by_the_misses_that_were_sampled() -> None:
    def state(**values: float) -> LiveState:
        return LiveState(samples=Samples(Behaviour(values)))

    assert most_loss(LiveState()) == ASSUMED_LOSS
    assert most_loss(state(instructions=1e9)) == ASSUMED_LOSS
    assert most_loss(state(llc_misses=1e6)) == 0.1
    assert most_loss(state(llc_misses=1e9)) == 1
    assert most_loss(sampled_as(state(llc_misses=1e6), outcome=Behaviour({"llc_misses": 0.0}))) == 0
