"""Unified (ours): how far to spread from counters, who sits beside whom from sharing, and nothing
moved that has not earned it.

    counters ─► the decider of `autofinity run` ─► core set ───────────┐ guard: may be taken back
    remote accesses, sampled ─► sharing matrix ─► EagerMap within the set ┴► threads, on trial
    long loads, sampled ─► vectors since threads last moved ─► pages, as remote reads pay for them

Differences from the published mechanisms:

- A mapper alone does not know how far to spread; a policy does, but not who belongs together.
- Threads are bound as they are created, in the spread affinity, neighbours by number together,
  and stay where they are while they are spread as the policy wants (`in_place`): a thread that
  changes its node leaves its pages behind.
- Within the set they change seats where that makes communication cheaper by a fifth, judged on
  samples that the mapping was not made from (`sharing_evidence`), and, if it takes threads to other
  nodes, by more than the private pages that they leave behind weigh. The guard judges each change
  by progress before and after; one that made the program slower is taken back, and the last.
- Samples from before a move came from other nodes than they would now: vectors restart from zero.
- Pages move on a budget: the cost of moving them never exceeds the cost of remote reads so far.
  Where data stay in the caches, no page moves at all.
- Sampled events cost time themselves: lines from caches of another domain show who shares, loads
  that took long show who uses a page. So looking costs a small share of what it
  may gain, and nothing where threads do not meet across the machine. (A page fault every now and
  then costs the same everywhere, and holds up all that wait at the next barrier: with 32 threads,
  faults of 0.1 % of their time made such programs 2 % slower.)
- Threads that share a cache cannot be seen to share: what was known of them stays.
- `by_faults` is the same on a real machine without such samples: page faults show both, at a rate
  that the kernel chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from autofinity.affinity.hints import get_affinity
from autofinity.mapping.cost import cost
from autofinity.mapping.eagermap import eagermap
from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.in_place import in_place, on_their_nodes
from autofinity.mechanisms.page_evidence import ALL_PAGES, PageEvidence
from autofinity.mechanisms.recipe import Setting, Start
from autofinity.mechanisms.seat_trial import SeatTrial
from autofinity.mechanisms.sharing_aware import sent
from autofinity.mechanisms.sharing_evidence import SharingEvidence
from autofinity.model.affinity import SPREAD, Hint
from autofinity.model.detection import AccessSampling, Detector, FaultSampling, RemoteAccesses
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, BindThreads, Interval, Sensors, SpendTime
from autofinity.profiling.placements import bound
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.seats import WORTH_MOVING

BY_SAMPLES = (
    RemoteAccesses(period=1000),
    AccessSampling(what="long-latency loads", period=10_000),
)
"""A microsecond each: about 1 % of what 1,000 remote lines cost, and 0.1 % of 10,000 long loads."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The decider's state, the sharing so far, where threads are, and what pages have shown."""

    live: LiveState
    sharing: SharingEvidence
    cpus: tuple[OsIndex, ...] = ()
    """Empty until the decider has said how far to spread."""
    pages: PageEvidence = field(default_factory=PageEvidence)
    trial: SeatTrial = field(default_factory=SeatTrial)


class Unified:
    """`unified`."""

    name = "unified"

    def __init__(
        self, setting: Setting, detectors: tuple[Detector, ...] = BY_SAMPLES, pages: int = ALL_PAGES
    ) -> None:
        """So many `pages` are remembered at a time."""
        self._setting, self._pages = setting, pages
        self._inner = InRun(setting)
        self.start = Start(bound(self._spread(SPREAD)))
        self.sensors = Sensors((*self._inner.sensors.counters, "dram_reads_remote"), detectors)
        remote_only = any(isinstance(one, RemoteAccesses) for one in detectors)
        self._domain = {
            pu.os_index: pu.llc if remote_only else pu.os_index for pu in setting.topology.pus
        }

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> Seen:
        """Nothing seen."""
        return Seen(self._inner.begin(topology, available, threads), SharingEvidence.none(threads))

    def period_ns(self, state: Seen) -> int:
        """The decider's."""
        return self._inner.period_ns(state.live)

    def step(self, state: Seen, interval: Interval) -> tuple[Seen, Sequence[Action]]:
        """A core set from the decider, seats in it from sharing, then pages."""
        live, _ = self._inner.step(state.live, interval)
        hint = live.hint if live.hint != state.live.hint else None
        domains = [self._domain[cpu] for cpu in interval.cpus]
        state = Seen(
            live,
            state.sharing.seeing(interval.sharing, domains),
            state.cpus,
            state.pages.seeing(interval, most=self._pages),
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
        elif not trial.final and state.live.phase == "placed" and state.sharing.believed:
            actions.append(SpendTime("mapping", self._setting.mapping_ns(self._setting.threads)))
            cpus = self._seated(state)
            trial = trial.begun(state.cpus) if cpus != state.cpus else trial
        if cpus == state.cpus:
            return replace(state, trial=trial), actions
        since = state.pages.since if cpus == interval.cpus else {}
        state = replace(state, trial=trial, cpus=cpus, pages=replace(state.pages, since=since))
        return state, [*actions, BindThreads(bound(cpus))]

    def _spread(self, hint: Hint) -> tuple[OsIndex, ...]:
        return get_affinity(self._setting.topology, self._setting.threads, hint).cpus

    def _seated(self, state: Seen) -> tuple[OsIndex, ...]:
        """The same PUs, reassigned to threads where that is worth the moves."""
        topology, sharing, cpus = self._setting.topology, state.sharing, state.cpus
        mapped = eagermap(sharing.mapped, topology, frozenset(cpus))
        now = cost(sharing.judged, topology, cpus)
        then, better = min(
            (cost(sharing.judged, topology, each), each)
            for each in (on_their_nodes(topology, cpus, mapped), mapped)
        )
        if then >= WORTH_MOVING * now:
            return cpus
        gained = (now - then) / max(map(max, topology.distances)) / max(1.0, state.pages.sampled)
        return better if gained > state.pages.left_behind(topology, cpus, better) else cpus


def by_faults(setting: Setting) -> Unified:
    """`unified`, with page faults in the place of samples, for as long as a program may run."""
    return Unified(setting, (FaultSampling(),), pages=1 << 13)  # some 4 MB of them
