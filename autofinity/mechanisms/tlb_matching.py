"""TLB matching: Cruz, Diener & Navaux, Communication-Aware Thread Mapping Using the Translation
Lookaside Buffer, CCPE 2014; and the cache-miss detection of Azimi et al. with the same mapper.

- Detection (4.1, 4.2, 6.6): equal entries in TLBs, same set only, 20 cycles for each entry read.
- Trigger (4.3.3): T · E local TLB misses; fewer in proportion where a run stands for a longer one.
- Gate (5): more triggers than threads since the matrix was last looked at.
- Filter (5.1): at least 2 threads have another partner than before.
- Threads (5.2, eq. 9): Edmonds' matching, level by level.

Deviations: gate and matrix are looked at every 10 ms of the paper's run, not within the trigger.
The paper wants the present pattern (section 6.3), and does not say how old counts leave the matrix:
here half of it goes at each look. With none left, the partners of threads that share with two alike
change all the time, where table II has one migration in most runs. Fewer misses a trigger let
readings follow each other more closely: they take at most `READING_SHARE` of a core's time. `azimi`
(6.7) has no triggers: its gate is a period of 100 ms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autofinity.mapping.edmonds import edmonds
from autofinity.mechanisms.recipe import NS_PER_S, UNMANAGED, Setting
from autofinity.mechanisms.sharing_aware import added, nothing, scaled
from autofinity.model.detection import Detector, RemoteAccesses, TlbMatching
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, BindThreads, Interval, Sensors, SpendTime
from autofinity.profiling.placements import bound

CHANGED_PARTNERS = 2
AGEING = 0.5
"""What is left of the matrix after each look at it."""
REMOTE_ACCESSES_PER_SAMPLE = 200
READING_SHARE = 0.005
"""Section 6.6: for all applications but one detection takes less."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The aged matrix, triggers since the gate last opened, partners then, where threads are."""

    matrix: SharingMatrix
    triggers: int = 0
    partners: tuple[int, ...] = ()
    cpus: tuple[OsIndex, ...] = ()
    mappings: int = 0


class TlbMapping:
    """`tlb` and `azimi`."""

    start = UNMANAGED

    def __init__(self, name: str, setting: Setting, detector: Detector, period_ms: float) -> None:
        self.name = name
        self.sensors = Sensors(detectors=(detector,))
        self._setting = setting
        self._period_ms = period_ms
        self._gate = setting.threads if isinstance(detector, TlbMatching) else -1

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> Matched:
        """Nobody has a partner."""
        return Matched(nothing(threads))

    def period_ns(self, state: Matched) -> int:
        """From look to look."""
        return self._setting.ns(self._period_ms)

    def step(self, state: Matched, interval: Interval) -> tuple[Matched, Sequence[Action]]:
        """Gate, filter, mapper."""
        state = replace(
            state,
            matrix=added(state.matrix, interval.sharing),
            triggers=state.triggers + interval.triggers,
        )
        if state.triggers <= self._gate or not any(map(any, state.matrix.cells)):
            return state, ()
        now = partners(state.matrix)
        fresh = replace(state, matrix=scaled(state.matrix, AGEING), triggers=0, partners=now)
        if state.partners and changed(state.partners, now) < CHANGED_PARTNERS:
            return fresh, ()
        topology, threads = self._setting.topology, self._setting.threads
        cpus = edmonds(state.matrix, topology, topology.allowed)
        spent = SpendTime("mapping", self._setting.mapping_ns(threads), state.mappings % threads)
        fresh = replace(fresh, cpus=cpus, mappings=state.mappings + 1)
        if cpus == state.cpus:
            return fresh, (spent,)
        return fresh, (spent, BindThreads(bound(cpus)))


def partners(matrix: SharingMatrix) -> tuple[int, ...]:
    """Section 5.1: of each thread, the one it shares most with; the lowest of several; -1: none."""
    return tuple(
        max(range(len(row)), key=lambda other: (row[other], -other)) if any(row) else -1
        for row in matrix.cells
    )


def changed(before: tuple[int, ...], now: tuple[int, ...]) -> int:
    """Threads with another partner; one that shared nothing lately keeps the one it had."""
    return sum(a != b for a, b in zip(before, now, strict=True) if b >= 0)


def tlb(setting: Setting) -> TlbMapping:
    """The paper's mechanism."""
    scale = min(1.0, setting.paper_second_ns / NS_PER_S)
    detector = TlbMatching(misses_scale=scale, most_share=READING_SHARE)
    return TlbMapping("tlb", setting, detector, 10)


def azimi(setting: Setting) -> TlbMapping:
    """Azimi et al., Enhancing Operating System Support for Multicore Processors by Using Hardware
    Performance Monitoring, 2009, as the TLB paper compares with it.
    """
    return TlbMapping("azimi", setting, RemoteAccesses(period=REMOTE_ACCESSES_PER_SAMPLE), 100)
