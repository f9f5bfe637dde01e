"""Caches that begin a window: coherent whatever the snapshots are, and as the newest touches leave
them.
"""

from __future__ import annotations

from dataclasses import dataclass

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
DATA = range(BASE, BASE + LINES)
OWNED = 3
"""The states O and M are dirty."""


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
    caches = [("llc", llc) for llc in range(spec.topology.n_llcs)]
    caches += [(level, core_) for level in ("l1", "l2") for core_ in range(spec.topology.n_cores)]
    for cache, number in caches:
        lines, states = simulation.contents(cache, number)
        for line, state in zip(lines.tolist(), states.tolist(), strict=True):
            assert state < OWNED or line in written or line not in DATA
