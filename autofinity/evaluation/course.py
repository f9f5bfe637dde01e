"""Where threads and pages are in the course of a run, and how much work is done there.

`Followed` is a machine on which the last program that was started leaves its course; nothing else
is different.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from autofinity.evaluation.machine_around import MachineAround
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex
from autofinity.ports import (
    Action,
    BindThreads,
    Interval,
    MovePages,
    Outcome,
    RunRequest,
    Sensors,
)
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess

_MOST = 32
"""Places, and marks, that are kept at most."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where all threads and pages are."""

    placement: Placement | None
    """None: the operating system's scheduler moves the threads."""
    pages: tuple[tuple[int, ...], ...] = ()
    """Numbers of the pages on each logical node; empty: where the threads touch them first."""


@dataclass
class Course:
    """A process that notes how much work is done in each place.

    Pages stay where they were touched first when their threads are moved. With very many places
    only those at even distances of work are known.
    """

    process: SimProcess
    nodes: int
    placement: Placement | None
    threads_moved: int = 0
    """Threads that were bound to other PUs, each as often as that happened."""
    triggers: int = 0
    """Events that started a reading of TLBs."""
    _done: Counter[Place] = field(default_factory=Counter)
    _marks: list[tuple[int, Place]] = field(default_factory=list)
    _spacing: int = 1
    """Work between two marks."""
    _work: int = 0
    _cpus: Sequence[OsIndex] = ()
    _bound: bool = False
    _changed: bool = False

    def __post_init__(self) -> None:
        self._place = Place(self.placement)
        self._marks.append((0, self._place))

    def advance(self, duration_ns: int) -> Interval:
        """As the process."""
        if len(self._done) <= _MOST:
            self._look()
        interval = self.process.advance(duration_ns)
        gained = sum(sample.counts["instructions"] for sample in interval.samples)
        self._work += gained
        self.triggers += interval.triggers
        if len(self._done) <= _MOST:
            self._done[self._place] += gained
        if self._marks[-1][0] + self._spacing < self._work:
            self._look()
            self._mark()
        if self._bound:
            self.threads_moved += sum(map(operator.ne, self._cpus, interval.cpus))
        self._bound, self._cpus = False, interval.cpus
        return interval

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """As the process."""
        for action in actions:
            if isinstance(action, BindThreads):
                self._changed = self._changed or action.placement != self.placement
                self.placement, self._bound = action.placement, True
            self._changed = self._changed or isinstance(action, MovePages)
        return self.process.apply(actions)

    def shares(self, points: int) -> Mapping[Place, float]:
        """Share of the work that was done in each place. Where there are more than `points` places,
        those at the middles of `points` equal parts of the work stand for all.
        """
        if not self._work:
            return {self._place: 1.0}
        if len(self._done) <= points:
            return {place: work / self._work for place, work in self._done.items() if work}
        middles = (self._work * (2 * point + 1) / (2 * points) for point in range(points))
        found = Counter(map(self._at, middles))
        return {place: count / points for place, count in found.items()}

    def _look(self) -> None:
        """Find the present place, if it has changed: pages are many."""
        if self._changed:
            numbers = (
                chain.from_iterable(self.process.pages_on(node)) for node in range(self.nodes)
            )
            self._place = Place(self.placement, tuple(tuple(sorted(own)) for own in numbers))
            self._changed = False

    def _mark(self) -> None:
        """Mark all points of the work that the last look passed: it was done in the present
        place.
        """
        while (self._work - self._marks[-1][0]) // self._spacing + len(self._marks) > _MOST:
            self._spacing *= 2
            points = range(0, self._marks[-1][0] + 1, self._spacing)
            self._marks = [(point, self._at(point)) for point in points]
        for point in range(self._marks[-1][0] + self._spacing, self._work, self._spacing):
            self._marks.append((point, self._place))

    def _at(self, work: float) -> Place:
        """The place of the mark before this work."""
        return next(place for begin, place in reversed(self._marks) if begin <= work)


class Followed(MachineAround[SimMachine]):
    """`ports.Machine`: a simulated machine, and the course of the last process that it started."""

    course: Course

    def start(
        self, request: RunRequest, placement: Placement | None, sensors: Sensors, seed: int = 0
    ) -> Course:
        """As the machine. Instructions must be among the counters. Raises as the machine does."""
        process = self._machine.start(request, placement, sensors, seed)
        assert isinstance(process, SimProcess)  # a sampled trace is not moved
        self.course = Course(process, self.topology.n_nodes, placement)
        return self.course
