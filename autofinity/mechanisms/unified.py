"""Unified (ours): how far to spread from counters, who sits beside whom from sharing, and nothing
moved that has not earned it.

    counters ─► the decider of `autofinity run` ─► core set ─┐ guard: it may be taken back
    page faults ─► sharing matrix ─► EagerMap within the set ┴► threads, on trial
              └──► vectors since the threads last moved ─► pages, as many as remote reads pay for

What is different from the published mechanisms:

- A mapper alone does not know how far to spread; a policy does, but not who belongs together.
- Threads are bound as they are created, in the distributed affinity, neighbours by number together,
  and stay where they are while they are spread as the policy wants (`in_place`): a thread that
  changes its node leaves its pages behind.
- Within the set they change seats where that makes communication cheaper by a fifth and, if it
  takes threads to other nodes, by more than the private pages that they leave behind weigh (both in
  sampled faults). The guard judges each change by progress before and after; one that made the
  program slower is taken back, and the last.
- Faults from before a move came from other nodes than they would now: vectors begin anew.
- Pages move on a budget: what moving them costs never exceeds what remote reads have cost so far.
  Where data stay in the caches, no page moves at all.
- The rate of induced faults is what `OVERHEAD` of the threads' time allows, however large the
  program is; no scale of a paper's applies to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from autofinity.affinity.hints import get_affinity
from autofinity.mapping.cost import cost
from autofinity.mapping.eagermap import eagermap
from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.in_place import in_place, on_their_nodes
from autofinity.mechanisms.mapping_time import eagermap_ns
from autofinity.mechanisms.page_evidence import PageEvidence
from autofinity.mechanisms.recipe import NS_PER_S, Setting, Start
from autofinity.mechanisms.seat_trial import SeatTrial
from autofinity.mechanisms.sharing_aware import added, nothing, scaled, sent
from autofinity.model.affinity import DISTRIBUTED, Hint
from autofinity.model.detection import FaultSampling
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, BindThreads, Interval, Sensors, SpendTime
from autofinity.profiling.placements import bound
from autofinity.runtime.decider import LiveState

OVERHEAD = 0.001
"""Share of the threads' time that induced faults may take."""
FAULT_NS = 4_000
"""What one takes of all threads together, with the shootdown on every core, about."""
WORTH_MOVING = 0.8
"""Of the cost of communication that may be left."""
FEWEST_EVENTS = 16
"""Of sharing, a thread, before the matrix is believed."""
AGEING = 0.95


@dataclass(frozen=True, slots=True)
class Seen:
    """The decider's state, the sharing so far, where threads are, and what pages have shown."""

    live: LiveState
    matrix: SharingMatrix
    cpus: tuple[OsIndex, ...] = ()
    """Empty until the decider has said how far to spread."""
    pages: PageEvidence = field(default_factory=PageEvidence)
    trial: SeatTrial = field(default_factory=SeatTrial)


class Unified:
    """`unified`."""

    name = "unified"

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._inner = InRun(setting)
        self.start = Start(bound(self._spread(DISTRIBUTED)))
        faults_per_s = OVERHEAD * setting.threads * NS_PER_S / FAULT_NS
        share_per_s = faults_per_s / max(1, setting.pages)
        self.sensors = Sensors(
            (*self._inner.sensors.counters, "dram_reads_remote"),
            (FaultSampling(share_per_s=share_per_s, round_ns=setting.ns(10)),),
        )

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> Seen:
        """Nothing seen."""
        return Seen(self._inner.begin(topology, available, threads), nothing(threads))

    def period_ns(self, state: Seen) -> int:
        """The decider's."""
        return self._inner.period_ns(state.live)

    def step(self, state: Seen, interval: Interval) -> tuple[Seen, Sequence[Action]]:
        """A core set from the decider, seats in it from sharing, then pages."""
        live, _ = self._inner.step(state.live, interval)
        hint = live.hint if live.hint != state.live.hint else None
        state = Seen(
            live,
            added(scaled(state.matrix, AGEING), interval.sharing),
            state.cpus,
            state.pages.seeing(interval, AGEING),
            state.trial.seeing(interval),
        )
        state, actions = self._place_threads(state, interval, hint)
        if not actions and live.phase == "placed" and interval.pages is not None:
            pages, chosen = state.pages.affordable(interval.pages)
            state = replace(state, pages=pages)
            actions = sent(interval.pages, lambda _: chosen, self._setting.threads)
        return state, actions

    def _place_threads(
        self, state: Seen, interval: Interval, hint: Hint | None
    ) -> tuple[Seen, list[Action]]:
        cpus, trial, actions = state.cpus, state.trial, list[Action]()
        if hint is not None:
            cpus = in_place(self._setting.topology, interval.cpus, self._spread(hint))
            trial = replace(trial, guard=None)
        elif trial.guard is not None:
            trial, cpus = trial.judged(cpus)
        elif not trial.final and state.live.phase == "placed" and self._believed(state.matrix):
            actions.append(SpendTime("mapping", eagermap_ns(self._setting.threads)))
            cpus = self._seated(state)
            trial = trial.begun(state.cpus) if cpus != state.cpus else trial
        state = replace(state, trial=trial)
        if cpus == state.cpus:
            return state, actions
        if cpus != interval.cpus:
            state = replace(state, pages=replace(state.pages, since={}))
        return replace(state, cpus=cpus), [*actions, BindThreads(bound(cpus))]

    def _spread(self, hint: Hint) -> tuple[OsIndex, ...]:
        return get_affinity(self._setting.topology, self._setting.threads, hint).cpus

    def _believed(self, matrix: SharingMatrix) -> bool:
        return sum(map(sum, matrix.cells)) >= FEWEST_EVENTS * self._setting.threads

    def _seated(self, state: Seen) -> tuple[OsIndex, ...]:
        """The same PUs, dealt out anew where that is worth it."""
        topology, matrix, cpus = self._setting.topology, state.matrix, state.cpus
        mapped = eagermap(matrix, topology, frozenset(cpus))
        now = cost(matrix, topology, cpus)
        then, better = min(
            (cost(matrix, topology, each), each)
            for each in (on_their_nodes(topology, cpus, mapped), mapped)
        )
        if then >= WORTH_MOVING * now:
            return cpus
        gained = (now - then) / max(map(max, topology.distances)) / max(1.0, state.pages.sampled)
        return better if gained > state.pages.left_behind(topology, cpus, better) else cpus
