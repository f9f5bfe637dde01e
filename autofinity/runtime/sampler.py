"""Takes as many looks as the answer needs: in the starting placement and, where the policy has a
second look, in that hint's placement.

    settling ─► sampling ─┬─ the answer's margin is within the noise: one more look
        ▲                 ├─ threads were not all at work: the look does not count
        │                 ├─ a second look: packed, until both saw the same phase ──┐
        ├─────────────────┼─ the other place again, where they did not ◄────────────┤
        │                 └─ its remote pages come along (`near_look`) ◄────────────┤
        └─ trials of hints, or of another order of threads (`trials`) ◄─────────────┤
                                                                         placed ◄───┘

Repetition is bounded: by the time that a sample may take, by the number of moves for it, and by the
cost that all looks of the run may have (`looking`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from autofinity.model.affinity import SPREAD
from autofinity.model.policy import Decision
from autofinity.model.topology import Topology
from autofinity.ports import Interval
from autofinity.runtime.answer import Answer
from autofinity.runtime.asking import Asking
from autofinity.runtime.before_after import FEWEST
from autofinity.runtime.continuous import Watch
from autofinity.runtime.guard import Guard
from autofinity.runtime.live_state import LiveState, Settings, Turn
from autofinity.runtime.look_limits import FEWEST_AGAIN, LookLimits
from autofinity.runtime.looks import Look, length_ns, look_of, mean_of
from autofinity.runtime.meaning import Meaning
from autofinity.runtime.near_look import NearLook
from autofinity.runtime.phases import Phase
from autofinity.runtime.placer import Placer
from autofinity.runtime.sampling import Sampling
from autofinity.runtime.trials import Trials
from autofinity.runtime.undecided import NOT_AT_WORK, UNDECIDED, WAITED

_MOST_APART_NS = 10_000_000_000
"""Longest time in looks that do not count. A thread that idles is no worker after 3 s, and what ran
at a time is forgotten then (`workers`, `demand`), so looks at the other threads count from there
on. On a crowded machine a kernel also reports late that a thread waited."""
NOT_SAMPLED_AGAIN = "its threads were not all at work when it was sampled again"
ANOTHER_PHASE = "the second look found no phase of the first look"
WITHIN_SCATTER = "the noise of the looks exceeds the answer's margin: a tie is possible"


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
        self._asking = asking
        self._placer = placer
        self._settings = settings
        self._limits = LookLimits(settings)
        self._meaning = Meaning(topology, asking.policy, placer.available)
        self._near = NearLook(
            topology,
            asking,
            lambda: None if settings.keep_pages else placer.memory(),
            self._meaning,
            settings.page_rate,
        )
        self._trials = Trials(asking, placer, self._meaning, self._limits, self._finally)

    def begin(self, state: LiveState) -> Turn:
        """Move threads to where they are sampled first; if all are there already, their caches are
        warm.
        """
        there = dict(state.homes) if not state.placed.cpus else {}
        afresh = replace(
            state,
            order=state.order.sampled(),
            sampling=Sampling(state.workers.room),
            samples=state.samples.without_probe(),
            along=state.along.over(),
            trying=None,
            guard=Guard(),
        )
        state, actions = self._placer.place(afresh, SPREAD, "settling")
        seats = state.placed.seat_of.items()
        if state.phase == "settling" and all(there.get(number) == seat for number, seat in seats):
            state = replace(state, phase="sampling")
        return state, actions

    def without_looking(self) -> Decision | None:
        """The answer of a policy that asks for no sample; None for any other policy."""
        return self._asking.without_looking()

    def look(self, state: LiveState, interval: Interval, rate: float) -> Turn:
        """One look at a program that is being sampled; `rate` is its progress per second."""
        others = not state.same_threads or state.placed.renewed
        if others and state.restarts < self._settings.restarts:
            state = state.without_trial()
            state = replace(state, phase="watching", steady=0, restarts=state.restarts + 1)
            return state.noting("threads started or ended during the sample: it began again"), ()
        if state.along.asked == "all":
            return self._all_come(state)
        look = look_of(interval, state.workers, state.cores)
        if state.workers.active:  # a program that waits, or is stopped, loses nothing
            state = replace(state, costs=state.costs.sampled(look.elapsed_ns))
        if not look.all_at_work:
            return self._idle(state, look)
        sampling = state.sampling.worked(state.workers.alive, interval)
        state = replace(state, stay=state.stay.looked(look.elapsed_ns), sampling=sampling)
        if state.trying is not None:
            return self._trials.saw(state, state.trying.saw(look))
        if state.along.asked == "part":
            return self._part_came(state, look)
        state = replace(state, sampling=sampling.saw(look))
        if not sampling.again:
            guard = state.guard.saw_before(rate, Phase.of(look.behaviour), look.elapsed_ns)
            state = replace(state, guard=guard)
        return self._second(state) if state.sampling.probes else self._first(state)

    def settle(self, state: LiveState, decision: Decision) -> Turn:
        """Place by the decision, in its meaning for the number of computing threads.

        In continuous mode a near tie keeps the former answer. A hint that was slower in this run is
        not tried again.
        """
        state, hint = self._meaning.chosen(state, decision)
        state = replace(state, decision=decision, unasked=False)
        tried_in = state.placed.affinity
        state, actions = self._placer.place(state, hint, "placed")
        # Where the last sample was taken in this very affinity, it is the reference for changes, so
        # that a change right after it does not become the reference.
        affinity = state.placed.affinity
        if affinity is not None:
            reference, trying = state.samples.seen_in(affinity), state.trying
            if trying and affinity == tried_in:
                kept = trying.order in (None, state.order.now)
                reference = mean_of(trying.looks if kept else trying.reference)
            state = replace(state, watch=Watch(reference=reference))
        return replace(state, sampling=state.sampling.over(), trying=None), actions

    def _idle(self, state: LiveState, look: Look) -> Turn:
        """Handle a look that does not count. After too many of them a program goes back to the hint
        that held before it was sampled again; without one it is left to the system, until it
        computes again where it waits as a whole.
        """
        state = replace(state, stay=state.stay.apart(look.elapsed_ns))
        if state.stay.apart_ns < _MOST_APART_NS:
            return state, ()
        standing = state.standing
        if standing is not None:
            state = replace(state.without_trial(), sampling=state.sampling.over())
            state = state.noting(f"{NOT_SAMPLED_AGAIN}: {standing.shown}, as before")
            return self._placer.place(state, standing, "placed")
        if state.workers.active or state.restarts >= self._settings.restarts:
            return self._placer.let_all_go(state.noting(UNDECIDED + NOT_AT_WORK))
        state = replace(state.noting(WAITED), decision=None, restarts=state.restarts + 1)
        state, actions = self._placer.let_all_go(state)
        return replace(state, phase="watching", steady=0), actions

    def _first(self, state: LiveState) -> Turn:
        starts = state.sampling.starts
        if len(starts) < FEWEST or 5 * length_ns(starts) < self._settings.sample_ns:
            return state, ()
        policy, seen = self._asking.policy, mean_of(starts)
        missing = tuple(name for name in policy.counters if name not in seen.values)
        state = replace(state, missing=missing)
        if not self._asking.tells(seen, state.cores):
            return self._unmeasured(state, policy.counters)
        answer = self._asking.first(starts, state.cores)
        if not answer.stands and not self._limits.exhausted(state):
            return state, ()
        affinity = state.placed.affinity
        samples = state.samples.started(answer.start, affinity)
        state = replace(state, samples=samples, decision=None)
        if policy.second_after(answer.decision.hint) is not None:
            probing, actions = self._go(state, again=True)
            if probing.placed.affinity != affinity:  # else a second look would show nothing new
                samples = samples.asked_with(answer)
                return replace(probing, decision=answer.decision, samples=samples), actions
        return self._trials.after_one_look(state, answer)

    def _second(self, state: LiveState) -> Turn:
        sampling, looks = state.sampling, len(state.sampling.probes)
        if looks < FEWEST_AGAIN:
            return state, ()
        answer = self._asking.second(sampling.starts, sampling.probes, state.cores)
        if answer.stands and (not answer.slower or looks >= FEWEST):
            return self._final_probe(state, answer)
        # Another phase may last: a new first look in it is quicker than to wait for the old phase.
        apart = not answer.of_one_phase and 2 * state.stay.ns >= self._settings.sample_ns
        if not self._limits.exhausted(state) and not apart:
            return state, ()
        near = state.along.answer
        if near is not None:  # threads do not leave the pages that came along
            if looks < FEWEST:
                return state, ()
            if not answer.stands:
                answer = replace(answer, decision=near.decision, stands=near.stands)
            return self._final_probe(state, answer)
        if answer.of_one_phase or not self._limits.may_return(state):
            if not answer.of_one_phase:
                state = state.noting(ANOTHER_PHASE)
            return self._final_probe(state, answer)
        if sampling.again:
            state = _probed(state)
        return self._go(state, again=not sampling.again)

    def _go(self, state: LiveState, *, again: bool) -> Turn:
        """Move threads to where the second look is taken, or back to where the first was."""
        second = self._asking.policy.second
        assert second is not None
        state = replace(state, sampling=state.sampling.going(again=again))
        return self._placer.place(state, second.sampled_in if again else SPREAD, "settling")

    def _bring_pages(self, state: LiveState, answer: Answer) -> Turn:
        """Let remote pages come along to the second look, where threads may have to return to."""
        state, actions = (state, ()) if state.sampling.again else self._go(state, again=True)
        return self._near.begin(state, answer), actions

    def _part_came(self, state: LiveState, look: Look) -> Turn:
        """One more look at the program with a part of its remote pages near."""
        answer = state.along.answer
        assert answer is not None
        state = self._near.look(state, look)
        return (state, ()) if state.along.asked != "none" else self._final_probe(state, answer)

    def _all_come(self, state: LiveState) -> Turn:
        """One more turn in which all remote pages move; then the second look begins again."""
        state = self._near.come(state)
        if state.along.asked == "none":
            sampling, stay = state.sampling.without_probes(), state.stay.from_now()
            state = replace(state, phase="settling", sampling=sampling, stay=stay)
        return state, ()

    def _final_probe(self, state: LiveState, answer: Answer) -> Turn:
        again, looks = state.sampling.again, len(state.sampling.probes)
        probed = _probed(state) if again else state
        trial = self._trials.promising(probed, answer) is not None
        if self._near.may_matter(state, answer, trial=trial):
            if looks < FEWEST and again and not self._limits.exhausted(state):
                return state, ()
            if looks >= FEWEST and (again or self._limits.may_return(state)):
                return self._bring_pages(state, answer)
        return self._trials.after_both_looks(probed, answer)

    def _finally(self, state: LiveState, answer: Answer) -> Turn:
        lacking = self._asking.lacking(answer, state.cores)
        if lacking:
            return self._unmeasured(replace(state, decision=None), lacking)
        if not answer.stands:
            state = state.noting(WITHIN_SCATTER)
        state = replace(state, samples=state.samples.asked_with(answer))
        return self.settle(state, answer.decision)


def _probed(state: LiveState) -> LiveState:
    samples = state.samples.probed(mean_of(state.sampling.probes), state.placed.affinity)
    return replace(state, samples=samples)
