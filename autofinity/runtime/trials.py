"""Trials after the looks that the policy asks for: one more hint, the answer itself, and threads in
another order.

    both looks ─► one more hint ─► the answer, where  ─► another order ─┬─ faster: one more order
                                   no look was taken                    └─ the answer stands

Each trial is compared with looks of this sample, and threads go back where it is no faster. The
answer stands, too, where noise hides whether it is faster, or counters vanish before that is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from autofinity.model.affinity import PACKED, SPREAD, Affinity, Hint
from autofinity.model.answer_on_record import SeatOrder
from autofinity.model.counters import Behaviour
from autofinity.model.policy import SecondLook, Trial
from autofinity.runtime.answer import Answer
from autofinity.runtime.asking import Asking
from autofinity.runtime.before_after import FEWEST
from autofinity.runtime.live_state import LiveState, Turn
from autofinity.runtime.look_limits import FEWEST_AGAIN, LookLimits
from autofinity.runtime.looks import Look, mean_of
from autofinity.runtime.meaning import Meaning
from autofinity.runtime.placer import Placer
from autofinity.runtime.trying import Trying, hopeless, neighbours_matter, parts_sharers

_FASTER = 1.01
"""Speed above which threads stay in an order, or in the answer, that is on trial."""


class Trials:
    """Begins trials, and judges them."""

    def __init__(
        self,
        asking: Asking,
        placer: Placer,
        meaning: Meaning,
        limits: LookLimits,
        then: Callable[[LiveState, Answer], Turn],
    ) -> None:
        """`then` takes the answer that stands when no trial is left."""
        self._asking = asking
        self._placer = placer
        self._meaning = meaning
        self._limits = limits
        self._then = then

    def after_both_looks(self, state: LiveState, answer: Answer) -> Turn:
        """Begin the first trial that promises anything, if any."""
        return self._try(state, answer) or self._after_hint(state, answer)

    def after_one_look(self, state: LiveState, answer: Answer) -> Turn:
        """Begin the trial of another order, if any."""
        return self._reorder(state, answer) or self._then(state, answer)

    def saw(self, state: LiveState, trying: Trying) -> Turn:
        """The trial has been looked at once more."""
        state = replace(state, trying=trying)
        if len(trying.looks) < FEWEST_AGAIN:
            return state, ()
        said = self._asking.compared(trying.question, trying.reference, trying.looks)
        over = state.stay.ns >= self._limits.sample_ns or self._limits.exhausted(state)
        if said.stands and (not said.slower or len(trying.looks) >= FEWEST):
            over = True
        if not over:
            return state, ()
        if not self._asking.knows_speeds(said):
            return self._unmeasured(state, trying)
        faster = said.stands and said.decision.rule is not None
        if trying.of_answer:
            return self._checked(state, trying, said)
        if faster:
            state = state.noting(f"{trying.what} was tried, and is faster: threads stay")
        else:
            state = state.noting(f"{trying.what} was tried, and is no faster")
        if trying.order is not None:
            return self._ordered(state, trying, faster)
        if faster:
            return self._then(state, replace(trying.answer, decision=said.decision))
        return self._after_hint(state, trying.answer)

    def _unmeasured(self, state: LiveState, trying: Trying) -> Turn:
        """Counters have vanished in mid-trial: the answer stands, and no other trial follows."""
        if trying.order is not None:
            state = replace(state, order=state.order.to(trying.before))
        note = f"{trying.what} was tried, and its speed could not be measured"
        return self._then(state.noting(note), trying.answer)

    def _after_hint(self, state: LiveState, answer: Answer) -> Turn:
        return self._check(state, answer) or self.after_one_look(state, answer)

    def _check(self, state: LiveState, answer: Answer) -> Turn | None:
        """Begin the trial of an answer in whose affinity no look was taken, against a second look
        that was faster than the first: pages are as near in both. None where there was a look, all
        pages have come to the second one, speeds are unknown, or looks have cost enough.
        """
        second = self._asking.policy.second
        if second is None or answer.slower or not self._asking.shows_which_is_faster(answer):
            return None
        if state.along.answer is not None or self._asking.lacking(answer, state.cores):
            return None
        room = state.placed.room
        hint, seen = (
            self._meaning.of(each, room) for each in (answer.decision.hint, second.sampled_in)
        )
        looked_at = self._meaning.affinity_of(state, hint) in _looks_by_affinity(state)
        if looked_at or seen != second.sampled_in or hint in state.refuted:
            return None
        if not self._limits.may_return(state):
            return None
        state, actions = self._placer.place(state, hint, "settling")
        question = Trial(hint, _FASTER).against(seen)
        return replace(
            state, trying=Trying(question, state.sampling.probes, answer, of_answer=True)
        ), actions

    def _checked(self, state: LiveState, trying: Trying, said: Answer) -> Turn:
        """The trial of the rules' answer has ended: where the noise hides which is faster, the
        answer stands.
        """
        answer, tried = trying.answer, f"{trying.what}, the answer of the rules, was tried"
        if not said.stands:
            return self._then(state.noting(f"{tried}: noise hides whether it is faster"), answer)
        decided = replace(answer, decision=said.decision, stands=True)
        if said.decision.rule is None:
            note = f"{tried}, and is no faster than {said.decision.hint.shown}"
            return self.after_one_look(state.noting(note), decided)
        decision = replace(said.decision, hint=answer.decision.hint)
        return self._then(state, replace(decided, decision=decision))

    def _try(self, state: LiveState, answer: Answer) -> Turn | None:
        """Begin the trial that the policy has for this answer; None where it promises nothing."""
        found = self.promising(state, answer)
        if found is None:
            return None
        question, tried, reference = found
        state, actions = self._placer.place(state, tried, "settling")
        return replace(state, trying=Trying(question, reference, answer)), actions

    def promising(
        self, state: LiveState, answer: Answer
    ) -> tuple[SecondLook, Hint, tuple[Look, ...]] | None:
        """The question of the trial that the policy has for this answer, its hint, and the looks to
        compare it with. None where the policy has no trial, where looks have cost enough, or where
        the trial would show nothing new or is lost already.
        """
        trial = self._asking.trial(answer)
        if trial is None or trial.hint in state.refuted or not self._limits.may_return(state):
            return None
        room = state.placed.room
        hint, tried = (self._meaning.of(each, room) for each in (answer.decision.hint, trial.hint))
        looks, there = _looks_by_affinity(state), self._meaning.affinity_of(state, tried)
        asked_for = self._meaning.affinity_of(state, hint)
        if there in looks or there == asked_for:
            return None
        # An answer in whose affinity no sample was taken is taken for as fast as the faster one.
        faster = state.sampling.starts if answer.slower else state.sampling.probes
        reference = looks.get(asked_for, faster)
        probed_in = state.samples.probe_in
        assert answer.probe is not None and probed_in is not None  # as a trial has both looks
        speed, needed = (seen["instructions"] for seen in (answer.probe, mean_of(reference)))
        if hopeless(probed_in, speed, there, needed) or parts_sharers(
            answer.start, probed_in, speed, there
        ):
            return None
        return trial.against(hint), tried, reference

    def _reorder(
        self, state: LiveState, answer: Answer, ordered: tuple[Look, ...] = ()
    ) -> Turn | None:
        """Begin the trial of another order of threads in the answer's affinity; None where no order
        promises anything, the trial cannot be compared, or looks have cost enough. `ordered`: looks
        in the present order, where one was tried already.
        """
        if not (answer.stands and self._limits.may_return(state)):
            return None
        if not self._asking.shows_speed or self._asking.lacking(answer, state.cores):
            return None
        _, hint = self._meaning.chosen(state, answer.decision)
        there = self._meaning.affinity_of(state, hint)
        reference = ordered or _looks_by_affinity(state).get(there)
        if not reference:
            return None
        order = self._other_order(state, hint, there, mean_of(reference))
        if order is None or order in state.order.slower:
            return None
        # Against another hint: between answers with one hint there is no margin to be clear about.
        question = Trial(hint, _FASTER).against(PACKED if hint == SPREAD else SPREAD)
        trying = Trying(question, reference, answer, order, before=state.order.now)
        state = replace(state, order=state.order.to(order), trying=trying)
        moved, actions = self._placer.place(state, hint, "settling")
        # With other CPUs that are allowed, or claimed, by now it may be another affinity.
        return (moved, actions) if moved.placed.affinity == there else None

    def _other_order(
        self, state: LiveState, hint: Hint, there: Affinity, seen: Behaviour
    ) -> SeatOrder | None:
        """The order by number, where neighbours matter more than memory and do not sit side by side
        already; else an exchange, where caches have uneven work. None: neither.

        Threads are sampled where they ran before, near their pages. In which order a system spreads
        them says nothing of who shares, and threads with neighbouring numbers often do.
        """
        sharing = state.order.now == "near home" and neighbours_matter(seen)
        if sharing and self._placer.order_matters(state, hint):
            return "by number"
        if state.placed.affinity == there and self._placer.exchange_matters(state):
            return "exchanged"
        return None

    def _ordered(self, state: LiveState, trying: Trying, faster: bool) -> Turn:
        """The trial of an order of threads has ended: after a faster one, another may follow."""
        if not faster:
            state = replace(state, order=state.order.back_to(trying.before))
            return self._then(state, trying.answer)
        another = self._reorder(state, trying.answer, trying.looks)
        return another or self._then(state, trying.answer)


def _looks_by_affinity(state: LiveState) -> dict[Affinity | None, tuple[Look, ...]]:
    """The looks of this sample in the first affinity and in that of the second look."""
    samples, sampling = state.samples, state.sampling
    return {samples.start_in: sampling.starts, samples.probe_in: sampling.probes}
