"""A policy as sentences for people who have not seen its format: origin, rules, and second look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from autofinity.foreign_text import one_line
from autofinity.model.affinity import HINTS, SPREAD, Hint
from autofinity.model.policy import Rule, RulePolicy
from autofinity.policy.readable import (
    condition_text,
    cores_text,
    hint_text,
    instead_text,
    trial_sentences,
)
from autofinity.policy.sentences import sentence

_IN_PLACE = "there, "
"""Beginning of sentences on a second look, which its first line makes needless."""


def policy_in_words(policy: RulePolicy) -> list[str]:
    """The policy in lines of text, without cut points and weights, which `policy_text` has.

    Names of counters and provenance are made printable.
    """
    lines = [_origin(policy), *_answers(policy, f"Sample the threads {SPREAD.shown}")]
    used = {rule.hint for rule in policy.rules} | {policy.default}
    second = policy.second
    if second is not None:
        others = [hint for hint in HINTS if hint not in second.after]
        when = f", unless the answer was {_shown(others)}" if others else ""
        again = f"Then place them {second.sampled_in.shown} and sample them again{when}"
        lines += ["", *_answers(second.policy, again)]
        used |= {rule.hint for rule in second.policy.rules} | {second.policy.default}
        used.add(second.sampled_in)
    trial = policy.trial
    if trial is not None:
        lines += ["", *trial_sentences(trial)]
        used.add(trial.hint)
    other = policy.other_counts
    if other is not None:
        where = cores_text(other)
        lines += ["", f"{where[0].upper()}{where[1:]}:"]
        lines += [f"  {instead_text(entry)}" for entry in other.instead]
        used |= {entry.better for entry in other.instead}
    lines += ["", "The hints:"]
    lines += [f"  {hint.shown}: {hint_text(hint)}" for hint in HINTS if hint in used]
    return lines


def _origin(policy: RulePolicy) -> str:
    found = policy.provenance.get("observations")
    programs = found.get("programs") if isinstance(found, Mapping) else None
    learned = "This policy was learned"
    if isinstance(programs, (list, tuple)):
        learned += f" from {len(programs)} programs"
    machine = policy.provenance.get("machine")
    if isinstance(machine, str):
        learned += " on several machines" if machine == "any" else f" on {one_line(machine)}"
    counters = len(policy.counters)
    counted = "no hardware counter" if not counters else f"{counters} hardware counters"
    return f"{learned}, and looks at {counted}."


def _answers(policy: RulePolicy, first: str) -> Iterator[str]:
    """The steps of one look: what is sampled, and what each rule answers."""
    if not policy.rules:
        yield f"Whatever a program does, its threads go {policy.default.shown}."
        return
    yield f"{first}; the first line that holds is the answer:"
    for number, rule in enumerate(policy.rules, 1):
        yield f"  {number}. {rule.hint.shown}, where {_where(rule)}"
    yield f"  {len(policy.rules) + 1}. {policy.default.shown}, everywhere else"


def _where(rule: Rule) -> str:
    conditions = " and ".join(map(condition_text, rule.conditions)) or "always"
    return sentence(rule).replace(_IN_PLACE, "") or conditions


def _shown(hints: list[Hint]) -> str:
    return " or ".join(hint.shown for hint in hints)
