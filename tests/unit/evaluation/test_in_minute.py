"""A mechanism in the run that it stands for: places at their pace, operations at their price."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import paper_runs
import pytest
from sim_programs import kept, streaming

from autofinity.evaluation.course import Course, Followed
from autofinity.evaluation.in_minute import as_often, in_minute
from autofinity.evaluation.lasting import LastingProcess
from autofinity.model.counters import CounterSample
from autofinity.model.detection import Detector, FaultSampling, TlbAccessCounters, TlbMatching
from autofinity.model.mechanism_run import MechanismRun
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex
from autofinity.ports import Action, BindThreads, Interval, MovePages, Outcome, RunRequest, Sensors
from autofinity.profiling.placements import bound
from autofinity.sim.machine import SimMachine

THREADS, REPEATS = 4, 20
LONG = 10_000
"""Repeats of the run that is stood for."""
MACHINE = SimMachine.preset("kmaf16-simulated")
LOCAL = bound(tuple(OsIndex(pu) for pu in range(THREADS)))
HERE, THERE = (bound((OsIndex(a), OsIndex(b))) for a, b in ((0, 1), (2, 3)))


@pytest.fixture(scope="module")
def request_of(tmp_path_factory: pytest.TempPathFactory) -> RunRequest:
    """More memory than the caches hold, each thread's own."""
    trace = kept(streaming(THREADS, 300, 2), tmp_path_factory.mktemp("trace") / "streaming")
    return RunRequest(trace, threads=THREADS, repeats=REPEATS)


def followed(
    request: RunRequest, moves: Placement | None = None, node: int | None = None
) -> tuple[MechanismRun, Course]:
    """A run in `LOCAL`; threads and pages are moved after about a tenth of it."""
    machine = Followed(MACHINE)
    course = machine.start(request, LOCAL, Sensors(("instructions",)), seed=1)
    instructions, time_ns = 0, 0
    for look in range(10**6):
        interval = course.advance(20_000)
        instructions += sum(each.counts["instructions"] for each in interval.samples)
        time_ns = interval.end_ns
        if interval.ended:
            break
        if look == 10 and moves is not None:
            course.apply([BindThreads(moves)])
        if look == 10 and node is not None:
            pages = [page for n in range(2) for some in course.process.pages_on(n) for page in some]
            course.apply([MovePages(tuple(pages), (node,) * len(pages))])
    run = replace(
        paper_runs.RUN,
        time_s=time_ns / 1e9,
        threads=THREADS,
        instructions=instructions,
        mappings=0,
        overhead_ns={},
    )
    return run, course


def minute(
    run: MechanismRun,
    course: Course,
    request: RunRequest,
    mapping_ns: int = 0,
    detectors: Sequence[Detector] = (),
) -> MechanismRun:
    return in_minute(run, course, MACHINE, request, LONG, mapping_ns, detectors, seed=1)


def test_in_one_place_it_is_as_long_as_a_lasting_run(request_of: RunRequest) -> None:
    run, course = followed(request_of)
    found = minute(run, course, request_of)
    process = MACHINE.start(request_of, LOCAL, Sensors(("instructions",)), seed=1)
    lasting = LastingProcess(process, run.instructions / REPEATS).lasting()  # type: ignore[arg-type]
    assert found.time_s == pytest.approx(LONG * lasting.repeat_s, rel=0.01)
    assert found.instructions == pytest.approx(LONG * run.instructions / REPEATS, rel=0.01)
    assert found.overhead == 0


def test_operations_count_once_and_mappings_at_their_full_price(request_of: RunRequest) -> None:
    run, course = followed(request_of)
    charged = replace(run, mappings=600, overhead_ns={"fault": 8_000_000, "mapping": 1_000})
    plain = minute(run, course, request_of)
    found = minute(charged, course, request_of, mapping_ns=40_000)
    spent_s = (8_000_000 + 600 * 40_000) / THREADS / 1e9
    assert found.time_s - plain.time_s == pytest.approx(spent_s)
    assert found.overhead == pytest.approx(spent_s / found.time_s)


def test_samples_take_their_share_of_any_run(request_of: RunRequest) -> None:
    run, course = followed(request_of)
    slower = replace(run, overhead_ns={"sample": round(0.1 * THREADS * run.time_s * 1e9)})
    plain, sampled = (minute(each, course, request_of) for each in (run, slower))
    assert sampled.time_s == pytest.approx(plain.time_s / 0.9)
    assert sampled.overhead == pytest.approx(0.1)


