"""Unified (ours): how far to spread from counters, who sits beside whom from sharing.

    counters ─► the decider of `autofinity run` ─► core set ─┐ guard: it may be taken back
    page faults ─► sharing matrix ─► EagerMap within the set ┴► threads
              └──► NUMA vectors since the threads last moved ─► pages

What each part adds to the published ones:

- A mapper alone does not know how far to spread: it packs (or fills) the machine whatever the
  program needs. The policy knows that, but not which threads belong together.
- Threads change places within the set only where that makes communication cheaper by a tenth
  (`mapping.cost`): nothing to gain, nothing moved.
- Faults counted before the threads moved came from other nodes than they would now, so page
  vectors begin anew with each move (kMAF'14, section 3.3, waits for the first mapping for the same
  reason, once).
- Pages are sampled half as often as in kMAF'16.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from autofinity.mapping.cost import cost
from autofinity.mapping.eagermap import eagermap
from autofinity.mapping.pages import locality_or_balance
from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.kmaf16 import faults
from autofinity.mechanisms.mapping_time import eagermap_ns
from autofinity.mechanisms.recipe import UNMANAGED, Setting
from autofinity.mechanisms.sharing_aware import added, by, nothing, scaled, sent
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, BindThreads, Interval, Sensors, SpendTime
from autofinity.profiling.placements import bound
from autofinity.runtime.decider import LiveState

SHARE_PER_S = 0.05
WORTH_MOVING = 0.9
"""Of the cost of communication that is to be left."""
FEWEST_EVENTS = 8
"""Of sharing, a thread, before the matrix is believed."""
AGEING = 0.9


@dataclass(frozen=True, slots=True)
class Seen:
    """The decider's state, the sharing so far, where threads are, and what pages have shown."""

    live: LiveState
    matrix: SharingMatrix
    cpus: tuple[OsIndex, ...] = ()
    faults: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Page → the vector it had when it was last seen."""
    since: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Page → faults since the threads last moved."""


class Unified:
    """`unified`."""

    name = "unified"
    start = UNMANAGED

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._inner = InRun(setting)
        self.sensors = Sensors(self._inner.sensors.counters, (faults(setting, SHARE_PER_S),))

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> Seen:
        """Nothing seen."""
        return Seen(self._inner.begin(topology, available, threads), nothing(threads))

    def period_ns(self, state: Seen) -> int:
        """The decider's."""
        return self._inner.period_ns(state.live)

    def step(self, state: Seen, interval: Interval) -> tuple[Seen, Sequence[Action]]:
        """A core set from the decider, seats in it from sharing, then pages."""
        live, decided = self._inner.step(state.live, interval)
        state = replace(
            state,
            live=live,
            matrix=added(scaled(state.matrix, AGEING), interval.sharing),
        )
        state = seen(state, interval.pages)
        cpus = state.cpus
        for action in decided:
            if isinstance(action, BindThreads):
                cpus = tuple(min(mask) for mask in action.placement.masks)
        actions: list[Action] = []
        if cpus and self._believed(state.matrix):
            actions.append(self._mapping_time())
            cpus = self._seated(state.matrix, cpus)
        if cpus != state.cpus:
            actions.append(BindThreads(bound(cpus)))
            return replace(state, cpus=cpus, since={}), actions
        if live.phase == "placed" and interval.pages is not None:
            fresh = replace(
                interval.pages, pages={page: state.since[page] for page in interval.pages.pages}
            )
            actions += sent(fresh, by(locality_or_balance), self._setting.threads)
        return state, actions

    def _believed(self, matrix: SharingMatrix) -> bool:
        return sum(map(sum, matrix.cells)) >= FEWEST_EVENTS * self._setting.threads

    def _mapping_time(self) -> SpendTime:
        return SpendTime("mapping", eagermap_ns(self._setting.threads), 0)

    def _seated(self, matrix: SharingMatrix, cpus: tuple[OsIndex, ...]) -> tuple[OsIndex, ...]:
        """The same PUs, dealt out anew where that is worth it."""
        topology = self._setting.topology
        better = eagermap(matrix, topology, frozenset(cpus))
        worth = WORTH_MOVING * cost(matrix, topology, cpus)
        return better if cost(matrix, topology, better) < worth else cpus


def seen(state: Seen, pages: NumaVectors | None) -> Seen:
    """With the faults that these pages had since they were last seen."""
    if pages is None:
        return state
    since = dict(state.since)
    for page, now in pages.pages.items():
        before = state.faults.get(page, (0,) * len(now))
        so_far = since.get(page, (0,) * len(now))
        # Counters that are full, or were halved, tell of nothing new.
        since[page] = tuple(s + max(0, n - b) for s, n, b in zip(so_far, now, before, strict=True))
    return replace(state, faults={**state.faults, **pages.pages}, since=since)
