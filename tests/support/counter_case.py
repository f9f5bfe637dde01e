"""A hand-made program and the exact counts of the simulated PMU while it runs: see
`counter_cases`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from sim_programs import ATOMIC, BASE, FIRST_WRITE

from autofinity._core import sim as core
from autofinity._core.trace import TraceBuilder
from autofinity.sim.events import EVENTS
from autofinity.sim.native import machine_model
from autofinity.sim.spec import MachineSpec

type Expected = dict[str, int | tuple[int, ...]]
"""Count of an event: of all threads together, or one for each thread."""

type Access = Literal["load", "store", "update", "atomic"]


@dataclass(frozen=True)
class Case:
    """One program on one machine, and its exact counts."""

    machine: MachineSpec
    cpus: tuple[int, ...]
    expected: Expected
    write: Callable[[Turns], None]
    home: int | None = None
    """Node of all pages; None: first touch."""
    steer: Callable[[core.Simulation], object] | None = None
    """Called with the running simulation before it runs to its end."""


CASES: dict[str, Case] = {}
"""Cases by their claims."""


def case(
    machine: MachineSpec,
    *cpus: int,
    home: int | None = None,
    steer: Callable[[core.Simulation], object] | None = None,
    **expected: int | tuple[int, ...],
) -> Callable[[Callable[[Turns], None]], Callable[[Turns], None]]:
    """Make a case of a function that writes the program; its name is the claim."""

    def register(write: Callable[[Turns], None]) -> Callable[[Turns], None]:
        add(write.__name__, Case(machine, cpus, expected, write, home, steer))
        return write

    return register


def add(claim: str, case: Case) -> None:
    """Add a case. Raises AssertionError for a claim that exists already."""
    assert claim not in CASES, f"two cases are called {claim}"
    CASES[claim] = case


@dataclass
class Turns:
    """Writer of a program whose threads take turns: statements happen in the order of writing.

    Tokens keep the order; they cost time but no memory access. `builder` serves for statements
    without an order.
    """

    threads: int
    builder: TraceBuilder = field(default_factory=TraceBuilder)
    _thread: int = 0
    _token: int = 0

    def __post_init__(self) -> None:
        for _ in range(self.threads):
            self.builder.stream()

    def turn_of(self, thread: int) -> None:
        """Everything written so far happens before the next statement of `thread`."""
        if thread == self._thread:
            return
        self._token += 1
        self.builder.post(self._thread, self._token)
        self.builder.wait(thread, self._token)
        self._thread = thread

    def _access(self, kind: Access, thread: int, lines: Sequence[int], gap: int) -> None:
        self.turn_of(thread)
        reads, writes, flags = {
            "load": (1, 0, 0),
            "store": (0, 1, FIRST_WRITE),
            "update": (1, 1, 0),
            "atomic": (1, 1, ATOMIC),
        }[kind]
        for line in lines:
            self.builder.access(thread, BASE + line, reads, writes, gap, flags=flags)

    def load(self, thread: int, *lines: int, gap: int = 1) -> None:
        self._access("load", thread, lines, gap)

    def store(self, thread: int, *lines: int, gap: int = 1) -> None:
        self._access("store", thread, lines, gap)

    def update(self, thread: int, *lines: int, gap: int = 1) -> None:
        """A load, then a store."""
        self._access("update", thread, lines, gap)

    def atomic(self, thread: int, *lines: int, gap: int = 1) -> None:
        self._access("atomic", thread, lines, gap)

    def begin(self, thread: int = 0) -> None:
        """Counts the following statements. In the thousand instructions before them nothing is
        under way.
        """
        self.turn_of(thread)
        self.builder.compute(thread, gap=1000)
        self.builder.roi_begin(thread)

    def end(self, thread: int = 0) -> None:
        self.turn_of(thread)
        self.builder.roi_end(thread)


def counts_of(wanted: Case) -> Expected:
    """Replay the case. Returns counts in the form of its expectation, for the events it names.

    Raises AssertionError when samples and totals differ or an invariant is broken.
    """
    turns = Turns(len(wanted.cpus))
    wanted.write(turns)
    run = core.Simulation(
        machine_model(wanted.machine),
        core.Program(turns.builder.build()),
        list(wanted.cpus),
        sample_period_ns=500,
        page_policy="first_touch" if wanted.home is None else "bind",
        node=wanted.home or 0,
    )
    if wanted.steer is not None:
        wanted.steer(run)
    run.run()
    run.check()
    totals = run.totals()
    assert np.array_equal(run.samples()[0].sum(axis=0), totals)
    column = list(EVENTS).index
    return {
        event: (
            tuple(totals[:, column(event)].tolist())
            if isinstance(expected, tuple)
            else int(totals[:, column(event)].sum())
        )
        for event, expected in wanted.expected.items()
    }
