"""The data that a sampled capture would have of a run at an instant of its full replay, and the
agreement of a window's warmed state with the replay's state at that instant.

The replay is stopped at intervals: everything that a stream did between two stops has one stamp. So
a snapshot here is as coarse as one of a capture, and its order is that of simulated time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.spec import MachineSpec

PAGE_LINES = 64
ACCESS = 0
INSTRUCTIONS = 20_000
"""Instructions of a stamp before the region."""

OWNED = 3
"""The states O and M are dirty."""

type LineRun = tuple[int, int, bool, int]
type Cache = Literal["l1", "l2", "llc"]


@dataclass(frozen=True, slots=True)
class Touches:
    """Lines that a stream touched until the instant, ascending, and at which stamps."""

    lines: npt.NDArray[np.uint64]
    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    last_write: npt.NDArray[np.int64]
    """-1: the stream has not written the line."""

    def newest_first(self) -> list[LineRun]:
        """Runs of lines, newest first; a line that was read after its last write appears twice."""
        read = self.last > self.last_write
        wrote = self.last_write >= 0
        lines = np.concatenate([self.lines[read], self.lines[wrote]])
        stamps = np.concatenate([self.last[read], self.last_write[wrote]])
        written = np.arange(len(lines)) >= np.count_nonzero(read)
        order = np.lexsort((lines, -stamps))
        columns = (lines[order], written[order], stamps[order])
        return [
            (line, 1, written, stamp)
            for line, written, stamp in zip(*(each.tolist() for each in columns), strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Instant:
    """A full replay at an instant, and the lines that its streams had touched by then."""

    replay: core.Simulation
    touches: Sequence[Touches]

    def window(self) -> core.Program:
        """A window without events that begins at the instant."""
        builder = TraceBuilder()
        for _ in self.touches:
            builder.compute(builder.stream(), gap=1)
        return core.Program.window(
            builder.build(),
            self._first_touches(),
            [each.newest_first() for each in self.touches],
            [False] * len(self.touches),
        )

    def _first_touches(self) -> list[tuple[int, int, int]]:
        pages = [each.lines // PAGE_LINES for each in self.touches]
        numbers = np.concatenate(pages)
        stamps = np.concatenate([each.first for each in self.touches])
        streams = np.repeat(np.arange(len(pages)), [len(each) for each in pages])
        order = np.lexsort((streams, stamps))
        _, firsts = np.unique(numbers[order], return_index=True)
        firsts = order[np.sort(firsts)]
        return [(int(numbers[i]), 1, int(streams[i])) for i in firsts]


def instant_of(
    model: core.MachineModel, trace: Trace, pus: Sequence[int], share: float, step_ns: float
) -> Instant:
    """Replay a trace until that share of its region's instructions, stopping every `step_ns`."""
    replay = core.Simulation(model, core.Program(trace), pus)
    positions: list[list[int]] = []
    while not replay.ended and replay.progress < share:
        replay.advance(step_ns)
        positions.append(replay.positions)
    stops = np.array(positions, dtype=np.int64)
    # Before the region the first stream is as good as alone.
    alone = np.zeros((stops[0, 0] // INSTRUCTIONS, stops.shape[1]), dtype=np.int64)
    alone[:, 0] = np.arange(len(alone)) * INSTRUCTIONS
    stops = np.concatenate([alone, stops])
    return Instant(
        replay, [touches_of(trace, stream, stops[:, stream]) for stream in range(trace.streams)]
    )


def touches_of(trace: Trace, stream: int, stops: npt.NDArray[np.int64]) -> Touches:
    """The lines that a stream has touched by the last of its `stops`, in instructions since it
    began.
    """
    events = trace.events(stream)
    at = np.cumsum(events["gap"], dtype=np.int64)
    chosen = (events["kind"] == ACCESS) & (at <= stops[-1])
    lines = events["value"][chosen]
    stamps = np.searchsorted(stops, at[chosen])
    writes = events["writes"][chosen] != 0
    distinct, place = np.unique(lines, return_inverse=True)
    first = np.full(len(distinct), len(stops))
    last = np.zeros(len(distinct), dtype=np.int64)
    last_write = np.full(len(distinct), -1)
    np.minimum.at(first, place, stamps)
    np.maximum.at(last, place, stamps)
    np.maximum.at(last_write, place[writes], stamps[writes])
    return Touches(distinct, first, last, last_write)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement for the lines of some caches, in the full replay and in the warmed window."""

    true: int
    warm: int
    both: int
    same_state: int

    @property
    def resident(self) -> float:
        """Share of lines that are present in both."""
        return self.both / max(self.true, self.warm, 1)

    @property
    def with_state(self) -> float:
        """Share of lines that are present in both, in the same state."""
        return self.same_state / max(self.true, self.warm, 1)


@dataclass(frozen=True, slots=True)
class Caches:
    """The caches of the threads on some PUs."""

    cores_of_llc: Mapping[int, Sequence[int]]

    @classmethod
    def of(cls, spec: MachineSpec, pus: Sequence[int]) -> Caches:
        found: dict[int, set[int]] = {}
        for pu in pus:
            found.setdefault(spec.topology.pus[pu].llc, set()).add(spec.topology.pus[pu].core)
        return cls({llc: sorted(cores) for llc, cores in found.items()})

    def agreement(self, true: core.Simulation, warm: core.Simulation) -> dict[str, Agreement]:
        """Agreement by level; `llc domain`: lines of an LLC and its L2s, and whether they are
        dirty.
        """
        cores = [core for cores in self.cores_of_llc.values() for core in cores]
        levels: dict[str, Sequence[tuple[States, States]]] = {
            "l1": [(states(true, "l1", each), states(warm, "l1", each)) for each in cores],
            "l2": [(states(true, "l2", each), states(warm, "l2", each)) for each in cores],
            "llc": [(states(true, "llc", n), states(warm, "llc", n)) for n in self.cores_of_llc],
            "llc domain": [
                (dirty_lines(true, n, own), dirty_lines(warm, n, own))
                for n, own in self.cores_of_llc.items()
            ],
        }
        return {level: _agreement(pairs) for level, pairs in levels.items()}


type States = dict[int, int]
"""Line → state."""


def states(simulation: core.Simulation, cache: Cache, number: int) -> States:
    lines, found = simulation.contents(cache, number)
    return dict(zip(lines.tolist(), found.tolist(), strict=True))


def dirty_lines(simulation: core.Simulation, llc: int, cores: Sequence[int]) -> States:
    """Lines of an LLC and the L2s around it, and whether they are newer than memory."""
    found: States = {}
    for part in (states(simulation, "llc", llc), *(states(simulation, "l2", c) for c in cores)):
        for line, state in part.items():
            found[line] = max(found.get(line, 0), state >= OWNED)
    return found


def _agreement(pairs: Sequence[tuple[States, States]]) -> Agreement:
    return Agreement(
        true=sum(len(true) for true, _ in pairs),
        warm=sum(len(warm) for _, warm in pairs),
        both=sum(len(true.keys() & warm.keys()) for true, warm in pairs),
        same_state=sum(len(true.items() & warm.items()) for true, warm in pairs),
    )
