"""Figure 3 of the paper, live: watch the threads appear, start distributed, sample once, ask the
policy, place, and follow the threads from then on.

    watching ─► (known program) ──────────────────────────► placed ◄─┐ threads come and go
        │                                                     ▲      ─┘
        └─► settling ─► sampling ─► decide ───────────────────┘
                ▲                      │ ├ sampled once more, to learn from
                ├── a second look ─────┘ ├ the guard may take it back
                │   in another affinity  └ continuous mode: has it changed?
                └────────────────────────── sampled anew

Nothing is placed before the threads are seen to compute: a mask narrowed earlier would make a
runtime that counts its CPUs start fewer threads. A pure `ports.Mechanism`: what it needs to ask
(CPUs allowed now, what is known) comes in as functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from autofinity.affinity.best_matches import all_cores
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import DISTRIBUTED, Hint
from autofinity.model.counters import Behaviour
from autofinity.model.detection import FaultSampling
from autofinity.model.errors import PlacementError
from autofinity.model.policy import Decision, RulePolicy
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.evidence import can_ask
from autofinity.ports import Action, Interval, Sensors
from autofinity.profiling.sampling import behaviour_of
from autofinity.runtime.claims import Reserve, reserve_alone
from autofinity.runtime.continuous import Watch, decisive, look_cost_ns
from autofinity.runtime.evidence import ONE_LLC, nothing_to_choose, unmeasured, without_policy
from autofinity.runtime.guard import Guard
from autofinity.runtime.live_state import LiveState, Settings
from autofinity.runtime.placer import BY_SHARING, Placer
from autofinity.runtime.seats import shows_neighbours

_NS_PER_MS = 1_000_000

type Decide = Callable[[RulePolicy, Mapping[str, float]], Decision]


class LivePolicy:
    """The mechanism `autofinity` on a running program."""

    name = "autofinity"

    def __init__(
        self,
        topology: Topology,
        policy: RulePolicy | None,
        decide: Decide,
        available: Callable[[], frozenset[OsIndex]],
        known: Callable[[int], Hint | None],
        settings: Settings,
        reserve: Reserve = reserve_alone,
    ) -> None:
        """`available` gives the CPUs allowed now, `known` the hint on record for a thread count,
        `reserve` chooses cores among them beside other runs.
        """
        self._topology = topology
        self._policy = policy
        self._decide = decide
        self._known = known
        self._settings = settings
        self._placer = Placer(topology, available, settings, reserve)
        # A table for some tens of MB of shared data: it is the monitor's memory.
        faults = (FaultSampling(entries=1 << 14),) if settings.by_sharing else ()
        self.sensors = Sensors(policy.counters if policy else (), faults)

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> LiveState:
        """State before the first look; machine and thread count are known since construction."""
        del topology, threads
        return LiveState(available=available)

    def period_ns(self, state: LiveState) -> int:
        """How long the next look takes."""
        settings = self._settings
        if state.phase == "sampling":
            return max(settings.sample_ns // settings.parts, 10 * _NS_PER_MS)
        if state.phase == "settling":
            return settings.look_ns
        if state.phase == "watching":
            # The longer nothing comes together, the less often it is worth a look.
            return min(max(settings.look_ns, state.waited_ns // 20), settings.follow_ns)
        if state.phase == "placed" and _wants_outcome(state):
            return min(max(settings.look_ns, settings.sample_ns), settings.follow_ns)
        if state.phase == "placed" and settings.every_ns:
            return settings.every_ns
        return settings.follow_ns

    def step(self, state: LiveState, interval: Interval) -> tuple[LiveState, Sequence[Action]]:
        """One turn."""
        state, rate = _rate(state.looked(interval), interval)
        if interval.ended:
            return state, ()
        match state.phase:
            case "watching":
                return self._watch(state)
            case "settling":
                return replace(state, phase="sampling", parts=()), ()
            case "sampling":
                return self._sample(state, interval, rate)
            case "placed":
                state = self._outcome(state, interval)
                if self._settings.every_ns:
                    state = self._look_again(state, interval)
                    if state.watch.worth_a_look(self._look_cost_ns(state)):
                        return self._sample_anew(state)
                state, actions = self._follow(state, rate, interval.threads("begin"))
                return (state, actions) if actions else self._placer.seat_anew(state)
            case "left alone":
                if self._left_for_good(state):
                    return self._left_alone(state)
                return replace(state, phase="watching", steady=0), ()

    def _watch(self, state: LiveState) -> tuple[LiveState, Sequence[Action]]:
        count, promised = len(state.workers.computing), self._settings.threads
        steady = state.steady >= self._settings.steady_looks
        if promised:
            patient = state.waited_ns >= self._settings.patience_ns
            complete = (count >= promised and (steady or not state.restless)) or (
                steady and patient
            )
        else:
            complete = steady
        if count < 2 or not complete:  # one thread has nobody to be placed beside
            return state, ()
        if promised and count != promised:
            state = state.noting(f"{promised} threads were promised and {count} compute")
        known = self._known(promised or count)
        asked_for = known is not None and self._policy is None
        if not asked_for and self._nothing_to_choose():
            state = state.noting(ONE_LLC)
        if known is not None:
            return self._placer.place(replace(state, unasked=False), known, "placed")
        if self._policy is None:
            return self._unasked(state.noting(without_policy(self._settings.fallback)))
        if self._settings.blind or self._found_blind(state):
            return self._unmeasured(state, self._policy)
        state = replace(state, again=False, probe=None, probed_in=None)
        return self._placer.place(state, DISTRIBUTED, "settling")

    def _nothing_to_choose(self) -> bool:
        """Between hints; a core a thread is something to have in one cache, too."""
        return self._settings.bind == "llc" and nothing_to_choose(
            self._topology, self._placer.available()
        )

    def _found_blind(self, state: LiveState) -> bool:
        """Whether an earlier sample showed that nothing is measured, whatever should be."""
        assert self._policy is not None
        measured = set(self._policy.counters).difference(state.missing)
        return bool(state.missing) and not can_ask(self._policy, measured)

    def _unmeasured(
        self, state: LiveState, policy: RulePolicy
    ) -> tuple[LiveState, Sequence[Action]]:
        """No evidence, no binding, unless the user says what to do then."""
        return self._unasked(state.noting(unmeasured(self._settings.fallback, policy.counters)))

    def _unasked(self, state: LiveState) -> tuple[LiveState, Sequence[Action]]:
        fallback = self._settings.fallback
        if fallback is None:
            return self._placer.let_all_go(state)
        return self._placer.place(replace(state, unasked=True), fallback, "placed")

    def _left_alone(self, state: LiveState) -> tuple[LiveState, Sequence[Action]]:
        """Nobody is bound; without counters threads are placed once it shows who belongs beside
        whom.
        """
        policy, count = self._policy, len(state.placed)
        if policy is None or count < 2 or not (self._settings.by_sharing and self._settings.blind):
            return state, ()
        sharing = state.sharing.among(state.placed)
        state = replace(state, sharing=state.sharing.faded())
        available = self._placer.available()
        hint = policy.at(policy.default, count, all_cores(self._topology, available))
        try:
            cores = get_affinity(self._topology, count, hint, available)
        except PlacementError:  # several threads to a CPU
            return state, ()
        if self._nothing_to_choose() or not shows_neighbours(self._topology, cores.cpus, sharing):
            return state, ()
        state = replace(state.noting(BY_SHARING), unasked=True)
        return self._placer.place(state, hint, "placed")

    def _left_for_good(self, state: LiveState) -> bool:
        """Whether the threads, and the CPUs they may use, are those that were left alone."""
        return state.workers.computing == state.placed and self._allowed_as_before(state)

    def _allowed_as_before(self, state: LiveState) -> bool:
        return self._placer.available() == state.allowed

    def _sample(
        self, state: LiveState, interval: Interval, rate: float
    ) -> tuple[LiveState, Sequence[Action]]:
        if state.workers.computing != state.placed and state.restarts < self._settings.restarts:
            state = replace(state, phase="watching", steady=0, restarts=state.restarts + 1)
            return state.noting("threads came or went during the sample: it began anew"), ()
        parts = (*state.parts, interval)
        guard = state.guard if state.again else state.guard.saw_before(rate)
        state = replace(state, parts=parts, guard=guard)
        if sum(part.end_ns - part.start_ns for part in parts) < self._settings.sample_ns:
            return state, ()
        return self._choose(replace(state, parts=()), parts)

    def _choose(
        self, state: LiveState, parts: tuple[Interval, ...]
    ) -> tuple[LiveState, Sequence[Action]]:
        assert self._policy is not None
        seen = behaviour_of(_joined(parts, state.workers.tids), len(state.workers.computing))
        missing = tuple(name for name in self._policy.counters if name not in seen.values)
        state = replace(state, missing=missing)
        if not state.again and not can_ask(self._policy, seen.values):
            return self._unmeasured(state, self._policy)
        if missing:
            state = state.noting(
                f"not measured here: {', '.join(missing)}; conditions on them do not hold"
            )
        if state.again:
            return self._choose_again(state, seen)
        decision = self._decide(self._policy, self._asked(seen))
        state = replace(
            state, sample=seen, sampled_in=state.affinity, outcome=None, decision=decision
        )
        second = self._policy.second_after(decision.hint)
        if second is not None:
            probing, actions = self._placer.place(
                replace(state, again=True), second.sampled_in, "settling"
            )
            if probing.affinity != state.affinity:  # else there is nothing new to be seen
                return probing, actions
        return self._settle(state, decision)

    def _settle(self, state: LiveState, decision: Decision) -> tuple[LiveState, Sequence[Action]]:
        """Place by the decision, as it is meant for so many threads as compute; in continuous mode
        nearly a tie leaves the former answer.
        """
        assert self._policy is not None
        cores = all_cores(self._topology, self._placer.available())
        hint = self._policy.at(decision.hint, len(state.workers.computing), cores)
        standing = state.standing
        if standing not in (None, hint) and not decisive(decision.margin):
            assert standing is not None
            state = state.noting(f"{hint} is nearly a tie: {standing} stays")
            hint = standing
        state, actions = self._placer.place(replace(state, unasked=False), hint, "placed")
        # Where the last sample was taken in this very affinity, it is what changes are told by, so
        # that one which comes right after it is not taken for the program's way.
        seen = {state.sampled_in: state.sample, state.probed_in: state.probe}
        if state.affinity is not None:
            state = replace(state, watch=Watch(reference=seen.get(state.affinity)))
        return state, actions

    def _choose_again(
        self, state: LiveState, seen: Behaviour
    ) -> tuple[LiveState, Sequence[Action]]:
        """The last word, of the second look."""
        assert self._policy is not None and self._policy.second is not None
        assert state.sample is not None
        second = self._policy.second
        asked = second.values(self._asked(state.sample), self._asked(seen))
        decision = self._decide(second.policy, asked)
        state = replace(state, probe=seen, probed_in=state.affinity, decision=decision)
        return self._settle(state, decision)

    def _asked(self, seen: Behaviour) -> dict[str, float]:
        """What the policy looks at; NaN where it was not measured."""
        assert self._policy is not None
        return {name: seen[name] for name in self._policy.counters}

    def _outcome(self, state: LiveState, interval: Interval) -> LiveState:
        """The sample in the chosen affinity: from the second undisturbed look on."""
        if not _wants_outcome(state):
            return state
        if state.workers.computing != state.placed:
            return replace(state, parts=(), settled=False)
        if not state.settled:
            return replace(state, settled=True)
        parts = (*state.parts, interval)
        if sum(part.end_ns - part.start_ns for part in parts) < self._settings.sample_ns:
            return replace(state, parts=parts)
        seen = behaviour_of(_joined(parts, state.workers.tids), len(state.workers.computing))
        return replace(state, parts=(), outcome=seen)

    def _look_again(self, state: LiveState, interval: Interval) -> LiveState:
        """Continuous mode: one more look at a placed program."""
        if state.workers.computing != state.placed or self._policy is None:
            return replace(state, watch=Watch())
        tids = state.workers.tids
        seen = behaviour_of(_joined((interval,), tids), len(state.workers.computing))
        counters = [
            name
            for name in (*self._policy.counters, "instructions")
            if name in seen.values and name not in state.missing
        ]
        if not counters:
            return state.noting(
                "no hardware counter shows whether the program changes: only its threads are "
                "followed"
            )
        elapsed = interval.end_ns - interval.start_ns
        return replace(state, watch=state.watch.after(seen, elapsed, counters))

    def _look_cost_ns(self, state: LiveState) -> float:
        return look_cost_ns(self._topology, len(state.placed), self._settings.sample_ns)

    def _sample_anew(self, state: LiveState) -> tuple[LiveState, Sequence[Action]]:
        state = replace(
            state.noting(f"the program has changed ({state.watch.changed}): sampled anew"),
            standing=state.hint,
            guard=Guard(),
            again=False,
            probe=None,
            probed_in=None,
            restarts=0,
        )
        return self._placer.place(state, DISTRIBUTED, "settling")

    def _follow(
        self, state: LiveState, rate: float, newcomers: frozenset[int]
    ) -> tuple[LiveState, Sequence[Action]]:
        if state.decision is not None and state.guard.verdict == "undecided":
            guard = state.guard.saw_after(rate)
            state = replace(state, guard=guard)
            if guard.undo and state.hint != DISTRIBUTED:
                state = state.noting(
                    f"taken back: {state.hint} was {guard.verdict} than before"
                    if guard.verdict == "worse"
                    else "taken back: affinity does not matter here"
                )
                return self._placer.place(state, DISTRIBUTED, "placed")
        if state.workers.computing == state.placed:
            state = replace(state, unsettled=0)
            if self._settings.every_ns and state.hint and not self._allowed_as_before(state):
                return self._placer.place(
                    state.noting("its cgroup allows other CPUs: placed anew"), state.hint, "placed"
                )
            return state, self._placer.let_go(newcomers)
        if state.steady == 0:
            state = replace(state, unsettled=state.unsettled + 1)
            if state.unsettled < self._settings.restless_looks:
                return state, self._placer.let_go(newcomers)
            # A program that starts and ends workers all the time (a build, a server that forks)
            # would hand each of them its creator's narrow mask: it is better off without any.
            state = state.noting("let go: its threads come and go faster than they are placed")
            alive = frozenset(number for number, _ in state.workers.alive)
            state = replace(
                state,
                phase="left alone",
                placed=state.workers.computing,
                allowed=self._placer.available(),
                unsettled=0,
                restless=True,
            )
            return state, self._placer.let_go(alive)
        if state.hint is None or len(state.workers.computing) < 2:
            return state, self._placer.let_go(newcomers)
        return self._placer.place(replace(state, unsettled=0), state.hint, "placed")


def _wants_outcome(state: LiveState) -> bool:
    return (
        state.sample is not None
        and state.outcome is None
        and None not in (state.affinity, state.sampled_in)
        and state.affinity not in (state.sampled_in, state.probed_in)
    )


def _rate(state: LiveState, interval: Interval) -> tuple[LiveState, float]:
    """Progress per second in this interval; NaN where the machine cannot tell."""
    seconds = (interval.end_ns - interval.start_ns) / 1e9
    gained = interval.progress - state.progress
    rate = gained / seconds if seconds > 0 else float("nan")
    return replace(state, progress=interval.progress), rate


def _joined(parts: Sequence[Interval], tids: frozenset[int]) -> Interval:
    """One interval as long as all parts together, with the samples of the threads `tids`."""
    start = parts[0].start_ns
    length = sum(part.end_ns - part.start_ns for part in parts)
    samples = tuple(sample for part in parts for sample in part.samples if sample.tid in tids)
    return Interval(start, start + length, samples)
