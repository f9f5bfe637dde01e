"""Unified (ours): how far to spread from counters, who sits beside whom from sharing, and nothing
moved that has not earned it.

    counters ─► the decider of `autofinity run` ─► core set ───────────┐ guard: may be taken back
    remote accesses, sampled ─► sharing matrix ─► EagerMap within the set ┴► threads, on trial
    long loads, sampled ─► vectors since threads last moved ─► pages, as remote reads pay for them

Differences from the published mechanisms:

- A mapper alone does not know how far to spread; a policy does, but not who belongs together.
- All that the decider wants is done. Once its answer has stood the test of its guard, threads
  change seats within the set where that makes communication cheaper by a fifth, judged on
  samples that the mapping was not made from (`sharing_evidence`), and, if it takes threads to other
  nodes, by more than the private pages that they leave behind weigh. Each change is on trial
  (`seat_trial`): one that did not make the program faster is taken back, and the last.
- Samples from before a move came from other nodes than they would now: vectors restart from zero.
- Pages move on a budget: the cost of moving them never exceeds the cost of remote reads so far.
  Where data stay in the caches, no page moves at all; and pages that nodes share leave only a node
  that is loaded more than others (`locality_or_relief`).
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

from collections.abc import Callable, Sequence
from dataclasses import replace

from autofinity.affinity.hints import get_affinity
from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.better_seats import better_seats
from autofinity.mechanisms.page_evidence import ALL_PAGES
from autofinity.mechanisms.recipe import Setting
from autofinity.mechanisms.sharing_aware import sent
from autofinity.mechanisms.sharing_evidence import SharingEvidence
from autofinity.mechanisms.unified_state import Seen
from autofinity.model.affinity import SPREAD
from autofinity.model.detection import AccessSampling, Detector, FaultSampling, RemoteAccesses
from autofinity.model.memory import MemoryByNode
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, BindThreads, Interval, Sensors, SpendTime
from autofinity.profiling.placements import bound
from autofinity.runtime.follower import guarded
from autofinity.runtime.live_state import LiveState

BY_SAMPLES = (
    RemoteAccesses(period=1000),
    AccessSampling(what="long-latency loads", period=10_000, least_latency_ns=60.0),
)
"""A microsecond each: about 1 % of what 1,000 remote lines cost, and 0.2 % of 10,000 long loads.
Loads from local memory are long, too: without them pages would look like those of the nodes that
read them from afar."""
_TRIAL_MS = 50
"""Length of a look by which an order of seats is judged."""


class Unified:
    """`unified`."""

    name = "unified"

    def __init__(
        self, setting: Setting, detectors: tuple[Detector, ...] = BY_SAMPLES, pages: int = ALL_PAGES
    ) -> None:
        """So many `pages` are remembered at a time."""
        self._setting, self._pages = setting, pages
        self._inner = InRun(setting)
        self.start = self._inner.start
        self.sensors = Sensors((*self._inner.sensors.counters, "dram_reads_remote"), detectors)
        remote_only = any(isinstance(one, RemoteAccesses) for one in detectors)
        self._domain = {
            pu.os_index: pu.llc if remote_only else pu.os_index for pu in setting.topology.pus
        }

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> Seen:
        """Nothing seen."""
        start = self.start.placement
        seen = Seen(self._inner.begin(topology, available, threads), SharingEvidence.none(threads))
        return seen.bound([BindThreads(start)] if start else [])

    def period_ns(self, state: Seen) -> int:
        """The decider's; short while seats are on trial."""
        period_ns = self._inner.period_ns(state.live)
        return min(period_ns, self._setting.ns(_TRIAL_MS)) if state.trial.guard else period_ns

    def sees_memory(self, memory: Callable[[], MemoryByNode | None]) -> None:
        """As the decider."""
        self._inner.sees_memory(memory)

    def decided(self, state: Seen) -> LiveState:
        """The decider's state."""
        return state.live

    def step(self, state: Seen, interval: Interval) -> tuple[Seen, Sequence[Action]]:
        """Do as the decider wants; else order seats by sharing; else move pages."""
        live, actions = self._inner.step(state.live, interval)
        state = state.seeing(live, interval, self._domain, self._pages)
        if actions:
            return state.bound(actions), actions
        if live.phase != "placed" or guarded(live):
            return state, ()
        state, actions = self._ordered(state)
        if not actions and interval.pages is not None:
            pages, chosen = state.pages.affordable(interval.pages)
            state = replace(state, pages=pages)
            actions = sent(interval.pages, lambda _: chosen, self._setting.threads)
        return state, actions

    def _ordered(self, state: Seen) -> tuple[Seen, Sequence[Action]]:
        """Judge the order of seats that is on trial, or try another."""
        trial, actions, setting = state.trial, list[Action](), self._setting
        if trial.guard is not None:
            trial, cpus = trial.judged(state.cpus)
        elif not trial.may_begin or not state.cpus or not state.sharing.believed:
            return state, ()
        else:
            actions.append(SpendTime("mapping", setting.mapping_ns(setting.threads)))
            cpus = better_seats(setting.topology, state.cpus, state.sharing, state.pages)
        if cpus == state.cpus:
            return replace(state, trial=trial), actions
        actions.append(BindThreads(bound(cpus)))
        after = state.bound(actions)
        judged = trial if state.trial.guard else trial.begun(state.cpus)
        return replace(after, trial=judged), actions


def by_faults(setting: Setting) -> Unified:
    """`unified`, with page faults in the place of samples, for as long as a program may run. Raises
    `PlacementError` without a core for each thread.
    """
    get_affinity(setting.topology, setting.threads, SPREAD)
    return Unified(setting, (FaultSampling(),), pages=1 << 13)  # some 4 MB of them
