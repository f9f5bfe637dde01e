"""Caches that begin a window: coherent whatever the snapshots are, and as the newest touches leave
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st
from random_simulations import machines
from sim_programs import BASE

from autofinity._core import sim as core
from autofinity._core.trace import TraceBuilder
from autofinity.sim.native import machine_model
from autofinity.sim.spec import MachineSpec

LINES = 300
PAGES = [(BASE // 64, LINES // 64 + 1, 0)]
OWNED = 3
"""The states O and M are dirty."""

type Level = Literal["l1", "l2", "llc"]


@dataclass(frozen=True)
class Touched:
    """Stamps of a stream's last touch and last write of a line."""

    last: int
    last_write: int | None

    def runs(self, line: int) -> list[tuple[int, int, bool, int]]:
        read = [(BASE + line, 1, False, self.last)]
        if self.last_write is None:
            return read
        wrote = [(BASE + line, 1, True, self.last_write)]
        return wrote if self.last == self.last_write else read + wrote


@st.composite
def touched(draw: st.DrawFn) -> Touched:
    last = draw(st.integers(1, 12))
    return Touched(last, draw(st.none() | st.integers(1, last)))


streams = st.lists(
    st.dictionaries(st.integers(0, LINES - 1), touched(), max_size=150), min_size=1, max_size=4
)


histories = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, LINES - 1), st.booleans()), min_size=1, max_size=300
)
"""Touches of lines by three threads, one after the other, and whether each is a write."""


def touches_of(history: list[tuple[int, int, bool]]) -> list[dict[int, Touched]]:
    threads: list[dict[int, Touched]] = [{}, {}, {}]
    for stamp, (thread, line, writes) in enumerate(history, 1):
        before = threads[thread].get(line, Touched(0, None))
        threads[thread][line] = Touched(stamp, stamp if writes else before.last_write)
    return threads


def begun(spec: MachineSpec, threads: list[dict[int, Touched]], apart: int) -> core.Simulation:
    """A window at its beginning, each thread on a PU of its own where there are enough."""
    builder = TraceBuilder()
    for _ in threads:
        builder.compute(builder.stream(), gap=1)
    snapshots = [
        sorted(
            (run for line, what in thread.items() for run in what.runs(line)),
            key=lambda run: -run[3],
        )
        for thread in threads
    ]
    program = core.Program.window(builder.build(), PAGES, snapshots, [False] * len(threads))
    pus = [thread * apart % len(spec.topology.pus) for thread in range(len(threads))]
    return core.Simulation(machine_model(spec), program, pus)


def l1_lines(spec: MachineSpec, threads: list[dict[int, Touched]]) -> list[list[int]]:
    """Lines that the L1 of each thread holds, the threads as far apart as they can be."""
    apart = len(spec.topology.pus) // len(threads)
    simulation = begun(spec, threads, apart)
    cores = (spec.topology.pus[number * apart].core for number in range(len(threads)))
    return [(simulation.contents("l1", each)[0] - BASE).tolist() for each in cores]


@given(spec=machines(), threads=streams, apart=st.integers(1, 7))
def test_they_are_coherent(
    spec: MachineSpec, threads: list[dict[int, Touched]], apart: int
) -> None:
    begun(spec, threads, apart).check()


@given(spec=machines(), threads=streams, apart=st.integers(1, 7))
def test_only_lines_that_were_written_are_dirty(
    spec: MachineSpec, threads: list[dict[int, Touched]], apart: int
) -> None:
    simulation = begun(spec, threads, apart)
    written = {BASE + line for each in threads for line, what in each.items() if what.last_write}
    caches: list[tuple[Level, int]] = [("llc", llc) for llc in range(spec.topology.n_llcs)]
    for core_number in range(spec.topology.n_cores):
        caches += [("l1", core_number), ("l2", core_number)]
    for level, number in caches:
        lines, states = simulation.contents(level, number)
        assert {
            line for line, state in zip(lines, states, strict=True) if state >= OWNED
        } <= written


@given(spec=machines(), history=histories)
def test_nobody_has_a_line_that_another_thread_wrote_later(
    spec: MachineSpec, history: list[tuple[int, int, bool]]
) -> None:
    threads = touches_of(history)
    for mine, lines in zip(threads, l1_lines(spec, threads), strict=True):
        for line in lines:
            writes = (each[line].last_write for each in threads if line in each)
            assert all((write or 0) <= mine[line].last for write in writes)


@given(spec=machines(), history=histories)
def test_the_last_line_that_was_touched_is_in_its_core(
    spec: MachineSpec, history: list[tuple[int, int, bool]]
) -> None:
    thread, line, _ = history[-1]
    assert line in l1_lines(spec, touches_of(history))[thread]
