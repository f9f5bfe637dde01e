"""Where threads and pages are in the course of a run, as a few samples of it.

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
"""Marks that are kept at most; then every other one is forgotten, and fewer are made."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where all threads and pages are."""

    placement: Placement | None
    """None: the operating system's scheduler moves the threads."""
    pages: tuple[tuple[int, ...], ...] = ()
    """Numbers of the pages on each logical node; empty: no page has been moved."""


@dataclass
class Course:
    """A process that notes its places, with the work that was done by then."""

    process: SimProcess
    nodes: int
    placement: Placement | None
    threads_moved: int = 0
    """Threads that were bound to other PUs, each as often as that happened."""
    _marks: list[tuple[int, Place]] = field(default_factory=list)
    _looks: int = 0
    _spacing: int = 1
    _work: int = 0
    _cpus: Sequence[OsIndex] = ()
    _bound: bool = False
    _moved: bool = False

    def advance(self, duration_ns: int) -> Interval:
        """As the process. Notes the place, but for the looks between two marks."""
        if self._looks % self._spacing == 0:
            self._marks.append((self._work, Place(self.placement, self._pages())))
        self._looks += 1
        if len(self._marks) == _MOST:
            del self._marks[1::2]
            self._spacing *= 2
        interval = self.process.advance(duration_ns)
        self._work += sum(sample.counts["instructions"] for sample in interval.samples)
        if self._bound:
            self.threads_moved += sum(map(operator.ne, self._cpus, interval.cpus))
        self._bound, self._cpus = False, interval.cpus
        return interval

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """As the process."""
        for action in actions:
            if isinstance(action, BindThreads):
                self.placement, self._bound = action.placement, True
            self._moved = self._moved or isinstance(action, MovePages)
        return self.process.apply(actions)

    def _pages(self) -> tuple[tuple[int, ...], ...]:
        if not self._moved:
            return ()
        return tuple(
            tuple(sorted(chain.from_iterable(self.process.pages_on(node))))
            for node in range(self.nodes)
        )

    def shares(self, points: int) -> Mapping[Place, float]:
        """Share of the work that each place stands for: a systematic sample, of the places at the
        middles of `points` equal parts of the work.
        """
        middles = [self._work * (2 * point + 1) / (2 * points) for point in range(points)]
        found = Counter(
            [place for work, place in self._marks if work <= middle][-1] for middle in middles
        )
        return {place: count / points for place, count in found.items()}


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
