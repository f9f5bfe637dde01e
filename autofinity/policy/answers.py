"""All answers of a policy, one for each sample that it asks for; the last one counts.

    first sample ─► first rules ─► second look ─► its rules ─► trial ─► as fast as the answer?

Callers have samples of every hint at hand: of earlier runs, or simulated. A live run takes samples
one after another, over the same phases of the program (`runtime.sampler`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autofinity.model.affinity import DISTRIBUTED, Affinity, Hint
from autofinity.model.policy import Decision, RulePolicy
from autofinity.policy.selector import decide

type Look = Callable[[Hint], Mapping[str, float]]
"""Hint → sample in the affinity of that hint."""


def last_answer(policy: RulePolicy, look: Look, threads: int, cores: Affinity) -> Hint:
    """The hint that the policy ends with, for `threads` threads on a machine with `cores`."""
    return policy.at(answers(policy, look, threads, cores)[-1].hint, threads, cores)


def answers(policy: RulePolicy, look: Look, threads: int, cores: Affinity) -> tuple[Decision, ...]:
    """One to three answers, as the rules give them: of the first rules, of the second look, and of
    the trial.
    """
    start = look(DISTRIBUTED)
    first = decide(policy, start)
    second = policy.second_after(first.hint)
    if second is None:
        return (first,)
    probe = look(second.sampled_in)
    again = decide(second.policy, second.values(start, probe))
    trial = policy.trial
    if trial is None or not trial.takes_place(start, probe):
        return first, again
    question = trial.against(again.hint)
    answered = look(policy.at(again.hint, threads, cores))
    values = question.values(answered, look(policy.at(trial.hint, threads, cores)))
    return first, again, decide(question.policy, values)
