"""The answers that a policy may give where counters of a sample were not measured.

A policy always answers: a condition on a value that was not measured does not hold. Such an answer
rests on evidence only where every value of those counters leads to it.

No numpy: the monitor beside a running application explains, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from autofinity.foreign_text import one_line
from autofinity.model.affinity import Hint
from autofinity.model.policy import RulePolicy
from autofinity.policy.answers import Step, Steps
from autofinity.policy.selector import values_of


@dataclass(frozen=True, slots=True)
class Possible:
    """The rules that may decide, and what chooses among them."""

    rules: tuple[int | None, ...]
    """Indices of the rules that some values of the unmeasured counters lead to; None: default."""
    hints: tuple[Hint, ...]
    """Their hints, each once: one where the answer does not depend on what was not measured."""
    lacking: tuple[str, ...]
    """Unmeasured counters that choose among these rules, in the policy's order."""

    @property
    def decided(self) -> bool:
        """Whether every value of the unmeasured counters leads to the same hint."""
        return len(self.hints) == 1

    @property
    def hints_text(self) -> str:
        """The hints for a person: `spread (SLP) or packed (slp)`."""
        return " or ".join(hint.shown for hint in self.hints)

    @property
    def lacking_text(self) -> str:
        """The counters for a person."""
        return ", ".join(map(one_line, self.lacking))


def possible(policy: RulePolicy, values: Mapping[str, float]) -> Possible:
    """The rules of one look that may decide. `values` has every input (`selector.values_of`).

    Conditions are taken one by one: rules that contradict each other are not found out.
    """
    unmeasured = _unmeasured(policy, values)
    rules: list[int | None] = []
    chosen_by: set[str] = set()
    for index, rule in enumerate(policy.rules):
        known = [each for each in rule.conditions if each.counter not in unmeasured]
        if not all(condition.holds(values[condition.counter]) for condition in known):
            continue
        rules.append(index)
        if len(known) == len(rule.conditions):
            break
        for condition in rule.conditions:
            chosen_by.update(unmeasured.get(condition.counter, ()))
    else:
        rules.append(None)
    hints = (policy.default if rule is None else policy.rules[rule].hint for rule in rules)
    return Possible(
        tuple(rules),
        tuple(dict.fromkeys(hints)),
        tuple(counter for counter in policy.counters if counter in chosen_by),
    )


@dataclass(frozen=True, slots=True)
class OpenStep:
    """A step of a policy whose answer what was not measured leaves open."""

    step: Step
    possible: Possible


def open_step(found: Steps) -> OpenStep | None:
    """The step for want of whose counters the last answer is open; None: the last answer is
    decided.

    A first look that is open does not count where all its answers lead to the same second look.
    """
    steps = [
        OpenStep(step, possible(step.asked, values_of(step.asked, step.values)))
        for step in found.steps
    ]
    first, *later = steps
    after = first.step.asked.second_after
    again = all(after(hint) is not None for hint in first.possible.hints)
    counted = later if later and again else steps
    return next((each for each in counted if not each.possible.decided), None)


def _unmeasured(policy: RulePolicy, values: Mapping[str, float]) -> dict[str, tuple[str, ...]]:
    """Inputs of the rules that have no value for lack of counters, and these counters. A ratio over
    zero has no value either, and this is known.
    """
    gone = {counter for counter in policy.counters if math.isnan(values[counter])}
    of_ratios = {
        ratio.name: tuple(counter for counter in ratio.counters if counter in gone)
        for ratio in policy.ratios
    }
    return {counter: (counter,) for counter in gone} | {
        name: counters for name, counters in of_ratios.items() if counters
    }
