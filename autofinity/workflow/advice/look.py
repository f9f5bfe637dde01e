"""Look at a program as a run does, until the policy has answered, and touch nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from autofinity.model.memory import MemoryByNode
from autofinity.model.sharing import NumaVectors
from autofinity.model.timeline import TimelineStep
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Interval, Mechanism, ShowsMemory
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.look_nodes import LookNodes
from autofinity.runtime.look_series import look_of


class Decider(Mechanism[LiveState], Protocol):
    """One that says how long each look takes."""

    def period_ns(self, state: LiveState) -> int:
        """How long the next look takes."""
        ...


@dataclass(frozen=True, slots=True)
class Looked:
    """Result of a look at a program."""

    state: LiveState
    computing: tuple[int, ...]
    """Numbers of the threads that compute; of a program that has ended, those that did so last, or
    that ran at all where the looks were too short to distinguish."""
    cpus: tuple[OsIndex, ...]
    """Where each of them was last; empty where that is not known."""
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
    topology: Topology,
    saw: Callable[[LiveState], object] = lambda _: None,
) -> Looked:
    """`mechanism` binds nothing (`Settings.bind` is "none"), and nothing that it says is done.

    `saw` is called with the state after each look.
    """
    pages: dict[int, tuple[int, ...]] = {}
    nodes: dict[int, int] = {}
    page_size_bytes, seen = 4096, False
    computing: tuple[int, ...] = ()
    cpus: tuple[OsIndex, ...] = ()
    memory: MemoryByNode | None = None
    timeline: list[TimelineStep] = []
    by_node = LookNodes(topology)
    while True:
        interval = process.advance(mechanism.period_ns(state))
        alive = state.workers.alive
        state, _ = mechanism.step(state, interval)
        saw(state)
        timeline.append(by_node.added(look_of(alive, interval), interval))
        if interval.pages is not None:
            seen, page_size_bytes = True, interval.pages.page_size_bytes
            pages.update(interval.pages.pages)
            nodes.update(interval.pages.nodes)
        if interval.ended:
            break
        if state.workers.computing:
            computing = state.workers.computing
            cpus = _of_computing(computing, interval)
        if state.phase in ("placed", "left alone"):
            memory = process.memory()
            break
    touched = NumaVectors(pages, page_size_bytes, nodes) if seen else None
    computing = computing or _that_ran(timeline)
    return Looked(state, computing, cpus, memory, touched, interval.ended, tuple(timeline))


def _of_computing(computing: tuple[int, ...], interval: Interval) -> tuple[OsIndex, ...]:
    known = len(interval.cpus)
    return tuple(interval.cpus[number] for number in computing if number < known)


def _that_ran(timeline: list[TimelineStep]) -> tuple[int, ...]:
    return tuple(
        sorted(
            {
                number
                for step in timeline
                for number, counts in step.counts.items()
                if any(count > 0 for count in counts.values())
            }
        )
    )
