"""A minute of repeats: replayed until two are alike, and played on from the record."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.evaluation.lasting import LastingProcess, region_of
from autofinity.model.counters import CounterSample
from autofinity.model.errors import SimulationError
from autofinity.model.memory import MOVED_BYTES_PER_S, MemoryByNode
from autofinity.model.placement import Placement
from autofinity.ports import Action, BindThreads, Interval, MovePages, Outcome, ThreadEvent
from autofinity.profiling.placements import bound

THREADS = 2
REGION = 3_000_000
"""Instructions of a repeat, both threads together: a third at one pace, then the rest at half."""
REPEAT_NS = 1_000_000 + 4_000_000
COLD_NS = 500_000
"""Time that the first repeat after a move of threads takes longer."""
SLOW = 3
"""Factor of the time on other CPUs."""
HERE, THERE = (bound((0, 1)), bound((2, 3)))


@dataclass
class Phased:
    """A program of a known course, in nanoseconds of the warm repeat on its first CPUs."""

    repeats: int = 10**9
    uneven: bool = False
    """Whether no two repeats take the same time."""
    at_ns: float = 0.0
    slow: float = 1.0
    cold_ns: float = COLD_NS
    position_ns: float = 0.0
    replayed: int = 0

    def advance(self, duration_ns: int) -> Interval:
        start_ns, begin = self.at_ns, self.position_ns
        waited = min(self.cold_ns, duration_ns)
        self.cold_ns -= waited
        slow = self.slow * (1 + 0.1 * (int(begin // REPEAT_NS) % 7) if self.uneven else 1)
        end = min(begin + (duration_ns - waited) / slow, self.repeats * REPEAT_NS)
        self.at_ns += waited + (end - begin) * slow
        self.position_ns = end
        self.replayed = int(end // REPEAT_NS)
        each = (work(end) - work(begin)) / THREADS
        ended = end >= self.repeats * REPEAT_NS
        times = round(start_ns), round(self.at_ns)
        return Interval(
            *times,
            tuple(
                CounterSample(
                    thread,
                    *times,
                    {"instructions": round(each), "loads": round(each / 2)},
                    times[1] - times[0],
                    times[1] - times[0],
                )
                for thread in range(THREADS)
            ),
            tuple(ThreadEvent("begin", t, t, 0) for t in range(THREADS)) if start_ns == 0 else (),
            progress=end / self.repeats,
            ended=ended,
            runnable=THREADS if end % REPEAT_NS < 1e6 else 1,
        )

    def apply(self, actions: Sequence[Action]) -> Outcome:
        done = 0
        for action in actions:
            if isinstance(action, BindThreads):
                self.slow = SLOW if action.placement == THERE else 1.0
                self.cold_ns = COLD_NS
                done += THREADS
            elif isinstance(action, MovePages):
                done += len(action.pages)
        return Outcome(done, 0)

    def memory(self) -> MemoryByNode | None:
        return MemoryByNode((4096, 0))

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        yield from [[1, 2, 3]] if node == 0 else []


def work(position_ns: float) -> float:
    """Instructions from the begin."""
    repeats, rest_ns = divmod(position_ns, REPEAT_NS)
    return repeats * REGION + min(rest_ns, 1e6) + max(0.0, rest_ns - 1e6) / 2


def instructions(*intervals: Interval) -> int:
    return sum(s.counts["instructions"] for each in intervals for s in each.samples)


def moved(process: LastingProcess, where: Placement) -> None:
    process.apply((BindThreads(where),))


def test_the_region_is_the_work_of_one_repeat() -> None:
    assert region_of(Phased(repeats=1)) == pytest.approx(REGION, rel=1e-4)


def test_a_minute_takes_its_repeats_and_the_cold_one_costs_once() -> None:
    process = LastingProcess(Phased(), REGION, repeats=10_000)
    while not process.advance(1_000_000_000).ended:
        pass
    assert process.now_ns == pytest.approx(10_000 * REPEAT_NS + COLD_NS, rel=1e-3)


def test_few_repeats_are_replayed_where_they_are_alike() -> None:
    program = Phased()
    LastingProcess(program, REGION).advance(60_000_000_000)
    assert program.replayed <= 3


def test_a_move_is_replayed_anew_and_costs_its_cold_caches_once() -> None:
    program = Phased()
    process = LastingProcess(program, REGION)
    process.advance(10 * REPEAT_NS)
    done, before = process.done, program.replayed
    moved(process, THERE)
    process.advance(20 * REPEAT_NS * SLOW)
    assert process.done - done == pytest.approx(20 - COLD_NS / (REPEAT_NS * SLOW), abs=0.3)
    assert before < program.replayed <= before + 4
    assert process.repeat_ns == pytest.approx(SLOW * REPEAT_NS, rel=1e-3)


def test_a_look_shows_the_phase_that_the_repeat_is_in() -> None:
    process = LastingProcess(Phased(cold_ns=0), REGION)
    process.advance(4 * REPEAT_NS)
    paces = [instructions(process.advance(REPEAT_NS // 5)) for _ in range(10)]
    assert min(paces) == pytest.approx(500_000, rel=0.05)
    assert max(paces) == pytest.approx(1_000_000, rel=0.1)
    assert paces[:5] == pytest.approx(paces[5:], rel=0.02)


def test_looks_show_how_many_threads_can_run_in_the_phase_in_which_they_end() -> None:
    process = LastingProcess(Phased(cold_ns=0), REGION)
    process.advance(4 * REPEAT_NS)
    some = [process.advance(7 * REPEAT_NS // 5).runnable for _ in range(100)]
    first_part = 1e6 / REPEAT_NS
    assert some.count(THREADS) / len(some) == pytest.approx(first_part, abs=0.2)
    assert set(some) == {THREADS, 1}


@given(st.lists(st.integers(1_000, 40_000_000), min_size=1, max_size=30))
def test_looks_of_any_length_add_up_to_the_whole(lengths_ns: list[int]) -> None:
    process = LastingProcess(Phased(), REGION)
    seen = [process.advance(length) for length in lengths_ns]
    assert process.now_ns == sum(lengths_ns)
    assert [each.start_ns for each in seen] == [0, *itertools.accumulate(lengths_ns)][:-1]
    assert instructions(*seen) == pytest.approx(process.done * REGION, abs=200 + 4 * len(seen))
    whole = Phased().advance(sum(lengths_ns))
    expected = instructions(whole)
    assert instructions(*seen) == pytest.approx(expected, rel=0.001, abs=0.02 * REGION)


def test_threads_begin_once() -> None:
    process = LastingProcess(Phased(), REGION)
    assert process.advance(100_000_000).threads("begin") == frozenset(range(THREADS))
    moved(process, THERE)
    assert process.advance(100_000_000).threads("begin") == frozenset()


def test_where_no_two_repeats_are_alike_the_record_is_of_five() -> None:
    program = Phased(uneven=True, cold_ns=0)
    lasting = LastingProcess(program, REGION).lasting()
    assert program.replayed == 6
    assert lasting.repeat_s == pytest.approx(REPEAT_NS * 1.3 / 1e9, rel=0.02)  # of the 2nd to 6th
    assert lasting.time_s(lasting.done + 10) == lasting.done_s + 10 * lasting.repeat_s


def test_the_progress_is_unknown_as_on_linux() -> None:
    process = LastingProcess(Phased(), REGION, repeats=100)
    assert math.isnan(process.advance(100_000_000).progress)


def test_moved_pages_are_counted_as_they_take_no_simulated_time() -> None:
    process = LastingProcess(Phased(), REGION)
    (pages,) = process.pages_on(0)
    process.apply((MovePages(tuple(pages), (1, 1, 1)),))
    assert process.unpaid_pages == 3
    assert process.unpaid_s == 3 * 4096 / MOVED_BYTES_PER_S
    assert process.memory() == MemoryByNode((4096, 0))


def test_a_replay_that_ends_too_early_is_an_error() -> None:
    process = LastingProcess(Phased(repeats=1), REGION)
    with pytest.raises(SimulationError, match="ended after 1 repeats"):
        process.advance(10 * REPEAT_NS)
