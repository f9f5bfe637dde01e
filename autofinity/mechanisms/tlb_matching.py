"""TLB matching: Cruz, Diener & Navaux, Communication-Aware Thread Mapping Using the Translation
Lookaside Buffer, CCPE 2014; and the cache-miss detection of Azimi et al. with the same mapper.

- Detection (4.1, 4.2.4, 6.6): equal entries in TLBs, same set only, 20 cycles for each entry read.
- Trigger (4.3.3): T · E local TLB misses; fewer, but never below T, where a run stands for a longer
  one (4.4: "adjust the trigger"). Costs do not shrink with the run, so that readings take at most
  what they take in the paper (6.6). So the overhead of the simulated run is below the paper's 0.5 %
  by construction, and no result; in the run that it stands for a reading counts once for T · E
  misses (`evaluation/in_minute.py`), and nothing caps it.
- Gate (5, figure 6): more triggers than threads since the matrix was last looked at.
- Matrix (5.1): "a new communication matrix" each time, of what was seen since the last look. So one
  phase leaves nothing in the next, and a look between two has traces of both (6.2, figure 9).
- Filter (5.1): `communication_filter`.
- Threads (5.2, equation 9): Edmonds' matching, level by level.

Deviations: gate and matrix are looked at every 10 ms of the paper's run, not within the trigger. A
trigger that is adjusted to fewer misses reads TLBs in which little has changed: of one such look
most threads have a handful of matches, a passing state that says nothing of the whole (4.3.1 warns
of it). So a look goes on until there are `MATCHES` a thread. Table II has one migration in most
runs, three at most. `azimi` (6.7) has no triggers: its gate is a period of 100 ms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autofinity.mapping.edmonds import edmonds
from autofinity.mechanisms.communication_filter import partners, passes
from autofinity.mechanisms.recipe import NS_PER_S, UNMANAGED, Setting
from autofinity.mechanisms.sharing_aware import added, nothing
from autofinity.model.detection import Detector, RemoteAccesses, TlbMatching
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, BindThreads, Interval, Sensors, SpendTime
from autofinity.profiling.placements import bound

REMOTE_ACCESSES_PER_SAMPLE = 200
MATCHES = 350
"""Matches per thread, in the mean, that a matrix must have to be looked at."""
READING_SHARE = 0.005
"""Section 6.6: for all applications but one detection takes less. A cap, not a result."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Sharing since the gate last opened, triggers since, partners, where threads are."""

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
        matches = isinstance(detector, TlbMatching)
        self._gate = setting.threads if matches else -1
        self._least = MATCHES * setting.threads if matches else 1

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
        if state.triggers <= self._gate or sum(map(sum, state.matrix.cells)) < self._least:
            return state, ()
        now = partners(state.matrix, state.partners)
        fresh = Matched(nothing(state.matrix.threads), 0, now, state.cpus, state.mappings)
        if not passes(state.partners, now):
            return fresh, ()
        topology, threads = self._setting.topology, self._setting.threads
        cpus = edmonds(state.matrix, topology, topology.allowed)
        spent = SpendTime("mapping", self._setting.mapping_ns(threads), state.mappings % threads)
        fresh = replace(fresh, cpus=cpus, mappings=state.mappings + 1)
        if cpus == state.cpus:
            return fresh, (spent,)
        return fresh, (spent, BindThreads(bound(cpus)))


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
