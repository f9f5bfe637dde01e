"""All answers of a policy, one for each sample that it asks for; the last one counts.

    first sample ─► first rules ─► second look ─► its rules ─► trial ─► as fast as the answer?

Callers have samples of every hint at hand (of earlier runs, or simulated), or those that somebody
gives (`Given`). A live run takes samples one after another, over the same phases of the program
(`runtime.sampler`), and tries an answer that it has no sample of (`runtime.trials`). Many samples
at once are answered in `many`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from autofinity.model.affinity import SPREAD, Affinity, Hint
from autofinity.model.policy import Decision, RulePolicy
from autofinity.model.ratios import SPEEDUP
from autofinity.policy.selector import decide

type Sample = Mapping[str, float]
type Look = Callable[[Hint], Sample | None]
"""Hint → sample in the affinity of that hint; None where no sample was taken."""
type Meaning = Callable[[Hint], Hint]
"""Hint → the hint that it means with a number of threads (`RulePolicy.at`)."""
type Place = Callable[[Hint], object]
"""Hint → where its threads are, equal for hints that put them in the same affinity."""


def itself(hint: Hint) -> Hint:
    """The meaning of a hint where the number of threads is not known."""
    return hint


@dataclass(frozen=True, slots=True)
class Step:
    """A question of the policy with its answer."""

    name: Literal["first look", "second look", "trial"]
    sampled_in: Hint
    """The affinity whose sample the question is about."""
    asked: RulePolicy
    """The rules that were asked."""
    values: Sample
    """Input of the rules."""
    decision: Decision


@dataclass(frozen=True, slots=True)
class Steps:
    """All questions whose samples there are, in order: at least one."""

    steps: tuple[Step, ...]
    awaits: Hint | None
    """The affinity of the sample that the policy asks for next; None: it asks for no other."""
    lacking: tuple[str, ...] = ()
    """Counters without which no speeds can be compared, as a trial does, and which some sample
    lacks."""

    @property
    def final(self) -> bool:
        """Whether no sample and no counter could lead to another answer."""
        return self.awaits is None and not self.lacking


@dataclass(frozen=True, slots=True)
class Given:
    """Samples that somebody took for the looks of a policy; None: not taken.

    An answer in whose affinity no sample was taken is as fast as the faster of the two looks.
    """

    policy: RulePolicy
    first: Sample
    second: Sample | None = None
    trial: Sample | None = None
    meant: Meaning = itself
    place: Place = itself

    def __call__(self, hint: Hint) -> Sample | None:
        """The sample in the affinity of this hint; None: not taken."""
        there, second, trial = self.place(hint), self.policy.second, self.policy.trial
        if there == self.place(SPREAD):
            return self.first
        if second is not None and there == self.place(second.sampled_in):
            return self.second
        if trial is not None and there == self.place(self.meant(trial.hint)):
            return self.trial
        (speed,) = SPEEDUP.numerator
        nowhere = float("nan")
        if self.second is None or self.second.get(speed, nowhere) < self.first.get(speed, nowhere):
            return self.first
        return self.second


def last_answer(policy: RulePolicy, look: Look, threads: int, cores: Affinity) -> Hint:
    """The hint that the policy ends with, for `threads` threads on a machine with `cores`."""
    return policy.at(answers(policy, look, threads, cores)[-1].hint, threads, cores)


def answers(policy: RulePolicy, look: Look, threads: int, cores: Affinity) -> tuple[Decision, ...]:
    """One to three answers, as the rules give them: of the first rules, of the second look, and of
    the trial.
    """
    found = steps(policy, look, lambda hint: policy.at(hint, threads, cores))
    return tuple(step.decision for step in found.steps)


def steps(policy: RulePolicy, look: Look, meant: Meaning = itself) -> Steps:
    """The steps to the last answer, as far as there are samples; the first sample has to be there.

    `meant` gives the meaning of the hints on trial, which are compared as they would be placed.
    """
    start = look(SPREAD)
    assert start is not None
    first = Step("first look", SPREAD, policy, start, decide(policy, start))
    second = policy.second_after(first.decision.hint)
    if second is None:
        return Steps((first,), None)
    probe = look(second.sampled_in)
    if probe is None:
        return Steps((first,), second.sampled_in)
    values = second.values(start, probe)
    again = Step(
        "second look", second.sampled_in, second.policy, values, decide(second.policy, values)
    )
    trial = policy.trial
    if trial is None or not trial.follows(start, probe):
        return Steps((first, again), None, _lacking(start, probe) if trial is not None else ())
    question = trial.against(again.decision.hint)
    answered, tried = look(meant(again.decision.hint)), look(meant(trial.hint))
    if answered is None or tried is None:
        return Steps((first, again), meant(trial.hint))
    both = question.values(answered, tried)
    values = {name: both.get(name, float("nan")) for name in question.policy.counters}
    last = Step(
        "trial", meant(trial.hint), question.policy, values, decide(question.policy, values)
    )
    return Steps((first, again, last), None, _lacking(answered, tried))


def _lacking(*samples: Sample) -> tuple[str, ...]:
    """Counters of speed that some sample lacks."""
    nowhere = float("nan")
    return tuple(
        name
        for name in SPEEDUP.numerator
        if any(math.isnan(sample.get(name, nowhere)) for sample in samples)
    )
