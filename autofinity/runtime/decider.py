"""Figure 3 of the paper on a running program: watch the threads appear and the program settle,
start spread, sample, ask the policy, place, and follow the threads from then on.

    watching ─► (known program) ──────────────────────────► placed ◄─┐ threads come and go
        │ until the set-up is over (`steady`)                  ▲     ─┘
        └─► settling ─► sampling ─► (the answer stands) ───────┘
                ▲   (`sampler`)                │ ├ sampled once more, to learn from
                │                              │ ├ the guard may take it back (`follower`)
                │                              │ └ continuous mode: has it changed?
                └──────────────────────────────┴─ sampled again

Nothing is placed before the threads are seen to compute: with a narrower mask a runtime that counts
its CPUs would start fewer threads. The class is a pure `ports.Mechanism`: its queries (CPUs allowed
now, answers on record) are passed in as functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from autofinity.affinity.best_matches import all_cores
from autofinity.affinity.hints import get_affinity
from autofinity.affinity.siblings import siblings_note
from autofinity.model.answer_on_record import AnswerOnRecord, SeatOrder
from autofinity.model.detection import FaultSampling
from autofinity.model.errors import PlacementError
from autofinity.model.facts import FactsOf, no_facts
from autofinity.model.memory import FAR_READS, MemoryByNode
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.evidence import can_ask
from autofinity.ports import Interval, Sensors
from autofinity.runtime.asking import Asking, Decide
from autofinity.runtime.claims import Reserve, reserve_alone
from autofinity.runtime.continuous import look_cost_ns
from autofinity.runtime.evidence import nothing_to_choose, unmeasured, without_policy
from autofinity.runtime.follower import Follower, guarded
from autofinity.runtime.live_state import LiveState, Settings, Turn
from autofinity.runtime.looking import LookCosts
from autofinity.runtime.phases import PHASE_COUNTERS
from autofinity.runtime.placed import Placed
from autofinity.runtime.placer import BY_SHARING, Placer
from autofinity.runtime.sampler import Sampler
from autofinity.runtime.seat_order import SHOWN
from autofinity.runtime.seats import shows_neighbours
from autofinity.runtime.trying import NEIGHBOURS
from autofinity.runtime.undecided import ONE_OF_A_RANK

_LEAST_LOOK_NS = 50_000_000  # on a crowded machine every thread has had its turn by then
ORDER_ON_RECORD: Mapping[SeatOrder, str] = {
    order: f"on record is {SHOWN[order]}: threads sit so from the start"
    for order in ("by number", "exchanged")
}
STILL_GROWING = "its memory still grows: sampled now, and again when its memory stops growing"


class LivePolicy:
    """The mechanism `autofinity` on a running program."""

    name = "autofinity"

    def __init__(
        self,
        topology: Topology,
        policy: RulePolicy | None,
        decide: Decide,
        available: Callable[[], frozenset[OsIndex]],
        known: Callable[[int], AnswerOnRecord | None],
        settings: Settings,
        reserve: Reserve = reserve_alone,
        facts_of: FactsOf = no_facts,
    ) -> None:
        """Make the mechanism.

        `available` gives the CPUs allowed now, `known` the answer on record for a thread count.
        `reserve` chooses cores among the CPUs beside other runs. `facts_of` gives facts of the
        machine, for a policy that asks for facts.
        """
        self._topology = topology
        self._policy = policy
        self._known = known
        self._settings = settings
        self._placer = Placer(topology, available, settings, reserve)
        self._follower = Follower(self._placer, settings)
        self._sampler = (
            Sampler(
                topology,
                Asking(policy, decide, facts_of),
                self._placer,
                settings,
                self._unmeasured,
            )
            if policy is not None
            else None
        )
        # A table for some tens of MB of shared data; larger tables would fill the monitor's memory.
        faults = (FaultSampling(entries=1 << 14),) if settings.by_sharing else ()
        self.sensors = Sensors(_counters(policy, topology), faults)

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> LiveState:
        """State before the first look; machine and thread count were given to the constructor."""
        del topology, threads
        costs = LookCosts(sampling_loss=self._settings.sampling_loss)
        return LiveState(placed=Placed(available=available), costs=costs)

    def sees_memory(self, memory: Callable[[], MemoryByNode | None]) -> None:
        """From now on put threads near the program's memory, which `memory` looks for."""
        self._placer.memory = memory

    def period_ns(self, state: LiveState) -> int:
        """Length of the next look."""
        settings = self._settings
        if state.phase == "sampling" or self._only_the_room_is_unknown(state):
            return max(settings.sample_ns // settings.parts, _LEAST_LOOK_NS)
        if state.phase == "settling":
            return settings.settle_ns
        if state.phase == "watching":
            # The longer the threads stay incomplete, the rarer the looks.
            return min(max(settings.look_ns, state.waited_ns // 20), settings.follow_ns)
        if state.phase == "placed" and guarded(state):
            return min(max(settings.look_ns, settings.sample_ns // 4), settings.follow_ns)
        if state.phase == "placed" and state.samples.wants_outcome(state.placed.affinity):
            return min(max(settings.look_ns, settings.sample_ns), settings.follow_ns)
        if state.phase == "placed" and settings.every_ns:
            return settings.every_ns
        return settings.follow_ns

    def step(self, state: LiveState, interval: Interval) -> Turn:
        """One turn of the loop."""
        state, rate = _rate(state.looked(interval), interval)
        if interval.ended:
            return state, ()
        match state.phase:
            case "watching":
                return self._watch(state)
            case "settling":
                return self._settled(state, interval), ()
            case "sampling":
                assert self._sampler is not None
                return self._sampler.look(state, interval, rate)
            case "placed":
                return self._placed(state, interval, rate)
            case "left alone":
                if self._left_for_good(state):
                    return self._left_alone(state)
                return replace(state, phase="watching", steady=0), ()

    def _settled(self, state: LiveState, interval: Interval) -> LiveState:
        """Enter sampling when enough time has passed to warm the caches; an interval may end
        early.
        """
        stay = state.stay.looked(interval.end_ns - interval.start_ns)
        if stay.ns < self._settings.settle_ns:
            return replace(state, stay=stay)
        return replace(state, phase="sampling", stay=stay.from_now())

    def _watch(self, state: LiveState) -> Turn:
        count, promised = len(state.workers.computing), self._settings.threads
        if not count or not self._complete(state):
            return state, ()
        if count < 2:  # a single thread has no neighbour
            divided = self._settings.divided
            return self._placer.let_all_go(state.noting(ONE_OF_A_RANK)) if divided else (state, ())
        if promised and count != promised:
            threads = "1 thread was" if promised == 1 else f"{promised} threads were"
            state = state.noting(f"{threads} promised and {count} compute")
        known = self._known(promised or count)
        asked_for = known is not None and self._policy is None
        if not asked_for and (why := self._nothing_to_choose()):
            state = state.noting(why)
        if known is not None:
            state = replace(state, unasked=False)
            if known.order != "near home":
                note = ORDER_ON_RECORD[known.order]
                state = replace(state.noting(note), order=state.order.begun(known.order))
            state, actions = self._placer.place(state, known.hint, "placed")
            if asked_for and state.phase == "placed":
                here = self._topology.restricted(state.placed.available)
                note = siblings_note(here, known.hint, state.placed.seats)
                state = state.noting(note) if note else state
            return state, actions
        if self._policy is None or self._sampler is None:
            return self._unasked(state.noting(without_policy(self._settings.fallback)))
        if self._settings.blind or self._found_blind(state):
            return self._unmeasured(state, self._policy.counters)
        return self._sample_when_steady(state, self._sampler)

    def _complete(self, state: LiveState) -> bool:
        """Whether no more threads are expected to start computing."""
        count, promised = len(state.workers.computing), self._settings.threads
        steady = state.steady >= self._settings.steady_looks
        if not promised:
            return steady
        patient = state.waited_ns >= self._settings.patience_ns
        return (count >= promised and (steady or not state.restless)) or (steady and patient)

    def _sample_when_steady(self, state: LiveState, sampler: Sampler) -> Turn:
        """Sample once the program is steady; an answer that needs no sample is used at once."""
        answer = sampler.without_looking()
        if answer is not None:
            return sampler.settle(state, answer)
        match state.onset.stage:
            case "setting up" | "changing":
                return state, ()
            case "growing for ever":
                state = replace(state.noting(STILL_GROWING), early=True)
            case "steady":
                pass
        if not state.workers.active or not state.workers.room_is_known:
            return state, ()
        return sampler.begin(state)

    def _only_the_room_is_unknown(self, state: LiveState) -> bool:
        """Whether a sample waits for nothing but more ends of looks, which may come fast.

        A look in which no thread was seen to compute has no end that counts: a longer one follows.
        """
        workers = state.workers
        waits = state.phase == "watching" and workers.active and not workers.room_is_known
        return waits and state.onset.stage == "steady" and self._complete(state)

    def _placed(self, state: LiveState, interval: Interval, rate: float) -> Turn:
        state = self._follower.outcome(state, interval)
        if state.early and state.onset.stage == "steady":
            state = replace(state.noting("its memory no longer grows: sampled again"), early=False)
            return self._sample_anew(state)
        if self._settings.every_ns and self._policy is not None:
            state = self._follower.look_again(state, interval, self._policy.counters)
            if state.watch.worth_a_look(self._look_cost_ns(state)):
                return self._sample_anew(
                    state.noting(f"the program has changed ({state.watch.changed}): sampled again")
                )
        state, actions = self._follower.follow(state, interval, rate)
        return (state, actions) if actions else self._placer.seat_anew(state)

    def _nothing_to_choose(self) -> str:
        """Why all hints are equal here; empty where they differ. A core for each thread is a choice
        within one cache, too.
        """
        if self._settings.bind != "llc":
            return ""
        return nothing_to_choose(self._topology, self._placer.available())

    def _found_blind(self, state: LiveState) -> bool:
        """Whether an earlier sample showed that nothing the rules ask for is measured."""
        assert self._policy is not None
        measured = set(self._policy.counters).difference(state.missing)
        return bool(state.missing) and not can_ask(self._policy, measured)

    def _unmeasured(self, state: LiveState, lacking: Sequence[str]) -> Turn:
        """Leave the threads unbound for want of these counters, unless the user named a hint for
        this case.
        """
        assert self._policy is not None
        every = len(lacking) == len(self._policy.counters)
        said = unmeasured(self._settings.fallback, lacking, every=every)
        return self._unasked(state.noting(said))

    def _unasked(self, state: LiveState) -> Turn:
        fallback = self._settings.fallback
        if fallback is None:
            return self._placer.let_all_go(state)
        return self._placer.place(replace(state, unasked=True), fallback, "placed")

    def _left_alone(self, state: LiveState) -> Turn:
        """Bind nobody; without counters, place threads once the sharing between them is known."""
        policy, count = self._policy, len(state.placed.threads)
        if policy is None or count < 2 or not (self._settings.by_sharing and self._settings.blind):
            return state, ()
        if state.workers.room < count:  # they take turns: no thread would have a seat of its own
            return state, ()
        sharing = state.sharing.among(state.placed.threads)
        state = replace(state, sharing=state.sharing.faded())
        available = self._placer.available()
        hint = policy.at(policy.default, count, all_cores(self._topology, available))
        try:
            cores = get_affinity(self._topology, count, hint, available, self._settings.near)
        except PlacementError:  # several threads to a CPU
            return state, ()
        if self._nothing_to_choose() or not shows_neighbours(self._topology, cores.cpus, sharing):
            return state, ()
        state = replace(state.noting(BY_SHARING), unasked=True)
        return self._placer.place(state, hint, "placed")

    def _left_for_good(self, state: LiveState) -> bool:
        """Whether the threads, and the CPUs that they may use, are still those that were left
        alone.
        """
        same_cpus = self._placer.available() == state.placed.allowed
        return state.same_threads and same_cpus

    def _look_cost_ns(self, state: LiveState) -> float:
        return look_cost_ns(self._topology, len(state.placed.threads), self._settings.sample_ns)

    def _sample_anew(self, state: LiveState) -> Turn:
        assert self._sampler is not None
        return self._sampler.begin(replace(state, standing=state.placed.hint, restarts=0))


def _counters(policy: RulePolicy | None, topology: Topology) -> tuple[str, ...]:
    """Counters to measure; empty where no sample is taken.

    They are those of the policy and those that show phases, the set-up and, where there are several
    LLCs, the cost of remote pages and whether neighbours matter.
    """
    if policy is None or not policy.counters:
        return ()
    several = len({pu.llc for pu in topology.pus}) > 1
    far = (FAR_READS, *NEIGHBOURS) if several else ()
    return tuple(dict.fromkeys((*policy.counters, *PHASE_COUNTERS, *far, "page_faults")))


def _rate(state: LiveState, interval: Interval) -> tuple[LiveState, float]:
    """Progress per second in this interval; NaN where the machine cannot measure progress."""
    seconds = (interval.end_ns - interval.start_ns) / 1e9
    gained = interval.progress - state.progress
    rate = gained / seconds if seconds > 0 else float("nan")
    return replace(state, progress=interval.progress), rate