def test_pages_far_away_are_far_away_for_all_the_rest(request_of: RunRequest) -> None:
    plain, far = (minute(*followed(request_of, node=node), request_of) for node in (None, 1))
    assert far.time_s > 1.1 * plain.time_s
    assert far.traffic_bytes > 2 * plain.traffic_bytes


def test_threads_that_are_moved_have_cold_caches_once(request_of: RunRequest) -> None:
    swapped = Placement((*LOCAL.masks[2:], *LOCAL.masks[:2]))
    run, course = followed(request_of, moves=swapped)
    assert course.threads_moved == THREADS
    longer = {
        repeats: in_minute(run, course, MACHINE, request_of, repeats, 0, (), seed=1).time_s
        for repeats in (100, 200)
    }
    assert 0 < 2 * longer[100] - longer[200] < 0.05 * longer[100]


def test_tlb_section_6_6_readings_depend_on_the_misses_of_the_minute_alone(
    request_of: RunRequest,
) -> None:
    """One for T · E misses of a thread (section 4.3.3), at the price of one in the simulated run,
    however many the adjusted trigger made there.
    """
    run, course = followed(request_of)
    entries = MACHINE.spec.tlb.l2_entries or MACHINE.spec.tlb.l1_entries
    for triggers in (10, 1000):
        course.triggers = triggers
        costs = {"tlb read": 5_000 * triggers, "tlb compare": 8_000 * triggers}
        read = replace(run, overhead_ns=costs)
        found = minute(read, course, request_of, detectors=[TlbMatching(most_share=0.005)])
        readings = found.page_walks / (THREADS * entries)
        assert readings > 1000
        assert found.overhead_ns["tlb read"] == pytest.approx(5_000 * readings)
        assert found.overhead_ns["tlb compare"] == pytest.approx(8_000 * readings)


def test_tlb_section_6_6_a_run_without_misses_is_never_read() -> None:
    often = as_often(paper_runs.RUN, 1000, 0, [TlbMatching()], entries=64, triggers=7)
    assert often == {"tlb read": 0, "tlb compare": 0}


@pytest.mark.parametrize(
    ("walks", "accesses", "times"),
    [
        (10**6, 1000, 1000),  # evictions: as often as the work
        (0, 10**6, 1),  # full counters: as many in either run
        (10**6, 1000 * 2**22, (10**6 + 1000) / (1000 + 1000)),  # as many of both
        (0, 0, 1),
    ],
)
def test_sammu_section_4_4_evictions_come_with_the_work_and_full_counters_do_not(
    walks: int, accesses: int, times: float
) -> None:
    run = replace(paper_runs.RUN, tlb_accesses=accesses)
    counters = TlbAccessCounters(access_counter_bits=22)
    often = as_often(run, 1000, walks, [counters], entries=64, triggers=0)
    assert often == {"update": pytest.approx(times, rel=1e-3)}


def test_sammu_section_4_4_accesses_are_added_as_often_as_their_time(
    request_of: RunRequest,
) -> None:
    run, course = followed(request_of)
    run = replace(run, overhead_ns={"update": 4_000_000}, detection_accesses=40_000)
    evicted, full = (
        minute(replace(run, tlb_accesses=accesses), course, request_of, detectors=[counters])
        for accesses, counters in (
            (0, TlbAccessCounters()),
            (10**15, TlbAccessCounters(access_counter_bits=1)),
        )
    )
    assert evicted.overhead_ns["update"] == pytest.approx(4_000_000 * LONG / REPEATS)
    assert evicted.detection_accesses == pytest.approx(40_000 * LONG / REPEATS)
    assert full.overhead_ns["update"] == pytest.approx(4_000_000, rel=0.01)
    assert full.detection_accesses == pytest.approx(40_000, rel=0.01)


def test_tables_of_a_kernel_are_updated_as_often_as_in_the_simulated_run() -> None:
    assert as_often(paper_runs.RUN, 1000, 10**6, [FaultSampling()], entries=64, triggers=0) == {}


@dataclass
class Even:
    """A program that does as much work in each look."""

    looks: int = 0
    first_page: int = 0

    def advance(self, duration_ns: int) -> Interval:
        begin_ns, self.looks = self.looks * duration_ns, self.looks + 1
        end_ns = begin_ns + duration_ns
        sample = CounterSample(0, begin_ns, end_ns, {"instructions": 7}, duration_ns, duration_ns)
        return Interval(begin_ns, end_ns, (sample,), cpus=(OsIndex(0), OsIndex(1)))

    def apply(self, actions: Sequence[Action]) -> Outcome:
        return Outcome(len(actions), 0)

    def pages_on(self, node: int, one_in: int = 1) -> Sequence[Sequence[int]]:
        return ([node + self.first_page],)


