"""Look at a program as a run does, until the policy has answered, and touch nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from autofinity.model.memory import MemoryByNode
from autofinity.model.sharing import NumaVectors
from autofinity.model.timeline import TimelineStep
from autofinity.model.topology import OsIndex
from autofinity.ports import Interval, Mechanism, ShowsMemory
from autofinity.runtime.live_state import LiveState


class Decider(Mechanism[LiveState], Protocol):
    """One that says how long each look takes."""

    def period_ns(self, state: LiveState) -> int:
        """How long the next look takes."""
        ...


@dataclass(frozen=True, slots=True)
class Looked:
    """Result of a look at a program."""

    state: LiveState
    cpus: tuple[OsIndex, ...]
    """Where each thread that computes was last."""
    memory: MemoryByNode | None
    touched: NumaVectors | None
    ended: bool
    """The program ended before there was an answer."""
    timeline: tuple[TimelineStep, ...] = ()
    """Every look, in order of time."""


def look_at(
    process: ShowsMemory,
    mechanism: Decider,
    state: LiveState,
    saw: Callable[[LiveState], None] = lambda state: None,
) -> Looked:
    """`mechanism` binds nothing (`Settings.bind` is "none"), and nothing that it says is done."""
    pages: dict[int, tuple[int, ...]] = {}
    nodes: dict[int, int] = {}
    page_size_bytes, seen = 4096, False
    cpus: tuple[OsIndex, ...] = ()
    memory: MemoryByNode | None = None
    timeline: list[TimelineStep] = []
    while True:
        interval = process.advance(mechanism.period_ns(state))
        state, _ = mechanism.step(state, interval)
        saw(state)
        timeline.append(_step(state, interval))
        if interval.pages is not None:
            seen, page_size_bytes = True, interval.pages.page_size_bytes
            pages.update(interval.pages.pages)
            nodes.update(interval.pages.nodes)
        if interval.ended:
            break
        cpus = _of_computing(state, interval)
        if state.phase in ("placed", "left alone"):
            memory = process.memory()
            break
    touched = NumaVectors(pages, page_size_bytes, nodes) if seen else None
    return Looked(state, cpus, memory, touched, interval.ended, tuple(timeline))


def _of_computing(state: LiveState, interval: Interval) -> tuple[OsIndex, ...]:
    known = len(interval.cpus)
    return tuple(interval.cpus[number] for number in state.workers.computing if number < known)


def _step(state: LiveState, interval: Interval) -> TimelineStep:
    numbers = {tid: number for number, tid in state.workers.alive}
    return TimelineStep(
        interval.start_ns,
        interval.end_ns,
        {
            numbers[sample.tid]: {name: sample.scaled(name) for name in sample.counts}
            for sample in interval.samples
            if sample.tid in numbers
        },
        {number: cpu for number, cpu in enumerate(interval.cpus) if cpu >= 0},
    )
