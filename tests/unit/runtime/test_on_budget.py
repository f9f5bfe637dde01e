"""Looks and decisions together take a hundredth of a core; work on memory is not charged."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from autofinity.linux.look_budget import LookBudget
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, Interval, MovePages, Outcome, Sensors
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.loop import run_loop
from autofinity.runtime.on_budget import OnBudget
from autofinity.runtime.request import Request
from autofinity.runtime.watching import watch

MS = 1_000_000
LOOK_NS, MOVE_NS, LENGTH_NS = 2 * MS, 60_000 * MS, 3_600_000 * MS
GRANTED_NS = 100 * MS


@dataclass
class Monitored:
    """A program that is looked at for an hour, and whoever decides: both take time of one CPU."""

    step_ns: int
    memory_ns: int = 0
    moves_at: int = -1
    """The turn in which pages move, for a minute."""
    now: int = 0
    cpu: int = 0
    at: list[int] = field(default_factory=list)
    """Ends of the looks."""

    def __post_init__(self) -> None:
        self.budget = LookBudget(GRANTED_NS, 0)
        self.decides = OnBudget(self, self.budget.spend, lambda: self.cpu)
        self.memory = self.decides.free(lambda: self.works(self.memory_ns))

    def works(self, took_ns: int) -> None:
        self.now += took_ns
        self.cpu += took_ns

    def advance(self, duration_ns: int) -> Interval:
        start = self.now
        self.now += max(duration_ns, self.budget.rest_ns(self.now))
        self.works(LOOK_NS)
        self.budget.spend(LOOK_NS)
        self.at.append(self.now)
        return Interval(start, self.now, (), ended=self.now > LENGTH_NS)

    def step(self, state: int, interval: Interval) -> tuple[int, Sequence[Action]]:
        self.works(self.step_ns)
        self.memory()
        return state + 1, [MovePages((), ())] if state == self.moves_at else ()

    def apply(self, actions: Sequence[Action]) -> Outcome:
        self.works(MOVE_NS)
        return Outcome(0, 0)

    def run(self) -> None:
        run_loop(self, self.decides, 0, lambda turns: 100 * MS)


@pytest.mark.parametrize("step_ns", [0, MS, 40 * MS, 2_000 * MS])
def test_looks_and_decisions_together_take_a_hundredth_of_a_core_in_the_long_run(
    step_ns: int,
) -> None:
    watched = Monitored(step_ns)
    watched.run()
    assert watched.cpu <= GRANTED_NS + watched.now / 100 + LOOK_NS + step_ns
    assert watched.cpu > 0.95 * watched.now / 100


def test_the_first_decisions_wait_for_nothing() -> None:
    watched = Monitored(step_ns=10 * MS)
    watched.run()
    assert watched.at[7] <= 8 * (100 * MS + LOOK_NS + 10 * MS)


def test_work_on_much_memory_silences_no_look() -> None:
    """A look where it is, or a minute of moving it."""
    looked = Monitored(step_ns=MS, memory_ns=3_000 * MS)
    looked.run()
    assert looked.at[1] - looked.at[0] < 4_000 * MS
    moved = Monitored(step_ns=MS, moves_at=1)
    moved.run()
    assert moved.at[2] - moved.at[1] < MOVE_NS + 1_000 * MS


class Slow:
    """Decides nothing, in a tenth of a second of CPU time."""

    name = "slow"
    sensors = Sensors()

    def __init__(self) -> None:
        self.steps = 0

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> LiveState:
        return LiveState()

    def period_ns(self, state: LiveState) -> int:
        return 10 * MS

    def step(self, state: LiveState, interval: Interval) -> tuple[LiveState, Sequence[Action]]:
        self.steps += 1
        until = time.thread_time_ns() + 100 * MS
        while time.thread_time_ns() < until:
            continue
        return state, ()


def test_a_monitor_charges_whoever_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is granted, so the first step is followed by ten seconds without a look."""
    monkeypatch.setattr(LookBudget, "of_this_process", lambda: LookBudget(0, time.monotonic_ns()))
    allowed = format_cpu_list(frozenset(map(OsIndex, os.sched_getaffinity(0))))
    slow = Slow()
    with subprocess.Popen(["sleep", "1.5"]) as child:
        watch(Request(child.pid, "sleep", "key", allowed, tier="none"), lambda *_: slow)
    assert slow.steps == 2  # the last one when the program has ended