@pytest.mark.parametrize("looks", [1, 10, 31, 32, 33, 1000, 4099])
@pytest.mark.parametrize("moved_at", [0.0, 0.3, 0.5, 0.96])
def test_a_place_stands_for_the_work_that_was_done_in_it(looks: int, moved_at: float) -> None:
    course = Course(Even(), 2, HERE)  # type: ignore[arg-type]
    for look in range(looks):
        if look == math.ceil(moved_at * looks):
            course.apply([BindThreads(THERE)])
        course.advance(1000)
    shares = {place.placement: share for place, share in course.shares(100).items()}
    before = math.ceil(moved_at * looks) / looks
    assert sum(shares.values()) == pytest.approx(1)
    assert shares.get(HERE, 0.0) == pytest.approx(before)


def test_looks_of_any_length_show_how_long_a_place_lasted() -> None:
    """A thousand short looks, as of a sample, then a long one."""
    course = Course(Uneven(), 2, HERE)  # type: ignore[arg-type]
    for _ in range(1000):
        course.advance(1)
    course.apply([BindThreads(THERE)])
    course.advance(99_000)
    shares = {place.placement: share for place, share in course.shares(8).items()}
    assert shares == pytest.approx({HERE: 0.01, THERE: 0.99})


def test_two_places_that_alternate_are_told_apart_whatever_the_period() -> None:
    course = Course(Uneven(), 2, HERE)  # type: ignore[arg-type]
    for change in range(4096):
        course.apply([BindThreads(THERE if change % 2 else HERE)])
        course.advance(3000 if change % 2 else 1000)
    by_placement = Counter[Placement | None]()
    for place, share in course.shares(8).items():
        by_placement[place.placement] += share  # type: ignore[assignment]
    assert by_placement == pytest.approx({HERE: 0.25, THERE: 0.75})


@pytest.mark.parametrize("places", [33, 200, 5000])
def test_of_very_many_places_a_few_stand_for_the_others(places: int) -> None:
    """Pages move before each look."""
    process = Uneven()
    course = Course(process, 2, HERE)  # type: ignore[arg-type]
    for _ in range(places):
        process.first_page += 1
        course.apply([MovePages((0,), (0,))])
        course.advance(1000)
    shares = course.shares(8)
    assert len(shares) == 8
    assert sum(shares.values()) == pytest.approx(1)
    seen = sorted(place.pages[0][0] for place in shares)
    expected = [places * (2 * part + 1) / 16 for part in range(8)]
    assert seen == pytest.approx(expected, abs=places / 16 + 1)


def test_a_run_without_work_stayed_where_it_began() -> None:
    assert list(Course(Even(), 2, HERE).shares(8).values()) == [1.0]  # type: ignore[arg-type]


class Uneven(Even):
    """A program that does as much work as a look is long."""

    def advance(self, duration_ns: int) -> Interval:
        interval = super().advance(duration_ns)
        return replace(
            interval,
            samples=(
                CounterSample(0, 0, 0, {"instructions": duration_ns}, duration_ns, duration_ns),
            ),
        )


def test_pages_stay_where_they_were_touched_when_threads_are_moved(request_of: RunRequest) -> None:
    """As in the run itself, in which threads stay where they were moved to."""
    swapped = Placement((*LOCAL.masks[2:], *LOCAL.masks[:2]))
    plain, _ = followed(request_of)
    found = minute(*followed(request_of, moves=swapped), request_of)
    endless = replace(request_of, repeats=1000)
    started = MACHINE.start(endless, LOCAL, Sensors(("instructions",)), seed=1)
    process = LastingProcess(started, plain.instructions / REPEATS)  # type: ignore[arg-type]
    near_s = process.lasting().repeat_s
    process.apply([BindThreads(swapped)])
    far_s = process.lasting().repeat_s
    assert far_s > 1.2 * near_s
    near = _share_before_the_move(request_of)
    assert found.time_s == pytest.approx(LONG * (near * near_s + (1 - near) * far_s), rel=0.01)


def _share_before_the_move(request: RunRequest) -> float:
    _, course = followed(request, moves=Placement((*LOCAL.masks[2:], *LOCAL.masks[:2])))
    return next(share for place, share in course.shares(8).items() if place.placement == LOCAL)
