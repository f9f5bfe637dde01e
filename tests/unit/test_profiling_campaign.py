import threading
from collections.abc import Iterable, Mapping, Sequence

import pytest

from autofinity.model.affinity import Affinity
from autofinity.model.counters import CounterSample
from autofinity.model.errors import SimulationError, UsageError
from autofinity.model.observation import Observation
from autofinity.model.placement import Placement
from autofinity.model.topology import PU, OsIndex, Topology
from autofinity.ports import Action, Interval, Outcome, RunRequest, Sensors
from autofinity.profiling.campaign import Subject, Target, plan, profile
from autofinity.profiling.sampling import Run, behaviour_of
from autofinity.profiling.selection import best_matches, select

TOPOLOGY = Topology(
    name="two by two by three",
    origin="synthetic",
    pus=tuple(PU(OsIndex(i), 0, i, i // 3, i // 6, i // 6) for i in range(12)),
    node_os_indices=(OsIndex(0), OsIndex(1)),
    distances=((10, 20), (20, 10)),
    allowed=frozenset(OsIndex(i) for i in range(12)),
)
PERIOD_NS = 1_000_000


class FakeProcess:
    """Three and a quarter periods; each thread retires 1,000 instructions a period."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._now = 0

    def advance(self, duration_ns: int) -> Interval:
        start, self._now = self._now, min(self._now + duration_ns, 3 * PERIOD_NS + PERIOD_NS // 4)
        span = self._now - start
        return Interval(
            start,
            self._now,
            tuple(
                CounterSample(t, start, self._now, {"instructions": 1000}, span, span)
                for t in range(self._threads)
            ),
            progress=self._now / (3.25 * PERIOD_NS),
            ended=self._now >= 3 * PERIOD_NS + PERIOD_NS // 4,
        )

    def apply(self, actions: Sequence[Action]) -> Outcome:
        return Outcome(0, len(actions))


class FakeMachine:
    topology = TOPOLOGY

    def __init__(self, broken: str = "", interrupt: str = "") -> None:
        self._broken = broken
        self._interrupt = interrupt
        self.started: list[str] = []
        self._lock = threading.Lock()

    def events(self) -> Mapping[str, str]:
        return {"instructions": "retired"}

    def counters_at_once(self) -> int:
        return 1

    def start(
        self, request: RunRequest, placement: Placement, sensors: Sensors, seed: int = 0
    ) -> FakeProcess:
        with self._lock:
            self.started.append(request.program)
        if request.program == self._broken:
            raise SimulationError("deadlock")
        if request.program == self._interrupt:
            raise KeyboardInterrupt
        return FakeProcess(request.threads)


class Memory:
    def __init__(self) -> None:
        self.rows: list[Observation] = []

    def write(self, observations: Iterable[Observation]) -> None:
        self.rows.extend(observations)

    def done(self) -> frozenset[tuple[str, str, int, str, int]]:
        return frozenset(
            (r.program, r.input, r.threads, str(r.affinity), r.seed) for r in self.rows
        )


def cells(*programs: str):
    subjects = [Subject(name, "tiny", 2, RunRequest(name, threads=2)) for name in programs]
    return plan(subjects, {2: [Affinity.of([[2]]), Affinity.of([[1], [1]])]}, [1])


def target(machine: FakeMachine) -> Target:
    return Target(machine, "fake", "sim", 1e9, PERIOD_NS, "0")


def test_a_sliver_at_the_end_is_no_sample_but_counts_as_time() -> None:
    sink = Memory()
    assert profile(target(FakeMachine()), cells("a"), sink, 1) == []
    assert [row.sample for row in sink.rows] == [0, 1, 2, 0, 1, 2]
    assert {row.roi_s for row in sink.rows} == {3.25e-3}


def test_behaviour_is_counts_per_thread_and_second() -> None:
    interval = FakeProcess(4).advance(PERIOD_NS)
    assert behaviour_of(interval, 4)["instructions"] == pytest.approx(1e6)


def test_progress_is_that_of_the_middle_of_the_period() -> None:
    sink = Memory()
    profile(target(FakeMachine()), cells("a")[:1], sink, 1)
    assert [row.progress for row in sink.rows] == pytest.approx(
        [0.5 / 3.25, 1.5 / 3.25, 2.5 / 3.25]
    )


def test_what_the_sink_has_is_not_run_again() -> None:
    sink = Memory()
    profile(target(FakeMachine()), cells("a"), sink, 2)
    machine = FakeMachine()
    told: list[tuple[Run, bool]] = []
    profile(target(machine), cells("a", "b"), sink, 2, lambda run, fresh: told.append((run, fresh)))
    assert machine.started == ["b", "b"]
    assert [fresh for _, fresh in told] == [False, False, True, True]


def test_a_run_that_fails_is_named_and_the_others_go_on() -> None:
    sink = Memory()
    failures = profile(target(FakeMachine(broken="a")), cells("a", "b"), sink, 2)
    assert [(f.run.program, f.reason) for f in failures] == [("a", "deadlock")] * 2
    assert {row.program for row in sink.rows} == {"b"}


def test_an_interruption_keeps_what_was_finished() -> None:
    sink = Memory()
    with pytest.raises(KeyboardInterrupt):
        profile(target(FakeMachine(interrupt="b")), cells("a", "b"), sink, 1)
    assert {row.program for row in sink.rows} == {"a"}


def test_best_matches_come_first_and_all_means_all() -> None:
    chosen = select(TOPOLOGY, 3, "all", 1)
    matches = best_matches(TOPOLOGY, 3)
    assert chosen[: len(matches)] == matches
    assert len(set(chosen)) == len(chosen) == 4


def test_a_draw_of_affinities_is_that_of_its_seed() -> None:
    few = len(best_matches(TOPOLOGY, 5)) + 2
    assert select(TOPOLOGY, 5, str(few), 7) == select(TOPOLOGY, 5, str(few), 7)
    assert len(select(TOPOLOGY, 5, str(few), 7)) == few


def test_fewer_affinities_than_best_matches_is_an_error() -> None:
    with pytest.raises(UsageError, match="best matches"):
        select(TOPOLOGY, 3, "1", 1)
