"""Explanation of every step of a policy: the looks, and the trial."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from autofinity.model.affinity import SPREAD, Hint
from autofinity.model.policy import Condition, RulePolicy, Trial
from autofinity.model.ratios import SPEED_GAIN
from autofinity.policy.answers import Given, Step, Steps, steps
from autofinity.policy.explain import Explanation, explain, explanation_text
from autofinity.policy.nearest import relative
from autofinity.policy.possible import open_step
from autofinity.policy.readable import number, percent, second_text, trial_text
from autofinity.policy.selector import values_of

type Ask = Callable[[str], str]
"""`second` or `trial` → how a person gives that sample, such as `--second`."""


@dataclass(frozen=True, slots=True)
class ExplainedStep:
    """A step, and all facts that bear on its answer."""

    step: Step
    why: Explanation


def explain_steps(given: Given) -> tuple[Steps, tuple[ExplainedStep, ...]]:
    """The steps that the given samples allow, each explained."""
    found = steps(given.policy, given, given.meant)
    return found, tuple(
        ExplainedStep(step, explain(step.asked, step.values)) for step in found.steps
    )


def answer_first(found: Steps, hint: Hint) -> list[str]:
    """The final answer `hint`, for a person; none where the first answer, which follows, is it."""
    if found.awaits is not None:
        return [f"not final yet: the policy asks for a sample in {found.awaits.shown}"]
    if found.lacking:
        return [
            f"not final: speeds cannot be compared, for {' and '.join(found.lacking)} of a sample "
            f"is missing; a run without it ends with {hint.shown}"
        ]
    if len(found.steps) == 1:
        return []
    if (unsure := open_step(found)) is not None:
        return [f"no final answer: the {unsure.step.name} is undecided"]
    return [f"final answer: {hint.shown}"]


def first_lines(policy: RulePolicy, why: Explanation, *, alone: bool) -> list[str]:
    """The first look, for a person; under a heading where it is not `alone`."""
    said = explanation_text(policy, why).splitlines()
    if alone:
        return said
    return [f"first look, in {SPREAD.shown}:", *(f"  {line}" for line in said)]


def later_lines(
    policy: RulePolicy, found: Steps, explained: tuple[ExplainedStep, ...], ask: Ask
) -> list[str]:
    """The steps after the first look, for a person: none where the first answer is final."""
    first, *later = explained
    second = policy.second_after(first.step.decision.hint)
    if second is None:
        return []
    lines = [f"{second_text(second)}:"]
    if not later:
        return [*lines, f"  give that sample with {ask('second')}"]
    again, *tried = later
    said = explanation_text(again.step.asked, again.why)
    lines += [f"  {line}" for line in said.splitlines()]
    if policy.trial is None:
        return lines
    if tried:
        return lines + _trial_lines(policy.trial, again.step, tried[0])
    if found.awaits is None:
        known = "give it in both samples" if found.lacking else "it is 0"
        return [*lines, f"no trial: the speed of a look is not known; {known}"]
    return [*lines, trial_text(policy.trial), f"  give that sample with {ask('trial')}"]


def _trial_lines(trial: Trial, again: Step, tried: ExplainedStep) -> list[str]:
    hint, kept = tried.step.sampled_in, tried.step.decision.hint == trial.hint
    gain = tried.why.values[SPEED_GAIN]
    if math.isnan(gain):
        return [f"trial of {hint.shown}: a speed is not known; threads return"]
    far = relative(gain, trial.faster, [trial.faster])
    limit = f"{'more than' if kept else 'not more than'} {number(trial.faster)}"
    return [
        f"trial of {hint.shown}:",
        f"  {number(gain)} times as fast as in {again.decision.hint.shown}, {limit} "
        f"({percent(far)} away): threads {'stay' if kept else 'return'}",
    ]


def trial_data(trial: Trial, tried: ExplainedStep) -> dict[str, object]:
    """The trial as plain values for JSON; a speed that is not known is null."""
    gain = tried.why.values[SPEED_GAIN]
    return {
        "hint": str(trial.hint),
        "speed_gain": gain if math.isfinite(gain) else None,
        "faster": trial.faster,
        "stays": tried.step.decision.hint == trial.hint,
    }


def thresholds(found: Steps) -> list[tuple[object, ...]]:
    """Every condition that was asked, in order: step, rule, counter, value, bounds, whether it
    holds, and the letters of the rule's hint.
    """
    rows: list[tuple[object, ...]] = []
    for step in found.steps:
        values = values_of(step.asked, step.values)
        rows += [
            _row(step.name, index, condition, values[condition.counter], rule.hint)
            for index, rule in enumerate(step.asked.rules)
            for condition in rule.conditions
        ]
    return rows


def _row(
    step: str, rule: int, condition: Condition, value: float, hint: Hint
) -> tuple[object, ...]:
    bounds = condition.lower, condition.upper
    return step, rule, condition.counter, value, *bounds, condition.holds(value), str(hint)
