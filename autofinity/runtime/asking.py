"""Asks the policy while a program runs, and judges whether the looks so far are enough.

This is the only place where the policy is asked during a run. A decision has a margin: the distance
from the values to others that would change the decision. The looks behind the decision vary
(noise), so their mean has a limited accuracy. An answer stands when its margin is larger than the
noise of the mean; otherwise one more look is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from autofinity.model.counters import Behaviour
from autofinity.model.facts import FactsOf, no_facts
from autofinity.model.policy import Decision, RulePolicy, SecondLook, Trial
from autofinity.model.ratios import SPEEDUP
from autofinity.policy.answers import Given, steps
from autofinity.policy.evidence import can_ask
from autofinity.policy.on_machine import on_machine
from autofinity.policy.possible import open_step
from autofinity.policy.selector import values_of
from autofinity.runtime.answer import Answer
from autofinity.runtime.looks import Look, mean_of, scatter
from autofinity.runtime.phases import most_apart, nearby, paired, warmed

_SWAY = 3.0
"""Largest relative difference of a program's speed between two phases, as a multiple of the
distance between these phases."""

type Decide = Callable[[RulePolicy, Mapping[str, float]], Decision]


class Asking:
    """A policy that is asked with looks at a number of threads."""

    def __init__(self, policy: RulePolicy, decide: Decide, facts_of: FactsOf = no_facts) -> None:
        self.policy = policy
        self._decide = decide
        self._facts_of = facts_of

    def here(self, threads: int) -> RulePolicy:
        """The policy with the facts of this machine."""
        if not self.policy.facts:
            return self.policy
        return on_machine(self.policy, self._facts_of(threads))

    def tells(self, seen: Behaviour, threads: int) -> bool:
        """Whether anything that the rules ask for was measured."""
        return can_ask(self.here(threads), seen.values)

    def lacking(self, answer: Answer, threads: int) -> tuple[str, ...]:
        """Counters that the samples of an answer lack and that choose among hints; empty where the
        answer does not depend on them.
        """
        policy = self.here(threads)
        probe = None if answer.probe is None else self._asked(answer.probe)
        unsure = open_step(steps(policy, Given(policy, self._asked(answer.start), probe)))
        return () if unsure is None else unsure.possible.lacking

    def without_looking(self) -> Decision | None:
        """The answer of a policy that asks for no counter; None for any other policy."""
        return None if self.policy.counters else self._decide(self.policy, {})

    def first(self, starts: Sequence[Look], threads: int) -> Answer:
        """Answer from looks in the starting placement: at least one look."""
        policy, mean = self.here(threads), mean_of(starts)
        decision = self._decide(policy, self._asked(mean))
        each = [self._asked(look.behaviour) for look in starts]
        return Answer(decision, _stands(policy, decision, each), mean)

    def second(self, starts: Sequence[Look], probes: Sequence[Look], threads: int) -> Answer:
        """Answer from looks of both kinds, at least one of each.

        The looks are compared over the same phases, or over phases that are near where the answer
        is clear all the same.
        """
        second = self.here(threads).second
        assert second is not None
        return self.compared(second, starts, probes)

    @property
    def shows_speed(self) -> bool:
        """Whether the policy's counters show speed, so that a trial can be judged."""
        return set(SPEEDUP.numerator) <= set(self.policy.counters)

    def trial(self, answer: Answer) -> Trial | None:
        """The trial that follows both looks; None: the answer is final."""
        return self.policy.trial if self.shows_which_is_faster(answer) else None

    def shows_which_is_faster(self, answer: Answer) -> bool:
        """Whether the answer has looks of one phase in two affinities, with their speeds."""
        return answer.of_one_phase and self.knows_speeds(answer)

    def knows_speeds(self, answer: Answer) -> bool:
        """Whether the speed was measured in both looks of the answer: counters may vanish."""
        if answer.probe is None:
            return False
        return Trial.follows(self._asked(answer.start), self._asked(answer.probe))

    def compared(
        self, question: SecondLook, starts: Sequence[Look], probes: Sequence[Look]
    ) -> Answer:
        """Answer to a question about looks in two affinities, at least one in each."""
        same = warmed(paired(starts, probes))
        if same:
            answer = self._over(question, same)
        else:
            answer = self._answer(question, mean_of(starts), mean_of(probes))
            answer = replace(answer, of_one_phase=False)
        if answer.stands:
            return answer
        near = warmed(nearby(starts, probes))
        if near:
            other = self._over(question, near, _SWAY * most_apart(near))
            if other.stands:
                return other
        return answer

    def _over(
        self, second: SecondLook, pairs: Sequence[tuple[Look, Look]], uncertain: float = 0.0
    ) -> Answer:
        """Answer from pairs of looks, whose values are `uncertain` by that much beside their
        noise.
        """
        before, after = zip(*pairs, strict=True)
        answer = self._answer(second, mean_of(before), mean_of(after))
        each = [
            second.values(self._asked(one.behaviour), self._asked(other.behaviour))
            for one, other in pairs
        ]
        stands = _stands(second.policy, answer.decision, each, uncertain)
        return replace(answer, stands=stands)

    def _answer(self, second: SecondLook, start: Behaviour, probe: Behaviour) -> Answer:
        values = second.values(self._asked(start), self._asked(probe))
        slower = probe["instructions"] < start["instructions"]
        return Answer(self._decide(second.policy, values), False, start, probe, slower)

    def _asked(self, seen: Behaviour) -> dict[str, float]:
        """Values of the policy's counters; NaN where a counter was not measured."""
        return {name: seen[name] for name in self.policy.counters}


def _stands(
    policy: RulePolicy,
    decision: Decision,
    samples: Sequence[Mapping[str, float]],
    uncertain: float = 0.0,
) -> bool:
    values = [values_of(policy, sample) for sample in samples]
    # A NaN margin comes from values that were not measured: more looks show no more.
    scattered = scatter(values, dict.fromkeys(_conditioned(policy)))
    return not decision.margin <= max(scattered, uncertain)


def _conditioned(policy: RulePolicy) -> Iterator[str]:
    for rule in policy.rules:
        for condition in rule.conditions:
            yield condition.counter
