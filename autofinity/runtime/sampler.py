"""Takes as many looks as the answer needs: in the starting placement and, where the policy has a
second look, in that hint's placement.

    settling ─► sampling ─┬─ the answer's margin is within the noise: one more look
        ▲                 ├─ threads were not all at work: the look does not count
        │                 ├─ a second look: packed, until both saw the same phase ──┐
        ├─────────────────┴─ the other place again, where they did not ◄────────────┤
        ├─ a trial of one more hint, after both looks ◄─────────────────────────────┤
        └─ a trial of threads in another order ◄────────────────────────────────────┤
                                                                         placed ◄───┘

Repetition is bounded: by the time that a sample may take, by the number of moves for it, and by the
cost that all looks of the run may have (`looking`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from autofinity.affinity.best_matches import BestMatches, all_cores
from autofinity.model.affinity import SPREAD, Affinity, Hint
from autofinity.model.answer_on_record import SeatOrder
from autofinity.model.counters import Behaviour
from autofinity.model.policy import Decision, Trial
from autofinity.model.topology import Topology
from autofinity.ports import Interval
from autofinity.runtime.asking import Answer, Asking
from autofinity.runtime.continuous import Watch, decisive
from autofinity.runtime.guard import FEWEST, Guard
from autofinity.runtime.live_state import LiveState, Settings, Turn
from autofinity.runtime.looks import Look, length_ns, look_of, mean_of
from autofinity.runtime.phases import Phase
from autofinity.runtime.placer import Placer
from autofinity.runtime.trying import Trying, hopeless, neighbours_matter
from autofinity.runtime.undecided import UNDECIDED

_FASTER = 1.01
"""Speed above which threads stay in an order that is on trial."""
_FEWEST_AGAIN = 2  # of the second look, which may cost the program most; a slower one may be cold
_MOST_APART_NS = 10_000_000_000
"""Longest time in looks that do not count. A thread that idles is no worker after 3 s, and what ran
at a time is forgotten then (`workers`, `demand`), so looks at the other threads count from there
on. On a crowded machine a kernel also reports late that a thread waited."""
NOT_AT_WORK = "its threads were not all at work in any look"
ANOTHER_PHASE = "the second look found no phase of the first look"
WITHIN_SCATTER = "the noise of the looks exceeds the answer's margin: a tie is possible"


def afresh(state: LiveState) -> LiveState:
    """The state without a sample, and without rates to judge a placement by."""
    return replace(
        state,
        guard=Guard(),
        work={},
        again=False,
        starts=(),
        probes=(),
        probe=None,
        probed_in=None,
        trying=None,
        visits=0,
    )


class Sampler:
    """Takes looks until the policy's answer stands, then places by that answer."""

    def __init__(
        self,
        topology: Topology,
        asking: Asking,
        placer: Placer,
        settings: Settings,
        unmeasured: Callable[[LiveState, Sequence[str]], Turn],
    ) -> None:
        """`unmeasured` handles the case that no answer is possible without these counters."""
        self._unmeasured = unmeasured
        self._topology = topology
        self._asking = asking
        self._placer = placer
        self._settings = settings

    def begin(self, state: LiveState) -> Turn:
        """Move threads to where they are sampled first; if all are there already, their caches are
        warm. Caches that exchanged threads do so again only after another trial.
        """
        order: SeatOrder = "near home" if state.order == "near home" else "by number"
        state = replace(state, order=order, sampled_order=order)
        there = dict(state.homes) if not state.cpus else {}
        state, actions = self._placer.place(afresh(state), SPREAD, "settling")
        seats = zip(state.seated, state.seats, strict=False)
        if state.phase == "settling" and all(there.get(number) == seat for number, seat in seats):
            state = replace(state, phase="sampling")
        return state, actions

    def without_looking(self) -> Decision | None:
        """The answer of a policy that asks for no sample; None for any other policy."""
        return self._asking.without_looking()

    def look(self, state: LiveState, interval: Interval, rate: float) -> Turn:
        """One look at a program that is being sampled; `rate` is its progress per second."""
        if state.workers.computing != state.placed and state.restarts < self._settings.restarts:
            state = state.without_trial()
            state = replace(state, phase="watching", steady=0, restarts=state.restarts + 1)
            return state.noting("threads started or ended during the sample: it began again"), ()
        look = look_of(interval, state.workers)
        state = replace(state, costs=state.costs.sampled(look.elapsed_ns))
        if not look.all_at_work:
            return self._idle(state, look)
        state = replace(state, visit_ns=state.visit_ns + look.elapsed_ns).working(interval)
        if state.trying is not None:
            return self._trial(state, state.trying.saw(look))
        if state.again:
            return self._second(replace(state, probes=(*state.probes, look)))
        guard = state.guard.saw_before(rate, Phase.of(look.behaviour), look.elapsed_ns)
        state = replace(state, starts=(*state.starts, look), guard=guard)
        return self._second(state) if state.probes else self._first(state)

    def settle(self, state: LiveState, decision: Decision) -> Turn:
        """Place by the decision, in its meaning for the number of computing threads.

        In continuous mode a near tie keeps the former answer. A hint that was slower in this run is
        not tried again.
        """
        state, hint = self._chosen(state, decision)
        state = replace(state, decision=decision, unasked=False)
        tried_in = state.affinity
        state, actions = self._placer.place(state, hint, "placed")
        # Where the last sample was taken in this very affinity, it is the reference for changes, so
        # that a change right after it does not become the reference.
        seen = {state.sampled_in: state.sample, state.probed_in: state.probe}
        if state.affinity is not None:
            reference, trying = seen.get(state.affinity), state.trying
            if trying and trying.order and state.affinity == tried_in:
                kept = trying.order == state.order
                reference = mean_of(trying.looks if kept else trying.reference)
            state = replace(state, watch=Watch(reference=reference))
        return replace(state, starts=(), probes=(), trying=None), actions

    def _chosen(self, state: LiveState, decision: Decision) -> tuple[LiveState, Hint]:
        """The hint that a decision leads to, with a note where it is another one."""
        hint = self._meant(decision.hint, state.workers.room)
        standing = state.standing
        if hint in state.refuted:
            state = state.noting(f"{hint.shown} was tried and taken back: not tried again")
            return state, SPREAD
        if standing not in (None, hint) and not decisive(decision.margin):
            assert standing is not None
            return state.noting(f"{hint.shown} is nearly a tie: {standing.shown} stays"), standing
        return state, hint

    def _affinity_of(self, state: LiveState, hint: Hint) -> Affinity:
        return BestMatches(self._topology.restricted(state.available))(state.room, hint)

    def _meant(self, hint: Hint, threads: int) -> Hint:
        cores = all_cores(self._topology, self._placer.available())
        return self._asking.policy.at(hint, threads, cores)

    def _idle(self, state: LiveState, look: Look) -> Turn:
        """Handle a look that does not count. A program without any look that counts is left to the
        system.
        """
        state = replace(state, apart_ns=state.apart_ns + look.elapsed_ns)
        if state.apart_ns < _MOST_APART_NS:
            return state, ()
        return self._placer.let_all_go(state.noting(UNDECIDED + NOT_AT_WORK))

    def _first(self, state: LiveState) -> Turn:
        if len(state.starts) < FEWEST or 5 * length_ns(state.starts) < self._settings.sample_ns:
            return state, ()
        policy, seen = self._asking.policy, mean_of(state.starts)
        missing = tuple(name for name in policy.counters if name not in seen.values)
        state = replace(state, missing=missing)
        if not self._asking.tells(seen, state.workers.room):
            return self._unmeasured(state, policy.counters)
        answer = self._asking.first(state.starts, state.workers.room)
        if not answer.stands and not self._exhausted(state):
            return state, ()
        sampled_in = state.affinity
        state = replace(
            state, sample=answer.start, sampled_in=sampled_in, outcome=None, decision=None
        )
        second = policy.second_after(answer.decision.hint)
        if second is not None:
            probing, actions = self._placer.place(
                replace(state, again=True), second.sampled_in, "settling"
            )
            if probing.affinity != sampled_in:  # else a second look would show nothing new
                return replace(probing, decision=answer.decision, asked=_of(answer)), actions
        return self._reorder(state, answer) or self._finally(state, answer)

    def _second(self, state: LiveState) -> Turn:
        if len(state.probes) < _FEWEST_AGAIN:
            return state, ()
        threads = state.workers.room
        answer = self._asking.second(state.starts, state.probes, threads)
        if answer.stands and (not answer.slower or len(state.probes) >= FEWEST):
            return self._final_probe(state, answer)
        # Another phase may last: a new first look in it is quicker than to wait for the old phase.
        apart = not answer.of_one_phase and 2 * state.visit_ns >= self._settings.sample_ns
        if not self._exhausted(state) and not apart:
            return state, ()
        if answer.of_one_phase or not self._may_return(state):
            if not answer.of_one_phase:
                state = state.noting(ANOTHER_PHASE)
            return self._final_probe(state, answer)
        second = self._asking.policy.second
        assert second is not None
        there = SPREAD if state.again else second.sampled_in
        if state.again:
            state = _probed(state)
        return self._placer.place(replace(state, again=not state.again), there, "settling")

    def _final_probe(self, state: LiveState, answer: Answer) -> Turn:
        state = _probed(state) if state.again else state
        return (
            self._try(state, answer) or self._reorder(state, answer) or self._finally(state, answer)
        )

    def _try(self, state: LiveState, answer: Answer) -> Turn | None:
        """Begin the trial that the policy has for this answer; None where it has none, where looks
        have cost enough, or where the trial would show nothing new or is lost already.
        """
        trial = self._asking.trial(answer)
        if trial is None or trial.hint in state.refuted or not self._may_return(state):
            return None
        hint, tried = (self._meant(each, state.room) for each in (answer.decision.hint, trial.hint))
        looks, there = _looks_by_affinity(state), self._affinity_of(state, tried)
        if there in looks:
            return None
        # An answer in whose affinity no sample was taken is as fast as the faster of the two.
        faster = state.starts if answer.slower else state.probes
        reference = looks.get(self._affinity_of(state, hint), faster)
        assert answer.probe is not None and state.probed_in is not None  # as a trial has both looks
        speed, needed = (seen["instructions"] for seen in (answer.probe, mean_of(reference)))
        if hopeless(state.probed_in, speed, there, needed):
            return None
        state, actions = self._placer.place(state, tried, "settling")
        return replace(state, trying=Trying(trial.against(hint), reference, answer)), actions

    def _reorder(
        self, state: LiveState, answer: Answer, ordered: tuple[Look, ...] = ()
    ) -> Turn | None:
        """Begin the trial of another order of threads in the answer's affinity; None where no order
        promises anything, the trial cannot be compared, or looks have cost enough. `ordered`: looks
        in the present order, where one was tried already.
        """
        if not (answer.stands and self._may_return(state)):
            return None
        if not self._asking.shows_speed or self._asking.lacking(answer, state.workers.room):
            return None
        _, hint = self._chosen(state, answer.decision)
        there = self._affinity_of(state, hint)
        reference = ordered or _looks_by_affinity(state).get(there)
        if not reference:
            return None
        order = self._other_order(state, hint, there, mean_of(reference))
        if order is None or order in state.slower_orders:
            return None
        question = Trial(hint, _FASTER).against(hint)
        trying = Trying(question, reference, answer, order, before=state.order)
        state = replace(state, order=order, trying=trying)
        moved, actions = self._placer.place(state, hint, "settling")
        # With other CPUs that are allowed, or claimed, by now it may be another affinity.
        return (moved, actions) if moved.affinity == there else None

    def _other_order(
        self, state: LiveState, hint: Hint, there: Affinity, seen: Behaviour
    ) -> SeatOrder | None:
        """The order by number, where neighbours matter more than memory and do not sit side by side
        already; else an exchange, where caches have uneven work. None: neither.

        Threads are sampled where they ran before, near their pages. In which order a system spreads
        them says nothing of who shares, and threads with neighbouring numbers often do.
        """
        sharing = state.order == "near home" and neighbours_matter(seen)
        if sharing and self._placer.order_matters(state, hint):
            return "by number"
        if state.affinity == there and self._placer.exchange_matters(state):
            return "exchanged"
        return None

    def _trial(self, state: LiveState, trying: Trying) -> Turn:
        """The trial of a hint has been looked at once more."""
        state = replace(state, trying=trying)
        if len(trying.looks) < _FEWEST_AGAIN:
            return state, ()
        said = self._asking.compared(trying.question, trying.reference, trying.looks)
        over = state.visit_ns >= self._settings.sample_ns or self._exhausted(state)
        if said.stands and (not said.slower or len(trying.looks) >= FEWEST):
            over = True
        if not over:
            return state, ()
        faster = said.stands and said.decision.rule is not None
        if faster:
            state = state.noting(f"{trying.what} was tried, and is faster: threads stay")
        else:
            state = state.noting(f"{trying.what} was tried, and is no faster")
        if trying.order is not None:
            return self._ordered(state, trying, faster)
        if faster:
            return self._finally(state, replace(trying.answer, decision=said.decision))
        return self._reorder(state, trying.answer) or self._finally(state, trying.answer)

    def _ordered(self, state: LiveState, trying: Trying, faster: bool) -> Turn:
        """The trial of an order of threads has ended: after a faster one, another may follow."""
        assert trying.order is not None
        if not faster:
            slower = state.slower_orders | {trying.order}
            state = replace(state, order=trying.before, slower_orders=slower)
            return self._finally(state, trying.answer)
        another = self._reorder(state, trying.answer, trying.looks)
        return another or self._finally(state, trying.answer)

    def _finally(self, state: LiveState, answer: Answer) -> Turn:
        lacking = self._asking.lacking(answer, state.workers.room)
        if lacking:
            return self._unmeasured(replace(state, decision=None), lacking)
        if not answer.stands:
            state = state.noting(WITHIN_SCATTER)
        return self.settle(replace(state, asked=_of(answer)), answer.decision)

    @property
    def _most_ns(self) -> int:
        return 2 * self._settings.sample_ns

    def _exhausted(self, state: LiveState) -> bool:
        left_ns = state.costs.sample_left_ns(state.waited_ns)
        return state.visit_ns >= self._most_ns or left_ns <= 0

    def _may_return(self, state: LiveState) -> bool:
        return state.visits < self._settings.visits and (
            state.costs.sample_left_ns(state.waited_ns) > 0
        )


def _looks_by_affinity(state: LiveState) -> dict[Affinity | None, tuple[Look, ...]]:
    """The looks of this sample in the first affinity and in that of the second look."""
    return {state.sampled_in: state.starts, state.probed_in: state.probes}


def _probed(state: LiveState) -> LiveState:
    return replace(state, probe=mean_of(state.probes), probed_in=state.affinity)


def _of(answer: Answer) -> tuple[Behaviour, Behaviour | None]:
    return answer.start, answer.probe
