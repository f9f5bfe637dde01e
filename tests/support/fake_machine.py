"""A machine whose programs all run three and a quarter periods, and a sink in memory."""

import threading
from collections.abc import Iterable, Mapping, Sequence

from made_up_machine import machine

from autofinity.model.affinity import Affinity
from autofinity.model.counters import CounterSample
from autofinity.model.errors import SimulationError
from autofinity.model.observation import Observation
from autofinity.model.placement import Placement
from autofinity.ports import Action, Interval, Outcome, RunKey, RunRequest, Sensors
from autofinity.profiling.campaign import Cell, ReadyProgram, plan
from autofinity.profiling.target import Target
from autofinity.store.observations import key_of

TOPOLOGY = machine(packages=2, llcs=2, cores=3)
PERIOD_NS = 1_000_000


class FakeProcess:
    """A process of three and a quarter periods; each thread retires 1,000 instructions in a
    period.
    """

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

    def start(
        self, request: RunRequest, placement: Placement | None, sensors: Sensors, seed: int = 0
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

    def done(self) -> frozenset[RunKey]:
        return frozenset(key_of(row) for row in self.rows)


def cells(*programs: str) -> list[Cell]:
    programs = [ReadyProgram(name, "tiny", 2, RunRequest(name, threads=2)) for name in programs]
    return plan(programs, {2: [Affinity.of([[2]]), Affinity.of([[1], [1]])]}, [1])


def target(machine: FakeMachine) -> Target:
    return Target(machine, "fake", "sim", 1e9, PERIOD_NS, "0")
