"""Memory goes along with threads that were placed: on the simulated machine, and by the kernel's
files, through one observer of one loop.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from memory_programs import initialised_by_one, own_pages
from sim_programs import kept

from autofinity._core.trace import Trace
from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.recipe import Setting
from autofinity.model.affinity import PACKED, Hint
from autofinity.model.memory import FAR_READS, MemoryByNode
from autofinity.model.placement import Placement
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.ports import (
    Action,
    Interval,
    MovePages,
    Outcome,
    RunRequest,
    Sensors,
    ShowsMemory,
)
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.loop import run_loop
from autofinity.runtime.pages_follow import LASTS_NS, PagesFollow
from autofinity.runtime.placed import Placed
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess

THREADS, PAGES = 4, 8
HOMES = (0, 12, 24, 36)
"""CPUs of four sockets of the Opteron, each of another node."""


@pytest.fixture(scope="module")
def machine() -> SimMachine:
    return SimMachine.preset("opteron-6164he")


def policy(*counters: str, default: Hint = PACKED) -> RulePolicy:
    return RulePolicy(counters, {}, (), default)


class Watched:
    """A process whose page moves are written down; its memory may be hidden."""

    def __init__(self, process: SimProcess, *, hidden: bool = False) -> None:
        self._process = process
        self._hidden = hidden
        self.moved: list[MovePages] = []
        self.last: MemoryByNode | None = None

    def advance(self, duration_ns: int) -> Interval:
        interval = self._process.advance(duration_ns)
        self.last = self._process.memory()
        # As on Linux: progress is unknown, so the guard takes nothing back.
        return replace(interval, progress=math.nan)

    def apply(self, actions: Sequence[Action]) -> Outcome:
        self.moved += [action for action in actions if isinstance(action, MovePages)]
        return self._process.apply(actions)

    def memory(self) -> MemoryByNode | None:
        return None if self._hidden else self._process.memory()

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        return self._process.pages_on(node, one_in)


def followed(
    machine: SimMachine,
    trace: Trace,
    folder: Path,
    asked: RulePolicy,
    *,
    hidden: bool = False,
    lasts_ns: float = 0,
    homes: Sequence[int] = HOMES,
) -> tuple[Watched, list[str], LiveState]:
    """The program runs from its homes under the policy; the moves, and the messages."""
    setting = Setting(
        machine.topology, THREADS, machine.clock_hz, paper_second_ns=100_000, policy=asked
    )
    recipe = InRun(setting)
    uncounted = {FAR_READS}.difference(asked.counters)
    started = machine.start(
        RunRequest(kept(trace, folder / "trace"), threads=THREADS),
        Placement(tuple(frozenset({OsIndex(cpu)}) for cpu in homes)),
        Sensors(tuple(name for name in recipe.sensors.counters if name not in uncounted)),
    )
    assert isinstance(started, SimProcess)
    process = Watched(started, hidden=hidden)
    port: ShowsMemory = process
    told: list[str] = []
    follow = PagesFollow(port, machine.topology, told.append, lasts_ns)
    recipe.sees_memory(process.memory)
    start = recipe.begin(machine.topology, machine.topology.allowed, THREADS)
    return process, told, run_loop(process, recipe, start, recipe.period_ns, follow)


def test_pages_follow_threads_to_their_one_node_once_leaving_them_has_cost_as_much(
    machine: SimMachine, tmp_path: Path
) -> None:
    process, told, state = followed(
        machine, own_pages(THREADS, PAGES, 4000), tmp_path, policy("instructions")
    )
    assert state.placed.hint == PACKED
    (target,) = {machine.topology.by_os_index[cpu].node for cpu in state.placed.seats}
    homes = {machine.topology.by_os_index[OsIndex(cpu)].node for cpu in HOMES}
    left = len(homes - {target})
    assert process.last is not None
    assert process.last.share(target) == 1
    assert sum(len(action.pages) for action in process.moved) == left * PAGES
    assert told[0].startswith(f"left behind is {left / THREADS:.0%} of its memory")
    assert told[1:] == [f"{left * PAGES} pages were moved to their threads"]


def test_pages_stay_where_a_short_run_has_not_lost_what_moving_them_costs(
    machine: SimMachine, tmp_path: Path
) -> None:
    process, told, _ = followed(
        machine, own_pages(THREADS, PAGES, 400), tmp_path, policy("instructions")
    )
    assert process.moved == []
    assert len(told) == 1 and "left behind is" in told[0]


def test_pages_follow_in_a_short_run_that_is_taken_to_last(
    machine: SimMachine, tmp_path: Path
) -> None:
    process, told, _ = followed(
        machine, own_pages(THREADS, PAGES, 400), tmp_path, policy("instructions"), lasts_ns=LASTS_NS
    )
    assert process.moved
    assert told[-1].endswith("pages were moved to their threads")


def test_pages_stay_where_the_sample_says_that_nothing_misses_the_caches(
    machine: SimMachine, tmp_path: Path
) -> None:
    asked = policy("instructions", "llc_misses")
    process, told, _ = followed(machine, own_pages(THREADS, PAGES, 4000), tmp_path, asked)
    assert process.moved == []
    assert len(told) == 1 and "left behind is" in told[0]


def test_what_one_thread_has_initialised_for_threads_on_several_nodes_is_to_be_interleaved(
    machine: SimMachine, tmp_path: Path
) -> None:
    spread = policy("instructions", default=Hint.parse("SLP"))
    process, told, _ = followed(machine, initialised_by_one(THREADS, PAGES, 4000), tmp_path, spread)
    assert process.moved == []
    (line,) = told
    assert "is on node 0, and threads on several nodes use it" in line
    assert "--interleave" in line


def test_packed_threads_go_to_the_memory_that_one_of_them_has_initialised_for_all(
    machine: SimMachine, tmp_path: Path
) -> None:
    for first in HOMES:
        homes = (first, *(cpu for cpu in HOMES if cpu != first))
        trace = initialised_by_one(THREADS, PAGES, 4000)
        folder = tmp_path / f"{first}"
        folder.mkdir()
        process, _, state = followed(machine, trace, folder, policy("instructions"), homes=homes)
        pus = machine.topology.by_os_index
        assert {pus[cpu].node for cpu in state.placed.seats} == {pus[OsIndex(first)].node}
        assert process.moved == []


def test_where_pages_cannot_be_seen_that_is_said_once_and_none_moves(
    machine: SimMachine, tmp_path: Path
) -> None:
    trace = own_pages(THREADS, PAGES, 400)
    process, told, _ = followed(machine, trace, tmp_path, policy("instructions"), hidden=True)
    assert process.moved == []
    assert told == ["pages stay where they are: the kernel does not report their nodes"]


def test_a_machine_of_one_node_has_nothing_to_say(machine: SimMachine, tmp_path: Path) -> None:
    process, told, _ = followed(
        machine, own_pages(THREADS, PAGES, 400), tmp_path, policy("instructions")
    )
    del process
    one = replace(
        machine.topology,
        pus=tuple(replace(pu, node=0) for pu in machine.topology.pus),
        node_os_indices=(OsIndex(0),),
        distances=((10,),),
    )
    assert one.n_nodes == 1 and told
    silent: list[str] = []
    state = LiveState(phase="placed", placed=Placed((0,), cpus=frozenset({OsIndex(0)})))
    follow = PagesFollow(Nowhere(), one, silent.append)
    for at in range(3):
        follow.saw(state, state, Interval(at, at + 1, (), cpus=(OsIndex(0),)), None)
    assert silent == []


class Nowhere:
    """A process that nobody may look at."""

    def advance(self, duration_ns: int) -> Interval:
        raise AssertionError

    def apply(self, actions: Sequence[Action]) -> Outcome:
        raise AssertionError

    def memory(self) -> MemoryByNode | None:
        raise AssertionError

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        raise AssertionError
